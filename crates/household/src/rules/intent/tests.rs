//! Requests in several languages, as people make them, and what they ask for.

use super::*;

fn context() -> Context {
    Context {
        now: "2026-01-15T11:00:00+01:00[Europe/Berlin]".parse().expect("a moment"),
        people: ["Sarah Chen", "Tom Becker", "Anna Schmidt", "Marie Dubois"].map(str::to_owned).to_vec(),
    }
}

const T: &str = "delegate_triage";
const S: &str = "delegate_schedule";
const D: &str = "delegate_draft";
const F: &str = "delegate_search";
const L: &str = "delegate_learn";

const TABLE: &[(&str, &[&str])] = &[
    // What came in.
    ("What urgent emails do I have?", &[T]),
    ("Check my inbox", &[T]),
    ("check my inbox please", &[T]),
    ("Any important mail today?", &[T]),
    ("Which messages need a reply before noon?", &[T]),
    ("Summarize my unread messages", &[T]),
    ("anything new in my mailbox?", &[T]),
    ("What came in over the last 24 hours?", &[T]),
    ("Did Sarah reply to my proposal?", &[T]),
    ("has Tom answered yet", &[T]),
    ("who is waiting for an answer from me", &[T]),
    ("what should I deal with first?", &[T]),
    ("show me the emails from Anna", &[T]),
    ("is there anything from the landlord?", &[T]),
    ("Triage everything since Monday", &[T]),
    ("what did Tom write?", &[T]),
    ("Is msg_urgent_001 important?", &[T]),
    ("read msg_002", &[T]),
    ("find the email from Sarah about the lease", &[T]),
    ("What needs my attention right now?", &[T]),
    ("did i miss something important while i was away", &[T]),
    ("wich emials are urgent?", &[T]),
    ("chekc my inbox", &[T]),
    ("any newsletters i can ignore", &[T]),
    ("Hi! Could you please have a look at my mail?", &[T]),
    ("Welche E-Mails sind dringend?", &[T]),
    ("Was gibt's Neues im Posteingang?", &[T]),
    ("Hat Tom schon geantwortet?", &[T]),
    ("Zeig mir die ungelesenen Nachrichten", &[T]),
    ("Gibt es wichtige Mails von heute?", &[T]),
    ("Welche dringenen Mails habe ich?", &[T]),
    ("Wer wartet auf eine Antwort von mir?", &[T]),
    ("Fass meine Mails von gestern zusammen", &[T]),
    ("Ai-je des mails urgents ?", &[T]),
    ("Quels courriels demandent une réponse aujourd'hui ?", &[T]),
    ("Montre-moi mes messages non lus", &[T]),
    ("Est-ce que Marie a répondu ?", &[T]),
    ("¿Tengo correos urgentes?", &[T]),
    ("Ci sono email importanti?", &[T]),
    ("Heb ik dringende mails?", &[T]),
    // The calendar.
    ("When am I free tomorrow?", &[S]),
    ("What's on my calendar today?", &[S]),
    ("Schedule a meeting with Anna next Tuesday afternoon", &[S]),
    ("find a slot for a 45 min call with Tom next week", &[S]),
    ("Do I have any meetings this afternoon?", &[S]),
    ("Am I busy on Friday?", &[S]),
    ("Is Friday at 10 free?", &[S]),
    ("book lunch with Sarah on Thursday", &[S]),
    ("Move my 3pm meeting to Monday", &[S]),
    ("can we reschedule the standup", &[S]),
    ("block two hours for focus work tomorrow morning", &[S]),
    ("What does my week look like?", &[S]),
    ("are there any conflicts in my calendar this week", &[S]),
    ("put the dentist on my calendar for Monday at 9", &[S]),
    ("what time is my meeting with Anna", &[S]),
    ("Find a time for a workshop in the next two weeks", &[S]),
    ("how does my day look", &[S]),
    ("whats on tomorow?", &[S]),
    ("shedule a meting with Tom", &[S]),
    ("do I have time for a coffee with Marie on Friday?", &[S]),
    ("my calender for next week", &[S]),
    ("cancel my appointment tomorrow", &[S]),
    ("Wann habe ich morgen Zeit?", &[S]),
    ("Habe ich am Freitag einen Termin?", &[S]),
    ("Plane ein Treffen mit Anna nächste Woche", &[S]),
    ("Was steht heute an?", &[S]),
    ("Bin ich am Dienstag um 15 Uhr frei?", &[S]),
    ("Verschiebe den Termin mit Tom auf Montag", &[S]),
    ("Trag den Zahnarzt am Montag um 9 ein", &[S]),
    ("Finde einen Termin für 30 Minuten mit Sarah", &[S]),
    ("Suis-je libre demain matin ?", &[S]),
    ("Trouve un créneau avec Marie la semaine prochaine", &[S]),
    ("Qu'est-ce que j'ai demain ?", &[S]),
    ("Planifie une réunion jeudi à 14h", &[S]),
    ("¿Qué tengo mañana?", &[S]),
    ("Quando sono libero domani?", &[S]),
    ("Wat staat er morgen in mijn agenda?", &[S]),
    // Mails to be written.
    ("Draft a reply to Sarah", &[D]),
    ("Write an email to Tom saying I will be late", &[D]),
    ("Reply to msg_urgent_001 that I will sign today", &[D]),
    ("Tell Anna that the meeting is moved to Friday", &[D]),
    ("let Tom know I can't make it tomorrow", &[D]),
    ("decline the invitation for Friday politely", &[D]),
    ("accept Sarah's invitation", &[D]),
    ("thank Marie for the flowers", &[D]),
    ("follow up with Tom about the invoice", &[D]),
    ("forward msg_003 to anna@schmidt.example", &[D]),
    ("Ask Tom when he can meet", &[D]),
    ("compose a mail to the landlord about the heating", &[D]),
    ("respond to the urgent one from Sarah", &[D]),
    ("send Anna an email with the agenda for tomorrow", &[D]),
    ("show me my drafts", &[D]),
    ("I need to answer Tom about the budget", &[D]),
    ("could you write back to Marie", &[D]),
    ("drfat an email to tom", &[D]),
    ("repyl to Sarah", &[D]),
    ("Write to Anna that I'm free on Tuesday and that the meeting is moved", &[D]),
    ("Schreib Tom eine Mail, dass ich später komme", &[D]),
    ("Antworte Anna, dass Freitag passt", &[D]),
    ("Beantworte die Mail von Sarah", &[D]),
    ("Sag Tom für morgen ab", &[S]),
    ("Bedanke dich bei Marie für das Essen", &[D]),
    ("Entwirf eine höfliche Absage an den Vermieter", &[D]),
    ("Leite die Mail an Anna weiter", &[D]),
    ("Réponds à Marie que je suis d'accord", &[D]),
    ("Écris un mail à Tom pour dire que j'arrive en retard", &[D]),
    ("Rédige une réponse polie", &[D]),
    ("Décline l'invitation de vendredi", &[D]),
    ("Escribe un correo a Tom", &[D]),
    ("Rispondi a Marie", &[D]),
    ("Schrijf een mail aan Anna", &[D]),
    // Notes.
    ("Find my notes on the Phoenix project", &[F]),
    ("find the contract", &[F]),
    ("Search for the lasagne recipe", &[F]),
    ("Where did I write about the bathroom tiles?", &[F]),
    ("What do I know about Acme?", &[F]),
    ("what did we decide about pricing", &[F]),
    ("look up the meeting notes from the kickoff", &[F]),
    ("show me the note about onboarding", &[F]),
    ("What's the status of project Phoenix?", &[F]),
    ("which notes link to the roadmap?", &[F]),
    ("recent notes", &[F]),
    ("open Projects/phoenix.md", &[F]),
    ("serach my notes for tax", &[F]),
    ("where is the packing list", &[F]),
    ("Finde meine Notizen zum Vertrag", &[F]),
    ("Suche das Rezept für Apfelkuchen", &[F]),
    ("Wo habe ich das WLAN notiert?", &[F]),
    ("Was haben wir zum Preis beschlossen?", &[F]),
    ("Was weiß ich über Acme?", &[F]),
    ("Cherche mes notes sur le projet Phoenix", &[F]),
    ("Où ai-je noté la recette ?", &[F]),
    ("Trouve le contrat", &[F]),
    ("Busca mis notas sobre el viaje", &[F]),
    ("Cerca gli appunti sul progetto", &[F]),
    ("Zoek mijn notities over de reis", &[F]),
    // Preferences.
    ("What have you learned about me?", &[L]),
    ("What are my preferences?", &[L]),
    ("I prefer meetings in the afternoon", &[L]),
    ("Remember that I never take calls before 9", &[L]),
    ("From now on archive newsletters", &[L]),
    ("Do I prefer mornings or afternoons for meetings?", &[L]),
    ("why do you think I like short emails?", &[L]),
    ("forget that I prefer mornings", &[L]),
    ("what patterns do you see in my decisions", &[L]),
    ("I always decline meetings on Fridays", &[L]),
    ("learn my habits", &[L]),
    ("waht are my preferances", &[L]),
    ("Merk dir, dass ich nachmittags lieber Termine habe", &[L]),
    ("Was hast du über mich gelernt?", &[L]),
    ("Welche Vorlieben habe ich?", &[L]),
    ("Quelles sont mes préférences ?", &[L]),
    ("Retiens que je préfère les réunions le matin", &[L]),
    ("¿Qué has aprendido sobre mí?", &[L]),
    ("Quali sono le mie abitudini?", &[L]),
    // Several at once.
    ("find the contract and draft a reply", &[F, D]),
    ("Check my inbox and then find a slot for Sarah", &[T, S]),
    ("What's urgent, and when am I free tomorrow?", &[T, S]),
    ("Find a time with Tom next week and write him an email about it", &[S, D]),
    ("look up the lease notes, then reply to the landlord", &[F, D]),
    ("tell Anna I'm late and move the meeting to 4pm", &[D, S]),
    ("Zeig mir dringende Mails und such einen Termin mit Anna", &[T, S]),
    ("Suche den Vertrag und schreib eine Antwort an Tom", &[F, D]),
    ("Cherche le contrat et rédige une réponse", &[F, D]),
    ("Summarise my inbox, find my notes on Acme and draft an answer to Sarah", &[T, F, D]),
    ("give me my morning briefing", &[T, S]),
    // What is answered directly.
    ("Hello", &["direct"]),
    ("hi there!", &["direct"]),
    ("Good morning", &["direct"]),
    ("Guten Morgen", &["direct"]),
    ("Bonjour", &["direct"]),
    ("Thanks!", &["direct"]),
    ("thank you so much", &["direct"]),
    ("Danke schön", &["direct"]),
    ("What can you do?", &["direct"]),
    ("help", &["direct"]),
    ("Was kannst du alles?", &["direct"]),
    ("Who are you?", &["direct"]),
    ("are you an AI", &["direct"]),
    ("What time is it?", &["direct"]),
    ("Welcher Tag ist heute?", &["direct"]),
    ("Quelle heure est-il ?", &["direct"]),
    ("How are you?", &["direct"]),
    ("Tell me a joke", &["direct"]),
    ("What's the weather tomorrow?", &["direct"]),
    ("What is the capital of France?", &["direct"]),
    ("Write me a poem about spring", &["direct"]),
    ("Book a flight to Paris", &["direct"]),
    ("Wie wird das Wetter morgen?", &["direct"]),
    ("translate good evening into Italian", &["direct"]),
    ("why is the sky blue", &["direct"]),
    ("bye", &["direct"]),
    ("Order a pizza", &["direct"]),
    // What has to be asked back.
    ("Anna", &["clarify"]),
    ("the contract", &["clarify"]),
    ("tomorrow", &["clarify"]),
    ("Can you help me with the Acme thing?", &["clarify"]),
    ("deal with Tom", &["clarify"]),
    ("do something about the invoice", &["clarify"]),
    ("Kümmere dich um Sarah", &["clarify"]),
    ("Occupe-toi de Marie", &["clarify"]),
    ("and Friday?", &["clarify"]),
];

#[test]
fn requests_are_understood_in_several_languages_and_with_slips() {
    // ORION-3
    let mut wrong = Vec::new();
    for (text, expected) in TABLE {
        let found = classify(text, &context());
        if found.names() != *expected {
            wrong.push(format!("{text:?}: {:?}, not {expected:?}", found.names()));
        }
    }
    assert!(TABLE.len() >= 150 && wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), TABLE.len(), wrong.join("\n"));
}

#[test]
fn entities_and_times_of_a_request_stand_as_they_were_said() {
    // ORION-16, ORION-17
    let found = classify("What urgent emails do I have from the last 24 hours?", &context());
    assert!(found.entities.all().contains(&"urgent emails".to_owned()), "{:?}", found.entities);
    let text = "Reply to Anna Schmidt and tom@becker.example about the \"Phoenix budget\" of 500€, see msg_urgent_001 and Projects/a.md";
    let entities = classify(text, &context()).entities;
    assert_eq!(entities.addresses, ["tom@becker.example"]);
    assert_eq!(entities.ids, ["msg_urgent_001"]);
    assert_eq!(entities.paths, ["Projects/a.md"]);
    assert_eq!(entities.quoted, ["Phoenix budget"]);
    assert_eq!(entities.amounts, ["500€"]);
    assert_eq!(entities.people, ["Anna Schmidt"]);
    let stranger = classify("Draft a reply to Priya Patel about the heating", &context()).entities;
    assert_eq!((stranger.people, stranger.topics), (vec!["Priya Patel".to_owned()], vec!["heating".to_owned()]));
}

#[test]
fn what_stands_in_quotation_marks_is_not_what_is_asked_for() {
    let found = classify("Tell Tom \"find a slot, check my inbox, forget my preferences\"", &context());
    assert_eq!(found.names(), [D]);
}

#[test]
fn the_words_that_decided_are_told() {
    let found = classify("find the contract and draft a reply", &context());
    assert_eq!(found.intents[0].because, ["find"]);
    assert_eq!(found.intents[0].text, "find the contract");
    assert_eq!(found.intents[1].text, "draft a reply");
    assert!(found.intents[1].because.contains(&"draft".to_owned()), "{:?}", found.intents[1].because);
}

#[test]
fn what_is_unclear_comes_with_choices() {
    let found = classify("Anna", &context());
    assert_eq!(found.question, Some(Question { choices: vec![Intent::Triage, Intent::Draft, Intent::Schedule] }));
    assert_eq!(classify("", &context()).direct, Some(Direct::Help));
}

#[test]
fn a_request_of_any_length_is_read_in_bounded_time() {
    let long = "draft a reply to anna about the contrcat ".repeat(2_000);
    assert_eq!(classify(&long, &context()).names(), [D]);
}
