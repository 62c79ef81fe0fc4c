//! Statements about a mail instead of requests: that it is urgent or can wait, and how it is to be flagged.
//!
//! Read from the words of the task, never from a mail. Left to `triage`: which mail is meant.

use super::lexicon::Concept;
use super::task::SpecialistTask;
use household::time::words::words;

/// What is said about a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// It is urgent, or it is not.
    Urgent(bool),
    /// It is to have a mark, or to lose it.
    Mark(&'static str, bool),
}

impl Remark {
    /// What a task says; none where it asks.
    pub fn of(task: &SpecialistTask) -> Option<Self> {
        let said: Vec<String> = words(&task.task).into_iter().map(|word| word.folded).collect();
        let says = |phrases: &str| {
            phrases.split(", ").any(|phrase| {
                let phrase: Vec<String> = words(phrase).into_iter().map(|word| word.folded).collect();
                said.windows(phrase.len()).any(|window| window == phrase)
            })
        };
        if ASKING.split(' ').any(|word| said.iter().any(|said| said == word)) {
            return None;
        }
        let is_told = !task.task.trim_end().ends_with('?') && !task.has_any(&[Concept::Look, Concept::Find]);
        let verdict = [(CALM, false), (URGENT, true)].into_iter().find(|(phrases, _)| says(phrases));
        if let Some((_, is_urgent)) = verdict.filter(|_| is_told) {
            return Some(Self::Urgent(is_urgent));
        }
        let (_, flag, on) = MARKS.into_iter().find(|(phrases, ..)| says(phrases))?;
        Some(Self::Mark(flag, on))
    }
}

/// Words by which something is asked.
const ASKING: &str = "what which who whose when where why how was welche welcher welches wer wann wo warum wie quel quelle quels \
    quelles qui quand pourquoi comment que cual cuales quien cuando quale quali chi quando welke wie wanneer";

const CALM: &str = "not urgent, isn't urgent, aren't urgent, not important, isn't important, aren't important, not that urgent, \
    not so urgent, not very urgent, not really urgent, never urgent, no longer urgent, not that important, can wait, no rush, \
    nicht dringend, nicht wichtig, nicht so dringend, nicht so wichtig, nicht eilig, nie dringend, kann warten, können warten, \
    eilt nicht, pas urgent, pas urgente, pas urgents, pas urgentes, pas important, pas importante, pas importants, \
    peut attendre, peuvent attendre, no es urgente, no son urgentes, puede esperar, pueden esperar, non è urgente, \
    non sono urgenti, può aspettare, niet dringend, niet belangrijk, kan wachten";

const URGENT: &str = "is urgent, are urgent, is very urgent, is important, are important, is very important, always urgent, \
    as urgent, ist dringend, sind dringend, ist sehr dringend, ist wichtig, sind wichtig, ist eilig, immer dringend, als dringend, \
    est urgent, est urgente, sont urgents, sont urgentes, est important, est importante, comme urgent, es urgente, son urgentes, \
    è urgente, sono urgenti, is dringend, zijn dringend, is belangrijk";

/// Words for marks, those first that hold words of others.
const MARKS: [(&str, &str, bool); 5] = [
    (
        "as unread, as not read, als ungelesen, comme non lu, comme non lue, como no leído, come non letto",
        "seen",
        false,
    ),
    ("as read, as seen, als gelesen, comme lu, comme lue, como leído, come letto, als gelezen", "seen", true),
    ("as answered, as replied, as done, als beantwortet, als erledigt, comme traité, comme répondu", "answered", true),
    ("unflag, unstar, remove the flag, remove the star, take the flag off, entferne die markierung", "flagged", false),
    (
        "flag, star, as flagged, as important, with a flag, with a star, markiere, markier, als wichtig, mit stern, marque, \
         comme important, avec une étoile",
        "flagged",
        true,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intent::Context;

    #[test]
    fn what_is_told_about_a_mail_is_told_apart_from_what_is_asked() {
        let now = "2026-01-15T11:00:00+01:00[Europe/Berlin]".parse().expect("a moment");
        let context = Context::new(now, vec!["Tom Becker".into()]);
        let read = |task: &str| Remark::of(&SpecialistTask::read(task, &context));
        for (task, remark) in [
            ("msg_048 is not urgent", Some(Remark::Urgent(false))),
            ("The mail from Tom isn't important.", Some(Remark::Urgent(false))),
            ("Mails from Tom can wait", Some(Remark::Urgent(false))),
            ("msg_048 is urgent!", Some(Remark::Urgent(true))),
            ("Please mark msg_048 as urgent", Some(Remark::Urgent(true))),
            ("Die Mail von Tom ist nicht dringend", Some(Remark::Urgent(false))),
            ("Le mail de Tom n'est pas urgent", Some(Remark::Urgent(false))),
            ("Could you flag msg_048?", Some(Remark::Mark("flagged", true))),
            ("unflag msg_048", Some(Remark::Mark("flagged", false))),
            ("mark msg_048 as read", Some(Remark::Mark("seen", true))),
            ("Mark the mail from Tom as unread", Some(Remark::Mark("seen", false))),
            ("Markiere msg_048 als gelesen", Some(Remark::Mark("seen", true))),
            ("Marque msg_048 comme lu", Some(Remark::Mark("seen", true))),
            ("Is msg_048 urgent?", None),
            ("What is urgent", None),
            ("Show me the mails that are urgent", None),
            ("urgent mails from Tom", None),
            ("Which mail can wait?", None),
            ("read msg_048", None),
        ] {
            assert_eq!(read(task), remark, "{task}");
        }
    }
}
