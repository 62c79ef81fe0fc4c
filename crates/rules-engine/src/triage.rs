//! Triage: classifies new mails or lists those that were asked for, tells whether one can be trusted, what became of a conversation and what the
//! owner wrote, records statements about a mail, and flags it.

use provider::Said;
use serde_json::{Value, json};

use super::agent_context::{AgentContext, failed};
use super::conversation::Turn;
use super::lexicon::Concept;
use super::phrases::{list, name_of, plain, text_of, texts_of};
use super::remark::Remark;
use super::task::SpecialistTask;
use super::{navigator, person};

/// The most mails that are told one by one.
const MOST_TOLD: usize = 5;

/// What triage does next.
pub(super) fn next(task: &SpecialistTask, turn: &Turn, cx: &AgentContext) -> Said {
    let is_first = turn.calls.len() == 1;
    match turn.last() {
        None => begin(task, cx),
        // Of several mails, what was done is told beside what was not.
        Some(("mail_feedback" | "mail_flag", ..)) if turn.calls.len() > 1 => Said::text(told(turn, cx)),
        Some((_, _, outcome)) if outcome.is_error => failed("look into the mail", outcome),
        Some(("mail_list", _, outcome)) if let Some(Remark::Mark(flag, on)) = Remark::of(task) => {
            match list(&outcome.data, "mails") {
                [only] => cx.call("mail_flag", json!({ "id": only["emailId"], "flag": flag, "on": on })),
                _ => Said::text(format!(
                    "{}\n\n{}",
                    cx.speech.say("which_mail", &[]),
                    listed(task, cx, &outcome.data, None)
                )),
            }
        }
        Some(("mail_feedback" | "mail_flag", ..)) => Said::text(told(turn, cx)),
        Some(("mail_list", input, outcome)) if answer_to_own_mail(task).is_some() => {
            answered_own_mail(task, turn, cx, input, &outcome.data)
        }
        Some(("mail_list", input, outcome)) if asks_whether_delivered(task) && input["folder"] == "sent" => {
            match recipient(&outcome.data).filter(|_| cx.can("household_find")) {
                Some(address) => {
                    let question = format!("{UNDELIVERED} {address}");
                    cx.call("household_find", json!({ "question": question, "kinds": ["mail"] }))
                }
                None => Said::text(nothing(task, cx)),
            }
        }
        Some(("household_find", _, outcome)) if asks_whether_delivered(task) => {
            Said::text(delivered(turn, cx, &outcome.data))
        }
        Some(("mail_list", input, outcome)) if turn.calls.len() < MOST_CALLS => {
            from_list(task, turn, cx, input, &outcome.data)
        }
        Some(("mail_list", _, outcome)) => Said::text(listed(task, cx, &outcome.data, None)),
        Some(("people_about", _, outcome)) if asks_whether_answered(task) => match not_yet(cx, &outcome.data) {
            Some(told) => Said::text(told),
            None => cx.call("mail_list", json!({ "from": task.sender(), "limit": 3 })),
        },
        Some(("people_about", _, outcome)) => {
            Said::text(person::answer(task, cx, &outcome.data).unwrap_or_else(|| person::told(task, cx, &outcome.data)))
        }
        Some(("mail_triage", input, _)) if is_first && is_wary(task) && input["only"] == "suspicious" => {
            match named(task) {
                Some(input) => cx.call("mail_list", input),
                None => Said::text(weighed(cx, input, turn.found("mail_triage").unwrap_or(&Value::Null))),
            }
        }
        Some(("household_find", _, outcome)) => {
            let found = navigator::answered(cx, &outcome.data);
            Said::text(found.unwrap_or_else(|| nothing(task, cx)))
        }
        Some(("mail_read", _, outcome)) => Said::text(read(cx, &outcome.data)),
        Some(("mail_thread", _, outcome)) => Said::text(thread(cx, &outcome.data)),
        Some((_, input, outcome)) if is_wary(task) && input["id"].is_string() => Said::text(judged(cx, &outcome.data)),
        // The mail was found, not asked to be weighed: it is told as it is.
        Some((_, input, outcome)) if !is_first && input["id"].is_string() => {
            Said::text(one(task, turn, cx, &outcome.data))
        }
        // The mail that was asked about is not there; what is suspicious is said all the same.
        Some((_, input, outcome)) if is_wary(task) && !is_first => {
            Said::text(format!("{}\n\n{}", nothing(task, cx), weighed(cx, input, &outcome.data)))
        }
        Some((_, input, outcome)) => Said::text(weighed(cx, input, &outcome.data)),
    }
}

/// The most calls of one request.
const MOST_CALLS: usize = 4;

fn begin(task: &SpecialistTask, cx: &AgentContext) -> Said {
    let (mut since, mut until) = task.bounds();
    // "Which need an answer before Friday?": mails have come by now, and a time ahead is a deadline.
    if let Some(when) = &task.times.when
        && when.end.date() > cx.context.now.date().tomorrow().unwrap_or(cx.context.now.date())
    {
        until = None;
        since = since.filter(|_| when.start.date() < cx.context.now.date());
    }
    let (ids, sender) = (&task.entities.ids, task.sender());
    let of_each = |tool: &'static str, input: &dyn Fn(&String) -> Value| {
        let calls: Vec<Said> = ids.iter().take(MOST_TOLD).map(|id| cx.call(tool, input(id))).collect();
        // All at once: what one mail brings with it has no say in what is done with the next.
        calls.into_iter().reduce(|all, one| Said { calls: [all.calls, one.calls].concat(), ..all })
    };
    match Remark::of(task) {
        Some(Remark::Urgent(urgent)) if !ids.is_empty() || sender.is_some() => {
            let said = of_each("mail_feedback", &|id| json!({ "id": id, "urgent": urgent }));
            return said.unwrap_or_else(|| cx.call("mail_feedback", json!({ "from": sender, "urgent": urgent })));
        }
        Some(Remark::Mark(flag, on)) if !ids.is_empty() || sender.is_some() => {
            let said = of_each("mail_flag", &|id| json!({ "id": id, "flag": flag, "on": on }));
            let list = || cx.call("mail_list", json!({ "from": sender, "since": since, "until": until }));
            return said.unwrap_or_else(list);
        }
        _ => {}
    }
    if let Some(id) = ids.first() {
        return match () {
            () if is_about_thread(task) => cx.call("mail_thread", json!({ "id": id })),
            () if wants_text(task) && !is_wary(task) => cx.call("mail_read", json!({ "id": id })),
            () => cx.call("mail_triage", json!({ "id": id })),
        };
    }
    if let Some(person) = task.person().filter(|_| asks_whether_answered(task) && cx.can("people_about")) {
        return cx.call("people_about", json!({ "person": person }));
    }
    if asks_whether_delivered(task) {
        let (person, subject) = (task.person(), subject(task));
        let query = Some(subject).filter(|words| person.is_none() && !words.is_empty());
        if person.is_some() || query.is_some() {
            return cx.call("mail_list", json!({ "folder": "sent", "to": person, "query": query, "limit": 3 }));
        }
        return cx.call("household_find", json!({ "question": UNDELIVERED, "kinds": ["mail"] }));
    }
    // Only what was written can have been answered.
    if let Some(who) = answer_to_own_mail(task) {
        return cx.call("mail_list", json!({ "folder": "sent", "to": who, "limit": 1 }));
    }
    let own = wants_sent(task);
    if is_about_awaited(task) && task.person().is_none() {
        return cx.call("mail_list", json!({ "awaiting": true }));
    }
    let topic = task.entities.topics.iter().find(|topic| !is_plain_request(topic)).or(task.entities.quoted.first());
    let asks_for_open = is_about_open(task);
    if asks_for_open && sender.is_none() && topic.is_none() && cx.can("mail_triage") {
        return cx.call("mail_triage", json!({ "only": "unanswered", "since": since, "until": until }));
    }
    if own && let Some(person) = task.person() {
        let asked = person::Asked::of(task);
        if matches!(asked, person::Asked::LastWritten | person::Asked::Answered) && cx.can("people_about") {
            return cx.call("people_about", json!({ "person": person }));
        }
        let query = topic.map(String::as_str).filter(|topic| !is_name_of(topic, person));
        return cx.call(
            "mail_list",
            json!({ "folder": "sent", "to": person, "query": query, "since": since, "until": until }),
        );
    }
    if let Some(person) =
        task.person().filter(|_| person::Asked::of(task) == person::Asked::LastHeard && cx.can("people_about"))
    {
        return cx.call("people_about", json!({ "person": person }));
    }
    let subject = subject(task);
    if own && !subject.is_empty() {
        return cx.call("mail_list", json!({ "folder": "sent", "query": subject, "since": since, "until": until }));
    }
    let is_unread = task.has(Concept::Unread) && !asks_for_open;
    let wants_one = (is_wary(task) && !is_wary_of_all(task)) || is_about_thread(task) || wants_text(task);
    // Words that nothing explains say which mails are meant: all mails are no answer to them.
    let is_general =
        task.has_any(&[Concept::Urgent, Concept::Unread, Concept::Briefing]) || asks_for_open || is_wary_of_all(task);
    let wanted = topic.cloned().or_else(|| {
        ((wants_one || !is_general) && sender.is_none()).then_some(subject).filter(|words| !words.is_empty())
    });
    // Whether a mail can be trusted: all that is suspicious is looked at beside those that the words name.
    if is_wary(task) && !is_wary_of_all(task) && (sender.is_some() || wanted.is_some()) && cx.can("mail_triage") {
        return cx.call("mail_triage", json!({ "only": "suspicious" }));
    }
    if sender.is_some() || wanted.is_some() || is_unread || !cx.can("mail_triage") {
        let query = wanted.filter(|words| sender.is_none_or(|sender| !is_name_of(words, sender)));
        return cx.call(
            "mail_list",
            json!({
                "from": sender, "query": query, "since": since, "until": until,
                "unread": is_unread.then_some(true), "answered": (asks_for_open && sender.is_some()).then_some(false),
            }),
        );
    }
    let only = match task.has(Concept::Urgent) {
        _ if is_wary(task) => "suspicious",
        _ if task.says("newsletter newsletters infolettre infolettres rundbrief rundbriefe") => "newsletter",
        true => "urgent",
        false => "all",
    };
    cx.call("mail_triage", json!({ "only": only, "since": since, "until": until }))
}

/// Mails were found: look closer at the one that is meant, widen a search that found nothing, or list them.
fn from_list(task: &SpecialistTask, turn: &Turn, cx: &AgentContext, input: &Value, data: &Value) -> Said {
    // Mails that hold less than half of the words are other ones.
    let is_near = data["covers"].as_f64().is_none_or(|covers| covers >= 0.5);
    let mails = if is_near { list(data, "mails") } else { &[] };
    if is_wary(task)
        && let Some(suspicious) = turn.found("mail_triage")
    {
        return verdicts(task, turn, cx, input, mails, suspicious);
    }
    let Some(first) = mails.first() else {
        // A mail that cannot be found by its words may still be among those that are suspicious.
        if is_wary(task) && turn.calls.len() < MOST_CALLS - 1 && cx.can("mail_triage") {
            return cx.call("mail_triage", json!({ "only": "suspicious" }));
        }
        let narrower = ["query", "since", "unread"].into_iter().any(|key| !input[key].is_null());
        return match (input["from"].as_str(), narrower && turn.calls.len() == 1) {
            // Words that are not in the mail may be in the question only.
            (Some(from), true) if input["query"].is_string() => {
                cx.call("mail_list", json!({ "from": from, "since": input["since"], "until": input["until"] }))
            }
            (None, true) if input["to"].is_string() && input["query"].is_string() => {
                cx.call("mail_list", json!({ "folder": "sent", "to": input["to"], "limit": 5 }))
            }
            // What was asked about today may have come yesterday.
            (Some(from), true) if input["since"].is_string() => {
                cx.call("mail_list", json!({ "from": from, "limit": 3 }))
            }
            (None, true) if input["query"].is_string() && input["folder"].is_null() => cx.call(
                "mail_list",
                json!({ "folder": "all", "query": input["query"], "since": input["since"], "until": input["until"] }),
            ),
            _ if turn.calls.len() <= 2 && input["query"].is_string() && cx.can("household_find") => {
                cx.call("household_find", json!({ "question": task.task, "kinds": ["mail"] }))
            }
            _ => Said::text(nothing(task, cx)),
        };
    };
    let id = &first["emailId"];
    // A first search by words that found nothing: these are other mails.
    let looked_for =
        turn.calls.first().and_then(|first| first.input["query"].as_str()).filter(|_| input["query"].is_null());
    match mails {
        _ if looked_for.is_some() && !is_wary(task) => Said::text(listed(task, cx, data, looked_for)),
        // Of several mails of one name, the one that is odd is the one to warn of.
        _ if is_wary(task) && cx.can("mail_triage") => {
            let odd = mails.iter().find(|mail| !list(mail, "warnings").is_empty()).unwrap_or(first);
            cx.call("mail_triage", json!({ "id": odd["emailId"] }))
        }
        _ if is_about_thread(task) && cx.can("mail_thread") => cx.call("mail_thread", json!({ "id": id })),
        _ if wants_text(task)
            && (mails.len() == 1 || wants_newest(task) || task.person().is_some() && !speaks_of_several(task))
            && cx.can("mail_read") =>
        {
            cx.call("mail_read", json!({ "id": id }))
        }
        // One mail is worth a closer look.
        [only] if turn.calls.len() == 1 && cx.can("mail_triage") && only["folder"] != "sent" => {
            cx.call("mail_triage", json!({ "id": id }))
        }
        _ => Said::text(listed(task, cx, data, None)),
    }
}

/// How the mails are looked for that a question about trust names.
fn named(task: &SpecialistTask) -> Option<Value> {
    let (since, until) = task.bounds();
    let (sender, subject) = (task.sender(), subject(task));
    let topic = task.entities.topics.iter().find(|topic| !is_plain_request(topic)).or(task.entities.quoted.first());
    let query = topic.cloned().or_else(|| Some(subject).filter(|words| !words.is_empty()));
    let query = query.filter(|words| sender.is_none_or(|sender| !is_name_of(words, sender)));
    (sender.is_some() || query.is_some())
        .then(|| json!({ "from": sender, "query": query, "since": since, "until": until }))
}

/// Which of the mails that a question may mean can be trusted: one is judged, several are told with a verdict each, and the person is asked which
/// one is meant.
fn verdicts(
    task: &SpecialistTask,
    turn: &Turn,
    cx: &AgentContext,
    input: &Value,
    mails: &[Value],
    suspicious: &Value,
) -> Said {
    let words: Vec<String> =
        household::time::words::words(&format!("{} {}", subject(task), task.sender().unwrap_or_default()))
            .into_iter()
            .map(|word| word.folded)
            .filter(|word| word.chars().count() > 2 && !household::words::is_light(word))
            .collect();
    let is_listed = |item: &&Value| mails.iter().any(|mail| mail["emailId"] == item["emailId"]);
    let is_in_time = |item: &&Value| {
        let at = |value: &Value| value.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
        let date = at(&item["date"]);
        at(&input["since"]).is_none_or(|since| date.is_none_or(|date| date >= since))
            && at(&input["until"]).is_none_or(|until| date.is_none_or(|date| date <= until))
    };
    let shares = |item: &&Value| {
        let text = format!("{} {} {}", text_of(item, "from"), text_of(item, "subject"), text_of(item, "summary"));
        words.iter().any(|word| household::Household::says_word(&text, word))
    };
    // "The mail about the bank account" is from a bank, where one wrote: another mail that holds the word is not meant.
    // Where a person is named, "bank" says what it is about, not from whom.
    let is_kind = |word: &&String| task.person().is_none() && household::Household::is_relation(word);
    let kinds: Vec<&String> = words.iter().filter(is_kind).collect();
    let is_from_kind = |item: &Value| {
        let from = household::time::words::words(&text_of(item, "from"));
        kinds.iter().any(|kind| from.iter().any(|word| word.folded.starts_with(*kind) || word.folded.ends_with(*kind)))
    };
    let more: Vec<&Value> = list(suspicious, "items")
        .iter()
        .filter(|item| !is_listed(item) && is_in_time(item) && (shares(item) || is_from_kind(item)))
        .collect();
    let has_kind = mails.iter().chain(more.iter().copied()).any(is_from_kind);
    // What is suspicious stays, whichever sender it names.
    let is_odd = |item: &Value| item["category"] == "suspicious" || !list(item, "warnings").is_empty();
    let is_meant = |item: &Value| !has_kind || is_from_kind(item) || is_odd(item);
    let mails: Vec<Value> = mails.iter().filter(|mail| is_meant(mail)).cloned().collect();
    let more: Vec<&Value> = more.into_iter().filter(|mail| is_meant(mail)).collect();
    match (&mails[..], &more[..]) {
        ([], _) if input["from"].is_string() && (input["query"].is_string() || input["since"].is_string()) => {
            cx.call("mail_list", json!({ "from": input["from"] }))
        }
        ([], []) if input["query"].is_string() && input["folder"].is_null() && turn.calls.len() < MOST_CALLS => {
            cx.call("mail_list", json!({ "folder": "all", "query": input["query"] }))
        }
        ([], []) => {
            let none = json!({ "only": "suspicious" });
            Said::text(format!("{}\n\n{}", nothing(task, cx), weighed(cx, &none, suspicious)))
        }
        ([only], []) => cx.call("mail_triage", json!({ "id": only["emailId"] })),
        ([], [only]) => cx.call("mail_triage", json!({ "id": only["emailId"] })),
        (mails, more) => {
            let verdict = |mail: &Value| {
                let is_odd = mail["category"] == "suspicious" || !list(mail, "warnings").is_empty();
                let said = cx.speech.say(if is_odd { "short_suspicious" } else { "short_fine" }, &[]);
                let why = texts_of(mail, "warnings").into_iter().next();
                let why = why.map(|why| cx.speech.say("careful", &[("warning", &cx.speech.reason(&why))]));
                let why = why.map(|why| format!("\n   {why}")).unwrap_or_default();
                format!("{}: {said}{why}", cx.dates.mail(mail))
            };
            // One mail beside others that are not in the list has no number.
            let is_numbered = mails.len() > 1;
            let line = |(at, mail): (usize, &Value)| match is_numbered {
                true => format!("{}. {}", at + 1, verdict(mail)),
                false => format!("- {}", verdict(mail)),
            };
            let numbered = mails.iter().take(MOST_TOLD).enumerate().map(line);
            let beside = more.iter().take(2).map(|mail| format!("- {}", verdict(mail)));
            let (numbered, beside): (Vec<String>, Vec<String>) = (numbered.collect(), beside.collect());
            // What is suspicious is said first.
            let parts = [beside.join("\n"), numbered.join("\n")];
            let told: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let head = cx.speech.say(if is_numbered { "which_verdict" } else { "several_verdicts" }, &[]);
            Said::text(format!("{head}\n\n{}", told.join("\n")))
        }
    }
}

/// Whether it asks if a person answered the owner: "did she answer about the date?".
fn asks_whether_answered(task: &SpecialistTask) -> bool {
    let opens = household::time::words::words(&task.task)
        .first()
        .is_some_and(|word| ["did", "has", "have", "hat", "haben", "est"].contains(&word.folded.as_str()));
    let is_theirs = person::who_answers(task) == Some(person::Side::Them);
    (opens || is_theirs)
        && task.says("answer answered reply replied respond responded geantwortet beantwortet repondu")
        && (is_theirs || !task.says("i we ich wir je j nous"))
}

/// Words with which mail servers say that a mail did not arrive.
const UNDELIVERED: &str = "undelivered delivered delivery returned";

/// Whether it asks if a mail of the owner's arrived: "did my mail reach them?", "which of my mails bounced?".
fn asks_whether_delivered(task: &SpecialistTask) -> bool {
    let is_mine = task.says("my mine i meine mein meiner ich mon ma mes je") && !task.says("me mir moi");
    let is_mail = task.says("mail mails email emails message messages letter nachricht nachrichten courriel courriels");
    let is_reached = task.says("reach reached arrive arrived angekommen ankam zugestellt arrive parvenu");
    let is_returned = task.says("bounce bounced bounces undelivered undeliverable delivered unzustellbar");
    is_mine && is_mail && (is_reached || is_returned) && !task.has_any(&[Concept::Write, Concept::Tell])
}

/// The address of whom the newest of some mails was written to.
fn recipient(data: &Value) -> Option<String> {
    let to = texts_of(list(data, "mails").first()?, "to").into_iter().next()?;
    Some(to.rsplit_once('<').map_or(to.as_str(), |(_, address)| address.trim_end_matches('>')).to_owned())
}

/// What became of a mail of the owner's: what a mail server said about its address, else that none said anything.
fn delivered(turn: &Turn, cx: &AgentContext, data: &Value) -> String {
    let sent = turn.found("mail_list");
    let address = sent.and_then(recipient).unwrap_or_default();
    let is_from_server = |answer: &&Value| {
        let from = household::time::words::fold(&text_of(answer, "from"));
        ["mailer-daemon", "postmaster", "mail delivery"].iter().any(|name| from.contains(name))
    };
    let is_about = |answer: &&Value| text_of(answer, "quote").to_lowercase().contains(&address.to_lowercase());
    let told: Vec<String> = list(data, "answers")
        .iter()
        .filter(|answer| is_from_server(answer) && is_about(answer))
        .map(|answer| format!("- {}", cx.dates.quoted(answer)))
        .collect();
    match (told.is_empty(), sent.and_then(|sent| list(sent, "mails").first())) {
        (false, _) => format!("{}\n\n{}", cx.speech.say("not_delivered", &[]), told.join("\n")),
        (true, Some(mail)) => format!("{}\n\n- {}", cx.speech.say("no_return", &[]), cx.dates.mail(mail)),
        (true, None) => cx.speech.say("no_return", &[]),
    }
}

/// That a person has not answered: the owner's last mail to them is newer than theirs.
fn not_yet(cx: &AgentContext, data: &Value) -> Option<String> {
    let [person] = list(data, "people") else { return None };
    let at = |mail: &Value| mail["date"].as_str().and_then(|date| date.parse::<jiff::Timestamp>().ok());
    let (sent, received) = (&data["sent"]["last"], &data["received"]["last"]);
    let is_open = at(sent)? > at(received).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let when = sent["date"].as_str().map(|date| cx.dates.moment(date)).unwrap_or_default();
    let told = [("who", text_of(person, "name")), ("when", when), ("subject", text_of(sent, "subject"))];
    let told: Vec<(&str, &str)> = told.iter().map(|(slot, value)| (*slot, value.as_str())).collect();
    is_open.then(|| cx.speech.say("no_answer_yet", &told))
}

/// The words that say which mails are meant, besides people and times.
pub(super) fn subject(task: &SpecialistTask) -> String {
    task.unexplained(GENERIC, &OWN)
}

/// Concepts whose words ask for mails and do not say which.
const OWN: [Concept; 9] = [
    Concept::Triage,
    Concept::Inbox,
    Concept::Mail,
    Concept::Unread,
    Concept::Urgent,
    Concept::Sent,
    Concept::Thread,
    Concept::Genuine,
    Concept::Briefing,
];

/// Words of a request for mails that say nothing about which.
const GENERIC: &str = "mail mails email emails message messages inbox urgent unread important new genuine legit legitimate scam phishing trust \
    safe real fake fraud suspicious sent send wrote reply replied answer answered thread conversation discussion summarise summarize summary sum \
    read open echt seriös serios betrug vertrauen trauen gefalscht verdachtig verdachtige verdachtigen verdachtiges verdachtiger nachricht nachrichten antwort geantwortet beantwortet geschrieben \
    geschickt gesendet verlauf gesprach lies offne zusammen fass zusammenfassung courriel courriels message messages authentique arnaque fiable \
    suspect suspects suspecte suspectes faux reponse repondu ecrit envoye lis ouvre resume latest last recent newest letzte letzten neueste dernier derniere still already \
    yet schon noch deja encore whole ganze tout toute really wirklich vraiment attachment attachments attached attach attaches file files datei dateien fichier fichiers angehangt anhang anhange piece pieces jointe \
    jointes whats say says write got latest came come coming in since new news today important matters anything something everything need needs \
    want wants asked asks attention first deal missed miss check neu neues neue heute gestern gekommen gibt wichtig wichtiges wer jemand etwas was will \
    wollen muss nouveau nouveaux nouvelles aujourd hui hier important importants veut veulent faut quelqu un quelque chose traiter who anyone \
    someone many how count received arrived angekommen arrive arrives recu recus";

/// Whether a name is the name of this person.
fn is_name_of(words: &str, person: &str) -> bool {
    let (words, person) = (household::time::words::fold(words), household::time::words::fold(person));
    words.split_whitespace().all(|word| person.contains(word)) || person.split_whitespace().all(|part| words == part)
}

/// Whether a person wants to read a mail itself.
fn wants_text(task: &SpecialistTask) -> bool {
    let word = task.words_of(Concept::Look).map(str::to_lowercase);
    matches!(word.as_deref(), Some("read" | "open" | "lies" | "lese" | "öffne" | "lis" | "ouvre"))
        || task.says("read open lies offne vorlesen lis ouvre")
        || (task.says("say says write wrote steht schreibt schrieb dit ecrit want wants will")
            && task.says("what was que quoi"))
}

/// Whether more than one mail is spoken of.
fn speaks_of_several(task: &SpecialistTask) -> bool {
    task.says("mails emails messages nachrichten courriels messages")
}

fn wants_newest(task: &SpecialistTask) -> bool {
    task.says("last latest newest recent letzte letzten neueste neuesten dernier derniere dernieres")
}

/// Whether it is about what the owner wrote.
fn wants_sent(task: &SpecialistTask) -> bool {
    task.has(Concept::Sent) && !is_about_open(task) && !is_from_others(task)
}

/// Whether others are the ones who wrote: "what has she written to me?", "hat er mir geschrieben?".
fn is_from_others(task: &SpecialistTask) -> bool {
    task.says("me mir mich uns us m nous") && !task.says("i ich je j we wir")
}

/// Whether it is about what the owner asked others.
fn is_about_awaited(task: &SpecialistTask) -> bool {
    let text = household::time::words::fold(&task.task);
    [
        "my own mails",
        "my own emails",
        "own mails",
        "i asked",
        "heard back",
        "answered me",
        "no answer to my",
        "reply to my",
        "meine eigenen",
        "mir nicht geantwortet",
        "mir noch nicht",
        "keine antwort auf meine",
        "mes propres",
        "ne m'ont pas repondu",
        "pas repondu a mes",
        "m'a pas repondu",
    ]
    .iter()
    .any(|cue| text.contains(cue))
}

/// Whether it is about what still waits for an answer.
fn is_about_open(task: &SpecialistTask) -> bool {
    let text = household::time::words::fold(&task.task);
    [
        "unanswered",
        "not answered",
        "haven't answered",
        "haven't i answered",
        "have i not answered",
        "not replied",
        "haven't replied",
        "still need to answer",
        "still owe",
        "owe a reply",
        "yet to answer",
        "waiting for my",
        "waiting for me",
        "waiting on me",
        "waiting for an answer from me",
        "need a reply",
        "needs a reply",
        "need an answer",
        "do i have to answer",
        "do i need to answer",
        "do i need to reply",
        "do i still have to answer",
        "unbeantwortet",
        "noch nicht beantwortet",
        "nicht beantwortet",
        "noch beantworten",
        "auf eine antwort von mir",
        "wartet auf mich",
        "sans reponse",
        "pas encore repondu",
        "attend une reponse",
        "attendent une reponse",
        "attend ma reponse",
    ]
    .iter()
    .any(|cue| text.contains(cue))
}

fn is_about_thread(task: &SpecialistTask) -> bool {
    task.has(Concept::Thread)
}

/// Nothing was found, in the words of what was asked.
fn nothing(task: &SpecialistTask, cx: &AgentContext) -> String {
    let speech = cx.speech;
    let topic = task.entities.topics.iter().chain(&task.entities.quoted).find(|topic| !is_plain_request(topic));
    let about = topic.map(|topic| format!(" {}", speech.say("about_what", &[("what", topic)]))).unwrap_or_default();
    match task.sender() {
        Some(who) if wants_sent(task) => speech.say("not_written", &[("who", who), ("what", &about)]),
        Some(who) => {
            let from = format!(" {}", speech.say("from_who", &[("who", who)]));
            speech.say("no_such_mail", &[("what", &format!("{from}{about}"))])
        }
        None => speech.say("no_such_mail", &[("what", &about)]),
    }
}

/// What was taken down about mails, and which have their marks.
fn told(turn: &Turn, cx: &AgentContext) -> String {
    let mut told = Vec::new();
    for called in &turn.calls {
        match (&*called.name, &called.result) {
            (_, Some(outcome)) if outcome.is_error => told.push(plain(&outcome.text, 300)),
            ("mail_feedback", Some(outcome)) => told.push(noted(cx, &outcome.data)),
            ("mail_flag", Some(outcome)) => told.push(marked(cx, &called.input, &outcome.data)),
            _ => {}
        }
    }
    if turn.found("mail_feedback").is_some() {
        told.push(cx.speech.say("noted_habit", &[]));
    }
    told.join("\n")
}

/// A word about a mail was taken down.
fn noted(cx: &AgentContext, data: &Value) -> String {
    cx.speech.say(
        "noted",
        &[
            ("subject", &text_of(data, "subject")),
            ("from", &text_of(data, "from")),
            ("said", &text_of(data, "said")),
            ("was", &cx.dates.kind(&text_of(data, "was"))),
        ],
    )
}

/// A mail has its mark.
fn marked(cx: &AgentContext, input: &Value, data: &Value) -> String {
    let state = match (input["flag"].as_str(), input["on"] != false) {
        (Some("seen"), true) => "state_read",
        (Some("seen"), false) => "state_unread",
        (Some("answered"), true) => "state_answered",
        (Some("answered"), false) => "state_not_answered",
        (_, true) => "state_flagged",
        (_, false) => "state_unflagged",
    };
    let subject = Some(text_of(data, "subject")).filter(|subject| !subject.is_empty());
    let subject = subject.unwrap_or_else(|| text_of(data, "emailId"));
    cx.speech.say("marked", &[("subject", &subject), ("state", &cx.speech.say(state, &[]))])
}

/// Whether a mail can be trusted, with the reasons.
fn judged(cx: &AgentContext, data: &Value) -> String {
    let items = list(data, "items");
    let Some(item) = items.first() else { return cx.speech.say("no_such_mail", &[("what", "")]) };
    let is_suspicious = item["category"] == "suspicious";
    let warnings = texts_of(item, "warnings");
    let head = match (is_suspicious, warnings.is_empty()) {
        (true, _) => "verdict_suspicious",
        (false, false) => "verdict_order",
        (false, true) => "verdict_fine",
    };
    let mut text = format!("{}\n\n- {}", cx.speech.say(head, &[]), cx.dates.mail(item));
    for warning in warnings {
        text.push_str(&format!("\n  {}", cx.speech.say("careful", &[("warning", &cx.speech.reason(&warning))])));
    }
    text
}

/// One mail that was found by its sender or a word: what it says, and what became of it.
fn one(task: &SpecialistTask, turn: &Turn, cx: &AgentContext, data: &Value) -> String {
    let items = list(data, "items");
    let (Some(item), Some(found)) = (items.first(), turn.found("mail_list")) else {
        return weighed(cx, &Value::Null, data);
    };
    let mail = list(found, "mails").first().unwrap_or(item);
    let gist = text_of(mail, "gist");
    let mut text = format!("- {}, {}", cx.dates.mail(mail), cx.dates.kind(&text_of(item, "category")));
    if !gist.is_empty() {
        text.push_str(&format!("\n  {}", cx.speech.say("in_short", &[("text", &gist)])));
    }
    text.push_str(&state(cx, mail));
    for task in list(item, "extractedTasks") {
        let due = task["suggestedDue"].as_str().map(|due| cx.speech.say("by", &[("when", &cx.dates.moment(due))]));
        let what = format!("{}{}", text_of(task, "title"), due.map(|due| format!(" ({due})")).unwrap_or_default());
        text.push_str(&format!("\n  {}", cx.speech.say("to_do", &[("what", &what)])));
    }
    for warning in texts_of(item, "warnings") {
        text.push_str(&format!("\n  {}", cx.speech.say("careful", &[("warning", &cx.speech.reason(&warning))])));
    }
    let reply = asked_for_reply(task).map(|who| {
        let when = mail["date"].as_str().map(|date| cx.dates.moment(date)).unwrap_or_default();
        cx.speech.say("reply_from", &[("who", &who), ("when", &when)])
    });
    let head = reply.unwrap_or_else(|| cx.speech.say("Mail_one", &[]) + ":");
    format!("{head}\n\n{text}{}", navigator::read_as(cx, found))
}

/// What became of a mail: its attachments, and whether it was answered.
fn state(cx: &AgentContext, mail: &Value) -> String {
    let mut text = String::new();
    let files = texts_of(mail, "attachments");
    if !files.is_empty() {
        text.push_str(&format!("\n  {}", cx.speech.say("attachments", &[("names", &files.join(", "))])));
    }
    if mail["folder"] != "sent" && mail["answered"].is_boolean() {
        let state = if mail["answered"] == true { "answered" } else { "unanswered" };
        text.push_str(&format!("\n  ({})", cx.speech.say(state, &[])));
    }
    text
}

/// Who is asked to have answered a mail of the owner: "did Tom reply to my last mail?".
fn answer_to_own_mail(task: &SpecialistTask) -> Option<&str> {
    const MINE: &str = "my our mein meine meiner meinen meinem unsere mon ma notre";
    const MAIL: &str = "mail mails email message nachricht courriel letter offer proposal question request invoice quote angebot frage anfrage \
        rechnung vorschlag offre demande facture devis proposition";
    let all = household::time::words::words(&task.task);
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|one| one == word);
    let is_own = all.iter().enumerate().any(|(at, word)| {
        is_in(MINE, &word.folded) && all[at + 1..].iter().take(3).any(|word| is_in(MAIL, &word.folded))
    });
    let is_theirs = person::who_answers(task) == Some(person::Side::Them);
    let asks = task.is_question() && task.entities.ids.is_empty();
    task.person().filter(|_| is_own && is_theirs && asks)
}

/// What came from a person since the owner last wrote to them.
fn answered_own_mail(task: &SpecialistTask, turn: &Turn, cx: &AgentContext, input: &Value, data: &Value) -> Said {
    let who = task.person().unwrap_or_default();
    let newest = list(data, "mails").first();
    if input["folder"] == "sent" {
        return match newest.and_then(|mail| mail["date"].as_str()) {
            Some(date) => cx.call("mail_list", json!({ "from": who, "since": date, "limit": 3 })),
            None => Said::text(cx.speech.say("not_written", &[("who", who), ("what", "")])),
        };
    }
    // What came after it may be about something else.
    let named: Vec<String> = household::time::words::words(&subject(task))
        .into_iter()
        .map(|word| word.folded)
        .filter(|word| !household::words::is_light(word) && !is_name_of(word, who))
        .collect();
    let is_about = |mail: &Value| {
        let told = format!("{} {} {}", text_of(mail, "subject"), text_of(mail, "gist"), text_of(mail, "preview"));
        named.iter().any(|word| household::Household::says_word(&told, word))
    };
    if newest.is_some() {
        let is_other = !named.is_empty() && !list(data, "mails").iter().any(is_about);
        let looked_for = is_other.then(|| named.join(" "));
        return Said::text(listed(task, cx, data, looked_for.as_deref()));
    }
    let sent = turn.calls.first().and_then(|called| called.result.as_ref());
    let sent = sent.and_then(|result| list(&result.data, "mails").first()).unwrap_or(&Value::Null);
    let when = sent["date"].as_str().map(|date| cx.dates.moment(date)).unwrap_or_default();
    Said::text(cx.speech.say("no_answer_yet", &[("who", who), ("when", &when), ("subject", &text_of(sent, "subject"))]))
}

/// Whose answer was asked for: "Did Tom reply?".
fn asked_for_reply(task: &SpecialistTask) -> Option<String> {
    let asks = task.has(Concept::Reply)
        || task.says("answered replied responded geantwortet geschrieben repondu ecrit wrote written");
    let is_question = task.task.trim_end().ends_with('?') || task.says("did has have hat est");
    (asks && is_question && task.has(Concept::Triage)).then(|| task.sender().map(str::to_owned)).flatten()
}

/// Whether a person wants to know what is not to be trusted.
fn is_wary(task: &SpecialistTask) -> bool {
    task.has(Concept::Genuine) || WARY.iter().any(|word| household::time::words::fold(&task.task).contains(word))
}

/// Whether all that is suspicious is meant, not one mail.
fn is_wary_of_all(task: &SpecialistTask) -> bool {
    task.says("any anything all which mails emails alle welche irgendwelche tous quels quelles courriels gibt")
        && task.person().is_none()
}

const WARY: [&str; 13] = [
    "suspicious",
    "phishing",
    "scam",
    "fraud",
    "spoofed",
    "fake mail",
    "verdachtig",
    "betrug",
    "gefalscht",
    "suspect",
    "hameconnage",
    "arnaque",
    "sospech",
];

/// "urgent emails" says how to look, not what for.
fn is_plain_request(topic: &str) -> bool {
    let hits = super::lexicon::lexicon().hits(&household::time::words::words(topic));
    hits.iter().any(|hit| matches!(hit.concept, Concept::Urgent | Concept::Unread | Concept::Mail | Concept::Inbox))
}

/// Mails that were weighed.
fn weighed(cx: &AgentContext, input: &Value, data: &Value) -> String {
    let speech = cx.speech;
    let items = list(data, "items");
    let total = data["total"].as_u64().map_or(items.len(), |total| usize::try_from(total).unwrap_or(usize::MAX));
    let only = input["only"].as_str().filter(|only| *only != "all");
    if items.is_empty() {
        return match only {
            Some("unanswered") => speech.say("open_none", &[]),
            Some(only) => speech
                .say(
                    "nothing_kind",
                    &[("kind", &cx.dates.kind(only)), ("since", &period(cx, data)), ("rest", &counts(cx, data))],
                )
                .trim_end()
                .to_owned(),
            None => speech.say("no_mail", &[("since", &period(cx, data))]),
        };
    }
    let head = match (only, input["id"].is_string()) {
        (_, true) => String::new(),
        (Some("unanswered"), _) => speech.count("open", total),
        (Some(only), _) => format!("{}, {}{}:", speech.count("Mail", total), cx.dates.kind(only), period(cx, data)),
        (None, _) => format!("{}{}:", speech.count("Mail", total), period(cx, data)),
    };
    let told: Vec<String> = items.iter().take(MOST_TOLD).map(|item| cx.dates.weighed(item)).collect();
    let rest = if only.is_some() { String::new() } else { counts(cx, data) };
    [head, told.join("\n"), rest].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn period(cx: &AgentContext, data: &Value) -> String {
    let since = data["period"]["since"].as_str();
    since.map(|since| format!(" {}", cx.speech.say("since", &[("when", &cx.dates.moment(since))]))).unwrap_or_default()
}

/// How many of each kind there are.
fn counts(cx: &AgentContext, data: &Value) -> String {
    let Some(counts) = data["counts"].as_object() else { return String::new() };
    let some = counts.iter().filter_map(|(kind, number)| Some((kind, number.as_u64().filter(|number| *number > 0)?)));
    let told: Vec<String> = some.map(|(kind, number)| format!("{number} {}", cx.dates.kind(kind))).collect();
    if told.is_empty() { String::new() } else { cx.speech.say("kinds", &[("kinds", &told.join(", "))]) }
}

/// Mails of a list, numbered.
fn listed(task: &SpecialistTask, cx: &AgentContext, data: &Value, looked_for: Option<&str>) -> String {
    let mails = list(data, "mails");
    if mails.is_empty() {
        return nothing(task, cx);
    }
    let is_several = mails.len() > 1;
    let line = |(at, mail): (usize, &Value)| {
        let gist =
            Some(text_of(mail, "gist")).filter(|gist| !gist.is_empty()).unwrap_or_else(|| text_of(mail, "preview"));
        let is_brief = mails.len() > MOST_TOLD && at >= 2;
        let gist = match gist.is_empty() || is_brief {
            true => String::new(),
            false => format!("\n   {}", cx.speech.say("in_short", &[("text", &gist)])),
        };
        let state = if is_brief { String::new() } else { state(cx, mail) };
        let mark = if is_several { format!("{}. ", at + 1) } else { "- ".to_owned() };
        let warned: Vec<String> = texts_of(mail, "warnings")
            .iter()
            .take(2)
            .map(|warning| format!("\n   {}", cx.speech.say("careful", &[("warning", &cx.speech.reason(warning))])))
            .collect();
        format!("{mark}{}{gist}{state}{}", cx.dates.mail(mail), warned.concat())
    };
    let told: Vec<String> = mails.iter().enumerate().take(2 * MOST_TOLD).map(line).collect();
    let total = data["total"].as_u64().map_or(mails.len(), |total| usize::try_from(total).unwrap_or(usize::MAX));
    let newest = &mails[0];
    let when = newest["date"].as_str().map(|date| cx.dates.moment(date)).unwrap_or_default();
    let head = match (wants_sent(task), task.person(), asked_for_reply(task)) {
        // What was looked for is in none of them.
        (false, _, _)
            if let Some(what) = looked_for
                && let Some(who) = task.sender() =>
        {
            let about = format!(" {}", cx.speech.say("about_what", &[("what", what)]));
            let none = cx.speech.say("no_reply_from", &[("who", who), ("what", &about)]);
            let last = [("who", who), ("when", &when), ("subject", &text_of(newest, "subject"))];
            format!("{none} {}", cx.speech.say("last_received", &last))
        }
        (true, Some(who), _) => {
            cx.speech.say("last_written", &[("who", who), ("when", &when), ("subject", &text_of(newest, "subject"))])
        }
        (_, _, Some(who)) => cx.speech.say("reply_from", &[("who", &who), ("when", &when)]),
        _ => {
            let from =
                task.sender().map(|who| format!(" {}", cx.speech.say("from_who", &[("who", who)]))).unwrap_or_default();
            format!("{}{from}:", cx.speech.count("Mail", total))
        }
    };
    format!("{head}\n\n{}{}", told.join("\n"), navigator::read_as(cx, data))
}

fn read(cx: &AgentContext, mail: &Value) -> String {
    let body = mail["body"].as_str().unwrap_or("");
    let mut shown = String::new();
    for line in body.lines().map(|line| plain(line, 400)) {
        if shown.chars().count() > MOST_TEXT {
            shown.push_str("\n> …");
            break;
        }
        shown.push_str(&format!("\n> {line}"));
    }
    let files: Vec<String> = list(mail, "attachments").iter().map(|file| text_of(file, "name")).collect();
    // What is odd is said before what the mail says.
    let verdict = match list(mail, "warnings").is_empty() {
        true => String::new(),
        false => format!("{}\n\n", cx.speech.say("verdict_suspicious", &[])),
    };
    let mut text = format!("{verdict}{}\n{}", cx.dates.mail(mail), shown.trim_end_matches("\n> "));
    if !files.is_empty() {
        text.push_str(&format!("\n\n{}", cx.speech.say("attachments", &[("names", &files.join(", "))])));
    }
    for warning in texts_of(mail, "warnings") {
        text.push_str(&format!("\n\n{}", cx.speech.say("careful", &[("warning", &cx.speech.reason(&warning))])));
    }
    text
}

/// The most characters of a mail that are shown.
const MOST_TEXT: usize = 2_500;

/// A conversation, each mail in its own sentences.
fn thread(cx: &AgentContext, data: &Value) -> String {
    let mails = list(data, "mails");
    let line = |mail: &Value| {
        let gist = Some(text_of(mail, "gist")).filter(|gist| !gist.is_empty());
        let gist = gist.unwrap_or_else(|| plain(mail["body"].as_str().unwrap_or(""), 300));
        let when = mail["date"].as_str().map(|date| cx.dates.moment(date)).unwrap_or_default();
        let who = if mail["folder"] == "sent" { cx.speech.say("you", &[]) } else { name_of(mail) };
        let warned: Vec<String> = texts_of(mail, "warnings")
            .iter()
            .map(|warning| format!("\n  {}", cx.speech.say("careful", &[("warning", &cx.speech.reason(warning))])))
            .collect();
        format!("- {when}, {who}: \"{gist}\"{}", warned.concat())
    };
    let told: Vec<String> = mails.iter().map(line).collect();
    let count = cx.speech.count("Mail", mails.len());
    let head = cx.speech.say("thread_head", &[("mails", &count), ("subject", &text_of(data, "subject"))]);
    format!("{head}\n\n{}", told.join("\n"))
}
