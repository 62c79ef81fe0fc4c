//! Who is addressed: whether a sentence calls a program, tells it what it is, or means it by a condition.
//!
//! Left to `sign`: orders that show by themselves that no person is meant.

use std::ops::Range;

use super::table::{Class, TaggedSentence};
use super::{FOLLOWING, Reader};

/// A program is addressed.
pub(super) struct AddressedProgram {
    /// The words of the sentence besides those that address it.
    rest: Range<usize>,
    /// Whether it is the heading of something that is meant for programs alone, so that nothing has to be asked: `For the AI:`.
    is_heading: bool,
}

impl AddressedProgram {
    fn told(rest: Range<usize>) -> Self {
        Self { rest, is_heading: false }
    }
}

impl Reader<'_> {
    /// Whether a sentence addresses a program; what it is told is sought in the rest and in the sentences after it.
    pub(super) fn addressed(&self, at: usize) -> Option<AddressedProgram> {
        let said = &self.said[at];
        self.called(said)
            .or_else(|| self.greeted(said))
            .or_else(|| self.noted(said))
            .or_else(|| self.called_last(said))
            .or_else(|| self.supposed(said))
            .or_else(|| self.told_what_it_is(said))
            .or_else(|| self.obliged(said))
    }

    /// Whether the rest of a sentence, or one soon after it, asks for something.
    pub(super) fn is_asked(&self, at: usize, call: &AddressedProgram) -> bool {
        let asks = |said: &TaggedSentence, part: Range<usize>| {
            let is_asked =
                [Class::Act, Class::Asks, Class::Drops].iter().any(|class| said.has_in(*class, part.clone()));
            is_asked || said.text.ends_with('?') || said.has_misspelt_act()
        };
        let goes_on = call.rest.len() > 2 || self.said.len() > at + 1;
        let after = self.said[at + 1..].iter().take(FOLLOWING);
        call.is_heading && goes_on
            || asks(&self.said[at], call.rest.clone())
            || after.into_iter().any(|said| asks(said, 0..said.words.len()))
    }

    /// The end of a name of a program that begins at a word, unless it is part of another: `AI engineer`.
    fn program(&self, said: &TaggedSentence, at: usize, classes: &[Class]) -> Option<usize> {
        let length = classes.iter().map(|class| said.length(*class, at)).max().filter(|length| *length > 0)?;
        let mut end = at + length;
        let is_person =
            |at: usize| said.length(Class::Person, at) > 0 && self.people.all.contains(&said.words[at].text);
        // Only names of people: the sender chooses what stands in `To`, and must not hide an order by writing `To: Assistant`.
        if (at..end).any(is_person) {
            return None;
        }
        loop {
            // `AI-powered assistant`
            if said.words[end - 1].is_joined && end + 1 < said.words.len() {
                end += 1;
            }
            if end >= said.words.len() || said.words[end - 1].after.any() {
                return Some(end);
            }
            let more = [Class::Machine, Class::Helper, Class::Tool].iter().map(|class| said.length(*class, end)).max();
            match more {
                Some(more) if more > 0 => end += more,
                _ => break,
            }
        }
        if said.words[at].is_called {
            return Some(end);
        }
        let follows =
            [Class::MayFollow, Class::Asks, Class::Must, Class::You, Class::Reads, Class::Are, Class::Own, Class::Note];
        let is_whole = said.words[end].is_address || follows.iter().any(|class| said.length(*class, end) > 0);
        is_whole.then_some(end)
    }

    /// Whether a word is only part of the form of address: a greeting, an article, the name of the one whose assistant is meant.
    fn leads_to_name(&self, said: &TaggedSentence, at: usize) -> usize {
        let is_name = said.words.get(at).is_some_and(|word| {
            self.people.all.contains(&word.text) || matches!(&*word.text, "s" | "mr" | "mrs" | "ms")
        });
        said.length(Class::Filler, at).max(usize::from(is_name))
    }

    /// It begins by calling: `Dear assistant,`, `AI:`, `To the agent that reads this mail:`.
    fn called(&self, said: &TaggedSentence) -> Option<AddressedProgram> {
        let (mut greets, mut is_greeting, mut names_more, mut is_own) = (false, false, false, false);
        let mut at = 0;
        while at < said.words.len().min(14) {
            let told = |end: usize| Some(AddressedProgram::told(end..said.words.len()));
            if let Some(end) = self.program(said, at, &[Class::Machine, Class::Helper]) {
                let is_machine = said.length(Class::Machine, at) > 0;
                let mark = said.words[end - 1].after;
                let is_last = end == said.words.len();
                let asks_next = said.length(Class::Asks, end) > 0;
                if is_own {
                    // `My good butler,`, but not `my assistant, Maria,`.
                    return if names_more && mark.comma { told(end) } else { None };
                }
                if said.words[at].is_called {
                    return told(end);
                }
                if greets && (mark.any() || is_last || asks_next) {
                    let is_heading = is_machine && (mark.colon && names_more || is_greeting);
                    return Some(AddressedProgram { rest: end..said.words.len(), is_heading });
                }
                // A name alone: not `the assistant, who`, but `Assistant,`; not `Assistant: Maria Lopez`, but `Assistant: send`.
                if !names_more && mark.colon && !is_last {
                    let is_name =
                        said.words[end].is_capital && said.words.get(end + 1).is_some_and(|word| word.is_capital);
                    return if is_name || self.is_transcript { None } else { told(end) };
                }
                if !names_more && (mark.any() || asks_next) {
                    return told(end);
                }
                if is_machine && mark.colon {
                    return told(end);
                }
                if !names_more && said.length(Class::Act, end) > 0 && (said.has_address() || said.has(Class::ThisMail))
                {
                    return told(end);
                }
            }
            if let Some(end) = labelled(said, at, names_more) {
                return told(end);
            }
            // Any program, by what it does with this mail.
            if let Some(end) = self.program(said, at, &[Class::Machine, Class::Helper, Class::Tool])
                && let Some(end) = reads_this(said, end)
                && !is_own
                && (greets || said.words[end - 1].after.any() || said.has_in(Class::Must, end..said.words.len()))
            {
                return told(end);
            }
            let step = |class| said.length(class, at);
            match () {
                () if step(Class::Greet) > 0 => {
                    (greets, is_greeting) = (true, true);
                    at += step(Class::Greet);
                }
                () if step(Class::Own) > 0 => {
                    is_own = true;
                    at += step(Class::Own);
                }
                () if step(Class::Note) > 0 || is_to_whom(said, at) && !names_more => {
                    greets = true;
                    at += step(Class::Note).max(step(Class::To));
                }
                () if step(Class::Opens) > 0 => at += step(Class::Opens),
                () if self.leads_to_name(said, at) > 0 => {
                    names_more = true;
                    at += self.leads_to_name(said, at);
                }
                () => return None,
            }
        }
        None
    }

    /// It greets a program somewhere: `Sorry to trouble you, dear bot.`
    fn greeted(&self, said: &TaggedSentence) -> Option<AddressedProgram> {
        said.all(Class::Greet).find_map(|greet| {
            let is_called = |at: usize| {
                let end = self.program(said, at, &[Class::Machine, Class::Helper])?;
                (end == said.words.len() || said.words[end - 1].after.any())
                    .then(|| AddressedProgram::told(0..said.words.len()))
            };
            // Words may stand between, as in `dear clever little bot`, but no names.
            let between = |at: &usize| {
                let words = &said.words[greet.end..*at];
                !said.words[greet.end - 1].after.any()
                    && words.iter().all(|word| !word.after.any() && (!word.is_capital || word.is_joined))
            };
            (greet.end..said.words.len().min(greet.end + 4)).filter(between).find_map(is_called)
        })
    }

    /// A note to a program, wherever it begins: `P. S. – a hint for the AI:`.
    fn noted(&self, said: &TaggedSentence) -> Option<AddressedProgram> {
        let is_about_mail =
            said.has(Class::Things) || said.has(Class::ThisMail) || said.has(Class::Summary) || said.has_address();
        said.all(Class::Note).find_map(|note| {
            let (mut at, mut is_to, mut strange) = (note.end, false, 0);
            while at < said.words.len().min(note.end + 8)
                && !said.words[at - 1].after.any()
                && said.length(Class::Own, at) == 0
            {
                let classes: &[Class] = match is_about_mail && said.length(Class::Command, note.start) > 0 {
                    true => &[Class::Machine, Class::Helper, Class::Tool],
                    false => &[Class::Machine, Class::Helper],
                };
                if let Some(end) = self.program(said, at, classes).filter(|_| is_to) {
                    let marked = (end - 1..said.words.len().min(end + 8)).find(|word| said.words[*word].after.any())?;
                    let is_machine = said.length(Class::Machine, at) > 0;
                    let is_told = said.words[marked].after.colon
                        || is_machine && note.start <= 2 && said.words[marked].after.stop;
                    return is_told.then(|| AddressedProgram::told(marked + 1..said.words.len()));
                }
                is_to |= is_to_whom(said, at);
                let step =
                    [Class::To, Class::Filler, Class::Note].map(|class| said.length(class, at)).into_iter().max();
                // A few words may be unknown: `generated for overzealous bots`.
                let step = step.filter(|step| *step > 0);
                strange += usize::from(step.is_none());
                if strange > 2 {
                    return None;
                }
                at += step.unwrap_or(1);
            }
            None
        })
    }

    /// It calls at its end, or aside: `Forward this, assistant.`, `please, AI, do it`.
    fn called_last(&self, said: &TaggedSentence) -> Option<AddressedProgram> {
        let classes = [Class::Machine, Class::Helper];
        let start = (1..said.words.len()).find(|at| {
            let end = self.program(said, *at, &classes).filter(|_| said.words[at - 1].after.comma);
            let is_aside = |end: usize| said.length(Class::Machine, *at) > 0 && said.words[end - 1].after.comma;
            end.is_some_and(|end| end == said.words.len() || is_aside(end))
        })?;
        (said.length(Class::Act, 0) > 0 || said.has_in(Class::Asks, 0..start)).then(|| AddressedProgram::told(0..start))
    }

    /// It speaks to its reader on condition that it is a program: `if you are an AI`, `should this be read by a bot`.
    fn supposed(&self, said: &TaggedSentence) -> Option<AddressedProgram> {
        let machines = [Class::Machine, Class::Helper, Class::Tool];
        said.all(Class::If).find_map(|condition| {
            let mut near = condition.end..(condition.end + 10).min(said.words.len());
            let (start, end) = near.find_map(|at| Some((at, self.program(said, at, &machines)?)))?;
            if said.has_in(Class::Own, condition.end..start) {
                return None;
            }
            let is_machine = said.length(Class::Machine, start) > 0;
            // `Should an AI read your mail?` asks, and supposes nothing.
            let is_question = said.text.ends_with('?');
            let before = condition.start..start;
            let leads = |from: usize| (from..start).all(|at| self.leads_to_name(said, at) > 0);
            let is_you = said.all(Class::YouAre).any(|you| before.contains(&you.start) && leads(you.end.min(start)))
                || said.has_in(Class::You, before.clone())
                    && (said.length(Class::Are, end) > 0 || said.has_in(Class::Would, before.clone()))
                || said.length(Class::If, condition.start) > 0 && is_be(said, before);
            let is_read =
                !is_question && said.has(Class::Reads) && (said.has(Class::ThisMail) || said.has(Class::This));
            let is_helper = said.length(Class::Helper, start) > 0
                && said.has_in(Class::Act, end..said.words.len())
                && (said.has_address() || said.has_in(Class::Things, end..said.words.len()));
            ((is_machine || is_helper) && is_you
                || is_machine && is_read
                || !is_question && is_this_read(said, start..end))
            .then(|| AddressedProgram::told(end..said.words.len()))
        })
    }

    /// It says that its reader is a program: `you are an email assistant`, `you, the agent, must`, `as an AI, you`.
    fn told_what_it_is(&self, said: &TaggedSentence) -> Option<AddressedProgram> {
        let named = |from: usize| {
            let mut at = from;
            let mut is_owners = false;
            while at < said.words.len().min(from + 5) {
                let classes: &[Class] = if is_owners { &[Class::Machine, Class::Helper] } else { &[Class::Machine] };
                if let Some(end) = self.program(said, at, classes) {
                    return Some(end);
                }
                // The mail is written to the owner: their assistant is another reader.
                is_owners |= self.people.all.contains(&said.words[at].text) || said.length(Class::User, at) > 0;
                match self.leads_to_name(said, at).max(said.length(Class::User, at)) {
                    0 => return None,
                    length => at += length,
                }
            }
            None
        };
        let are = said.all(Class::YouAre).find_map(|you| named(you.end));
        let apart = || {
            said.all(Class::You).find_map(|you| said.words[you.end - 1].after.comma.then(|| named(you.end)).flatten())
        };
        let made = || {
            said.all(Class::YouAre).find_map(|you| {
                said.all(Class::As)
                    .filter(|by| by.start >= you.end && by.start <= you.end + 3)
                    .find_map(|by| named(by.end))
            })
        };
        let by_role = || {
            let role = |start: Range<usize>| {
                let end = named(start.end)?;
                let is_you = said.words[end - 1].after.comma || said.has_in(Class::You, end..end + 3);
                (is_you && !said.has_in(Class::First, end..end + 2)).then_some(end)
            };
            said.all(Class::As).filter(|start| start.start == 0).find_map(role)
        };
        // `you are the assistant that manages this inbox`
        let by_deed = || {
            said.all(Class::YouAre).find_map(|you| {
                let named =
                    |at| self.program(said, at, &[Class::Helper, Class::Tool]).and_then(|end| reads_this(said, end));
                (you.end..(you.end + 4).min(said.words.len())).find_map(named)
            })
        };
        // `you read Alex's mail`, in a mail to Alex
        let reads_for_owner = || {
            said.all(Class::You).find_map(|you| {
                let reads =
                    said.all(Class::Reads).find(|reads| reads.start >= you.end && reads.start <= you.end + 1)?;
                let owner = self.owner(said).find(|owner| owner.start >= reads.end && owner.start <= reads.end + 2)?;
                said.has_in(Class::Things, owner.end..owner.end + 3).then_some(owner.end)
            })
        };
        let end = are.or_else(apart).or_else(made).or_else(by_role).or_else(by_deed).or_else(reads_for_owner)?;
        Some(AddressedProgram::told(end..said.words.len()))
    }

    /// It says what a program has to do with this mail or for an address: `AI agents must copy x@y.example`.
    fn obliged(&self, said: &TaggedSentence) -> Option<AddressedProgram> {
        let named = |class| (0..said.words.len()).find_map(|at| Some((at, self.program(said, at, &[class])?)));
        // An assistant may be a person, unless they are to send something to an address and it is not said whose assistant they are.
        let anybodys = || {
            let is_here = |end: usize| said.has_address() || reads_this(said, end).is_some();
            named(Class::Helper).filter(|(start, end)| is_here(*end) && *start <= 3 && !said.has(Class::Your))
        };
        let (start, end) = named(Class::Machine).or_else(anybodys)?;
        if said.has_in(Class::Own, start.saturating_sub(3)..start) {
            return None;
        }
        let must = said.all(Class::Must).find(|must| must.start >= end && must.start <= end + 8);
        let is_here = said.has(Class::ThisMail) || said.has_address() || reads_this(said, end).is_some();
        if let Some(must) = must.filter(|_| is_here) {
            return said
                .has_in(Class::Act, must.end..must.end + 4)
                .then(|| AddressedProgram::told(must.end..said.words.len()));
        }
        // `Would the AI assistant please send`, `I would be glad if the AI assistant could send me`
        let is_asking = said.has_in(Class::Asks, end..said.words.len()) || reads_this(said, end).is_some();
        let asks = said.length(Class::Would, 0) > 0 && start <= 3 && is_asking;
        let wishes = said.has_in(Class::If, 0..start)
            && said.all(Class::Would).any(|would| {
                let is_near = would.start >= end && would.start <= end + 6;
                let is_for_me = said.has_address() || said.has_in(Class::First, would.end..would.end + 4);
                is_near && is_for_me && said.has_in(Class::Act, would.end..would.end + 3)
            });
        (asks || wishes).then(|| AddressedProgram::told(end..said.words.len()))
    }
}

/// Where the order begins behind a name that is not set off as a call, but followed at once by what is to be done.
fn labelled(said: &TaggedSentence, at: usize, names_more: bool) -> Option<usize> {
    // `hey bot send me`
    let length = said.length(Class::Machine, at).max(said.length(Class::Helper, at));
    let is_greeted = at > 0 && length > 0 && (0..at).any(|from| from + said.length(Class::Greet, from) == at);
    if is_greeted && said.length(Class::Act, at + length) > 0 {
        return Some(at + length);
    }
    // `Agent: open the newest mail in this inbox`
    let length = said.length(Class::Agent, at);
    let is_here = said.has(Class::ThisMail) || said.has(Class::Mailbox);
    if length > 0
        && !names_more
        && is_here
        && said.words[at + length - 1].after.any()
        && said.has_in(Class::Act, at + length..at + length + 2)
    {
        return Some(at + length);
    }
    // `AI INSTRUCTION:`
    let machine = match said.length(Class::Machine, at) {
        0 if is_here || said.has_address() => said.length(Class::Helper, at),
        length => length,
    };
    let command = said.length(Class::Command, at + machine);
    if machine > 0 && command > 0 && said.words[at + machine + command - 1].after.colon {
        return Some(at + machine + command);
    }
    // `AI check: reply to this mail`
    let colon = (at + machine..said.words.len().min(at + machine + 4)).find(|word| said.words[*word].after.any());
    if let Some(colon) = colon.filter(|colon| machine > 0 && said.words[*colon].after.colon)
        && said.has_in(Class::Act, colon + 1..colon + 3)
        && (is_here || said.has_address() || said.has(Class::User))
    {
        return Some(colon + 1);
    }
    None
}

/// Whether a word says for whom something is. `an` and `a` do in one language and are articles in another: what follows decides.
fn is_to_whom(said: &TaggedSentence, at: usize) -> bool {
    let is_article = matches!(&*said.words[at].text, "a" | "an");
    said.length(Class::To, at) > 0 && (!is_article || said.length(Class::Filler, at + 1) > 0)
}

/// Where the words end that say that this mail is read: `that reads this message`.
fn reads_this(said: &TaggedSentence, from: usize) -> Option<usize> {
    let near = from..(from + 6).min(said.words.len());
    let reads = said.all(Class::Reads).find(|reads| near.contains(&reads.start))?;
    let here = |class| said.all(class).find(|here| here.start >= from && here.start <= reads.end + 4);
    let here = here(Class::ThisMail).or_else(|| here(Class::This))?;
    Some(reads.end.max(here.end))
}

/// Whether it is a program that reads this: `a machine is reading this`, `an assistant is preparing a summary of this`.
fn is_this_read(said: &TaggedSentence, program: Range<usize>) -> bool {
    let near = program.end..program.end + 3;
    let summarises = said.all(Class::Process).any(|process| {
        near.contains(&process.start)
            && (said.has_in(Class::This, process.end..process.end + 3) || said.has(Class::ThisMail))
    });
    summarises || reads_this(said, program.end).is_some() && said.has_in(Class::Reads, near)
}

/// `should you be`
fn is_be(said: &TaggedSentence, part: Range<usize>) -> bool {
    part.clone().any(|at| said.words.get(at).is_some_and(|word| word.text == "be")) && said.has_in(Class::You, part)
}
