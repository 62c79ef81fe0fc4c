//! Agents that a product keeps inside its own settings: the key `agent` of `opencode.json`. Each becomes the text of a file as `foreign.rs` reads it.
//!
//! The file may hold comments and commas at ends, as opencode reads it. A prompt of the form `{file:PATH}` is read from that file, which has to lie
//! below the folder of the settings. A file that cannot be read is one broken agent, which is named; one without agents is none.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Product;

/// The names of the settings.
const NAMES: [&str; 2] = ["opencode.json", "opencode.jsonc"];

/// An agent inside settings.
#[derive(Debug)]
pub(crate) struct Inside {
    pub(crate) product: Product,
    pub(crate) name: String,
    /// The settings.
    pub(crate) path: PathBuf,
    /// The agent as a file of its own, or why it cannot be read.
    pub(crate) text: Result<String, String>,
}

/// The agents in the settings of a folder. `read` reads a file: none where it is not there.
pub(crate) fn inside(folder: &Path, read: impl Fn(&Path) -> Option<Result<String, String>>) -> Vec<Inside> {
    let mut found = Vec::new();
    for path in NAMES.map(|name| folder.join(name)) {
        let Some(text) = read(&path) else { continue };
        let settings = text.and_then(|text| {
            serde_json::from_str::<Value>(&plain_json(&text)).map_err(|error| format!("line {}: {error}", error.line()))
        });
        let of =
            |name: &str, text| Inside { product: Product::Opencode, name: name.to_owned(), path: path.clone(), text };
        match settings {
            Ok(settings) => {
                let agents = settings.get("agent").and_then(Value::as_object).into_iter().flatten();
                found.extend(agents.map(|(name, agent)| of(name, as_file(name, agent, folder, &read))));
            }
            Err(why) => found.push(of("", Err(why))),
        }
    }
    found
}

fn as_file(
    name: &str,
    agent: &Value,
    folder: &Path,
    read: &impl Fn(&Path) -> Option<Result<String, String>>,
) -> Result<String, String> {
    let agent = agent.as_object().ok_or_else(|| format!("agent.{name} is no object"))?;
    let mut fields: Map<String, Value> = agent.clone();
    let prompt = fields.remove("prompt").and_then(|prompt| prompt.as_str().map(str::to_owned)).unwrap_or_default();
    let prompt = match prompt.trim().strip_prefix("{file:").and_then(|rest| rest.strip_suffix('}')) {
        None => prompt,
        Some(file) => {
            let path = Path::new(file.trim());
            if path.is_absolute() || path.components().any(|part| part == std::path::Component::ParentDir) {
                return Err(format!("agent.{name}: its prompt {file} is not below the settings"));
            }
            let cannot = || format!("agent.{name}: its prompt {file} cannot be read");
            read(&folder.join(path)).ok_or_else(cannot)?.map_err(|why| format!("{}: {why}", cannot()))?
        }
    };
    fields.insert("name".to_owned(), name.into());
    Ok(format!("---\n{}\n---\n{prompt}\n", Value::Object(fields)))
}

/// JSON without comments and without commas at the ends of lists.
fn plain_json(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut in_text = false;
    while let Some(c) = rest.next() {
        match (in_text, c, rest.peek()) {
            (true, '\\', _) => {
                plain.push(c);
                plain.extend(rest.next());
                continue;
            }
            (_, '"', _) => in_text = !in_text,
            (false, '/', Some('/')) => {
                while rest.peek().is_some_and(|c| *c != '\n') {
                    rest.next();
                }
                continue;
            }
            (false, '/', Some('*')) => {
                rest.next();
                let mut before = ' ';
                // The lines are counted for messages.
                for c in rest.by_ref() {
                    if c == '\n' {
                        plain.push(c);
                    }
                    if (before, c) == ('*', '/') {
                        break;
                    }
                    before = c;
                }
                continue;
            }
            (false, '}' | ']', _) => {
                let end = plain.trim_end().len();
                if plain[..end].ends_with(',') {
                    plain.replace_range(end - 1..end, " ");
                }
            }
            _ => {}
        }
        plain.push(c);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> Option<Result<String, String>> {
        match path.file_name()?.to_str()? {
            "opencode.json" => Some(Ok(r#"{
                // "agent": {"commented": {}},
                "theme": "a // no comment", /* nor
                this */
                "agent": {
                    "review": {"description": "Reviews", "mode": "subagent", "prompt": "{file:./prompts/review.md}", "tools": {"write": false},},
                    "plain": {"description": "Plain", "prompt": "Be plain."},
                    "escaping": {"description": "x", "prompt": "{file:../../etc/passwd}"},
                    "odd": 3,
                },
            }"#
            .to_owned())),
            "review.md" => Some(Ok("Review with care.".to_owned())),
            _ => None,
        }
    }

    // T19
    #[test]
    fn no_agent_writes_these_settings_without_approval() {
        for name in NAMES {
            assert!(tool::is_protected(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn agents_inside_settings_are_files_of_their_own() {
        let found = inside(Path::new("/project"), read);
        let text = |name: &str| found.iter().find(|agent| agent.name == name).expect("it is there").text.clone();
        assert!(text("review").unwrap().ends_with("---\nReview with care.\n"), "{:?}", text("review"));
        assert!(
            text("plain").unwrap().contains(r#""name":"plain""#) && text("plain").unwrap().ends_with("Be plain.\n")
        );
        assert!(text("odd").is_err(), "a wrong one is named, and the others count");
        assert!(text("escaping").unwrap_err().contains("not below"), "no file from elsewhere becomes a prompt");
    }

    #[test]
    fn settings_that_are_no_json_are_one_broken_agent() {
        let found = inside(Path::new("/p"), |path| path.ends_with("opencode.json").then(|| Ok("{\n nope".to_owned())));
        assert!(found.len() == 1 && found[0].text.as_ref().unwrap_err().starts_with("line 2"), "{found:?}");
    }
}
