//! iCalendar as text: folded lines, properties with parameters, nested components (RFC 5545, section 3.1).
//!
//! Lenient: any line ending, any case, and lines that cannot be read are skipped. [`event`](super::event) reads what a property
//! means, [`proposal`](super::proposal) writes.

use std::borrow::Cow;

/// How deep components may nest before a file is taken for nonsense.
const MAX_DEPTH: usize = 8;

/// A component: `VCALENDAR`, `VEVENT`, `VTIMEZONE` and so on.
#[derive(Debug, Default)]
pub(crate) struct Component {
    /// Its name, in capitals.
    pub name: String,
    pub properties: Vec<Property>,
    pub components: Vec<Component>,
    /// False where the text broke off before its end.
    pub is_whole: bool,
}

/// One line of a component.
#[derive(Debug)]
pub(crate) struct Property {
    /// Its name, in capitals.
    pub name: String,
    /// Its parameters, names in capitals.
    pub parameters: Vec<(String, String)>,
    /// Its value, as written.
    pub value: String,
}

impl Component {
    /// The outermost components of a text.
    pub fn read(text: &str) -> Vec<Component> {
        let mut found = Vec::new();
        let mut open: Vec<Component> = Vec::new();
        for line in unfolded(text) {
            let Some(property) = Property::read(&line) else { continue };
            match property.name.as_str() {
                "BEGIN" if open.len() < MAX_DEPTH => {
                    open.push(Component { name: property.value.trim().to_ascii_uppercase(), ..Component::default() });
                }
                "END" => {
                    let name = property.value.trim();
                    // An end closes what it names; what was left open inside is broken and closed with it.
                    let Some(depth) = open.iter().rposition(|component| component.name.eq_ignore_ascii_case(name))
                    else {
                        continue;
                    };
                    close(&mut open, depth + 1, &mut found);
                    if let Some(component) = open.last_mut() {
                        component.is_whole = true;
                    }
                    close(&mut open, depth, &mut found);
                }
                _ => {
                    if let Some(component) = open.last_mut() {
                        component.properties.push(property);
                    }
                }
            }
        }
        close(&mut open, 0, &mut found);
        found
    }

    /// The first property of a name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// All properties of a name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Property> {
        self.properties.iter().filter(move |property| property.name == name)
    }

    /// The text of the first property of a name, where there is any.
    pub fn text(&self, name: &str) -> Option<String> {
        self.property(name).map(Property::text).filter(|text| !text.is_empty())
    }
}

/// Puts every open component deeper than `depth` into the one around it.
fn close(open: &mut Vec<Component>, depth: usize, found: &mut Vec<Component>) {
    while open.len() > depth {
        let Some(component) = open.pop() else { return };
        match open.last_mut() {
            Some(around) => around.components.push(component),
            None => found.push(component),
        }
    }
}

impl Property {
    /// One unfolded line; none where it has no name or no value.
    fn read(line: &str) -> Option<Self> {
        let mut name_end = None;
        let mut cuts = Vec::new();
        let mut is_quoted = false;
        let mut value_start = None;
        for (at, character) in line.char_indices() {
            match character {
                '"' => is_quoted = !is_quoted,
                ';' | ':' if !is_quoted => {
                    name_end.get_or_insert(at);
                    cuts.push(at);
                    if character == ':' {
                        value_start = Some(at + 1);
                        break;
                    }
                }
                _ => {}
            }
        }
        let name = line[..name_end?].trim().to_ascii_uppercase();
        let value = line[value_start?..].to_owned();
        let parameters = cuts.windows(2).filter_map(|cut| {
            let (name, value) = line[cut[0] + 1..cut[1]].split_once('=')?;
            Some((name.trim().to_ascii_uppercase(), value.trim().trim_matches('"').to_owned()))
        });
        (!name.is_empty()).then(|| Self { parameters: parameters.collect(), name, value })
    }

    /// A parameter by its name.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value as text: escapes undone, ends trimmed, control characters gone.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.value.len());
        let mut letters = self.value.chars();
        while let Some(character) = letters.next() {
            match character {
                '\\' => match letters.next() {
                    Some('n' | 'N') => text.push('\n'),
                    Some(escaped) => text.push(escaped),
                    None => {}
                },
                character if character.is_control() && character != '\t' => {}
                character => text.push(character),
            }
        }
        text.trim().to_owned()
    }
}

/// The lines of a text, each with the lines that continue it.
fn unfolded(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let mut lines = text.trim_start_matches('\u{feff}').split(['\n', '\r']).filter(|line| !line.is_empty()).peekable();
    std::iter::from_fn(move || {
        let mut line = Cow::Borrowed(lines.next()?);
        while let Some(more) = lines.next_if(|next| next.starts_with([' ', '\t'])) {
            line.to_mut().push_str(&more[1..]);
        }
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_unfolded_and_parameters_may_be_quoted() {
        let text = "\u{feff}begin:vevent\r\nSUMMARY:Lunch\r\n  with\r\n\t Ana\r\nATTENDEE;CN=\"A: B; C\";RSVP=TRUE:mailto:a@b.example\nEND:VEVENT\n";
        let [event] = &Component::read(text)[..] else { panic!("one component") };
        assert!(event.is_whole);
        assert_eq!(event.text("SUMMARY").as_deref(), Some("Lunch with Ana"));
        let attendee = event.property("ATTENDEE").expect("an attendee");
        assert_eq!((attendee.parameter("CN"), attendee.value.as_str()), (Some("A: B; C"), "mailto:a@b.example"));
    }

    #[test]
    fn escapes_are_undone() {
        let text = "BEGIN:X\nS:one\\, two\\; three\\\\ four\\nfive\\\nEND:X";
        assert_eq!(Component::read(text)[0].text("S").as_deref(), Some("one, two; three\\ four\nfive"));
    }

    #[test]
    fn what_breaks_off_is_not_whole_and_leaves_its_neighbours_alone() {
        let text = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nEND:VEVENT\nno line at all\nBEGIN:VEVENT\nUID:2\n";
        let [calendar] = &Component::read(text)[..] else { panic!("one calendar") };
        let whole: Vec<bool> = calendar.components.iter().map(|event| event.is_whole).collect();
        assert_eq!((calendar.is_whole, whole), (false, vec![true, false]));
        let crossed = Component::read("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\nEND:VEVENT\n");
        assert!(crossed[0].is_whole && !crossed[0].components[0].is_whole);
    }

    #[test]
    fn nesting_has_an_end() {
        let deep = Component::read(&"BEGIN:A\n".repeat(100_000));
        let depth = std::iter::successors(deep.first(), |component| component.components.first()).count();
        assert_eq!(depth, MAX_DEPTH);
    }
}
