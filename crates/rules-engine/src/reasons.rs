//! Reasons of the tools in the language of the conversation: why a mail matters, what is odd about it, what speaks for a time.
//!
//! Tools give their reasons in English, so that every model reads them. Here each is recognised by its form and said in German or French
//! with the same names and days in it. The forms are data (`reasons.txt`). What has no form there stays as it is.

use std::sync::LazyLock;

use super::speech::{Speech, Tongue};

/// One reason in three languages, as its file has it.
struct Form {
    english: &'static str,
    german: &'static str,
    french: &'static str,
}

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let lines = include_str!("reasons.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let form = |line: &'static str| match line.split(" | ").collect::<Vec<_>>()[..] {
        [english, german, french] => Form { english, german, french },
        _ => panic!("a reason is `English | German | French`, not `{line}`"),
    };
    lines.map(form).collect()
});

impl Speech {
    /// A reason in the language of the conversation.
    pub fn reason(self, english: &str) -> String {
        if self.tongue == Tongue::English {
            return english.to_owned();
        }
        // A warning is a reason with "It" before it and a full stop behind.
        let warned = || {
            let bare = english.strip_prefix("It ")?.strip_suffix('.')?;
            let it = if self.tongue == Tongue::German { "Es" } else { "Il" };
            Some(format!("{it} {}.", self.told(bare)?))
        };
        self.told(english).or_else(warned).unwrap_or_else(|| english.to_owned())
    }

    /// Several reasons in one line, separated by commas, each by itself. Titles may hold commas: what is not recognised stays with what is before it.
    pub fn reasons(self, english: &str) -> String {
        let mut told: Vec<String> = Vec::new();
        let mut open = String::new();
        for part in english.split(", ") {
            open = if open.is_empty() { part.to_owned() } else { format!("{open}, {part}") };
            if let Some(said) = self.told(&open).or_else(|| self.weekday(&open)) {
                told.push(said);
                open.clear();
            }
        }
        match open.is_empty() {
            true => told.join(", "),
            false => english.to_owned(),
        }
    }

    fn told(self, english: &str) -> Option<String> {
        FORMS.iter().find_map(|form| {
            let held = slots(form.english, english)?;
            let template = match self.tongue {
                Tongue::English => form.english,
                Tongue::German => form.german,
                Tongue::French => form.french,
            };
            let mut said = template.to_owned();
            for (name, value) in held {
                let value = if name == "day" { self.day_words(value) } else { value.to_owned() };
                said = said.replace(&format!("{{{name}}}"), &value);
            }
            Some(said)
        })
    }

    fn weekday(self, english: &str) -> Option<String> {
        let at = Speech { tongue: Tongue::English }.names("weekdays").iter().position(|name| *name == english)?;
        self.names("weekdays").get(at).map(|name| (*name).to_owned())
    }

    /// "Monday, 19 January" with the names of this language.
    fn day_words(self, english: &str) -> String {
        let own = Speech { tongue: Tongue::English };
        let mut said = english.to_owned();
        for of in ["weekdays", "months"] {
            for (name, other) in own.names(of).iter().zip(self.names(of)) {
                said = said.replace(name, other);
            }
        }
        match self.tongue {
            // "Montag, 19. Januar", "lundi 19 janvier".
            Tongue::German => said.split(' ').map(dotted).collect::<Vec<_>>().join(" "),
            Tongue::French => said.replace(',', ""),
            Tongue::English => said,
        }
    }
}

fn dotted(word: &str) -> String {
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { format!("{word}.") } else { word.to_owned() }
}

/// What stands in the slots of a form, if a text has this form.
fn slots<'a>(form: &'static str, text: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let Some((literal, rest)) = form.split_once('{') else { return (form == text).then(Vec::new) };
    let text = text.strip_prefix(literal)?;
    let (name, rest) = rest.split_once('}')?;
    let fits = |value: &str| !value.is_empty() && (name != "n" || value.bytes().all(|byte| byte.is_ascii_digit()));
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.filter(|end| fits(&text[..*end])).find_map(|end| {
        let mut held = slots(rest, &text[end..])?;
        held.insert(0, (name, &text[..end]));
        Some(held)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_said_in_the_language_of_the_conversation() {
        let (german, french) = (Speech { tongue: Tongue::German }, Speech { tongue: Tongue::French });
        assert_eq!(german.reason("It is due on Monday, 19 January."), "Es ist am Montag, 19. Januar fällig.");
        assert_eq!(
            french.reason("You have written to Sarah Chen 4 times."),
            "Vous avez déjà écrit 4 fois à Sarah Chen."
        );
        assert_eq!(
            german.reason("It comes from x.example, which looks like y.example but is not."),
            "Es kommt von x.example, das wie y.example aussieht, es aber nicht ist."
        );
        assert_eq!(french.reason("has a program attached, a.exe"), "a un programme en pièce jointe, a.exe");
        assert_eq!(german.reason("Something new."), "Something new.", "what has no form stays as it is");
        assert_eq!(Speech::default().reason("It is due today."), "It is due today.");
        assert_eq!(
            german.reasons("Friday, in the morning as wished, right before “Lunch, with Ana”, lunch stays free"),
            "Freitag, wie gewünscht am Vormittag, direkt vor „Lunch, with Ana“, die Mittagspause bleibt frei"
        );
    }

    #[test]
    fn every_form_has_the_same_slots_in_three_languages() {
        let names = |text: &str| -> std::collections::BTreeSet<String> {
            text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0.to_owned())).collect()
        };
        for form in FORMS.iter() {
            assert_eq!(names(form.english), names(form.german), "{}", form.english);
            assert_eq!(names(form.english), names(form.french), "{}", form.english);
        }
    }
}
