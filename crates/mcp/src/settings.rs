//! What is configured about one server.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// What is configured about one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// Its name: letters, digits, `-` and single `_`.
    pub name: Arc<str>,
    /// How it is reached.
    pub connection: Connection,
    /// The tools that are used, by the server's own names; all where nothing is said.
    pub tools: Option<Vec<String>>,
    /// Whether a program has a network.
    pub network: bool,
    /// How long a call may take.
    pub call_time: Duration,
    /// How many tokens the descriptions and schemas of its tools may have together; above that they are reached by
    /// [`FIND_TOOLS`](crate::FIND_TOOLS) and [`CALL_TOOL`](crate::CALL_TOOL).
    pub schema_tokens: usize,
    /// Whether a person vouches for the words in which it describes its tools: then they do not count as untrusted text.
    pub trusted: bool,
    /// Whether it may ask the model of an agent something in the middle of a call, at the agent's expense. Each request is decided like a call
    /// of one of its tools.
    pub sampling: bool,
    /// What is started or reached as its file writes it, with names of variables in the place of their values; none where the connection says
    /// it.
    pub written: Option<Arc<str>>,
    /// Where it is configured, for people.
    pub origin: Arc<str>,
}

impl ServerSettings {
    /// Exactly what is started or reached, for a person, without values of variables.
    pub fn shown(&self) -> String {
        self.written.as_ref().map_or_else(|| self.connection.shown(), |written| written.to_string())
    }
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum Connection {
    /// A program, over its input and output.
    Program {
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables that it gets besides `PATH`, `HOME`, `LANG` and `TMPDIR`.
        env: BTreeMap<String, String>,
        /// The folder that it is started in, in the workspace.
        cwd: Option<String>,
    },
    /// An address, over streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers of each request.
        headers: BTreeMap<String, String>,
    },
}

impl std::fmt::Debug for Connection {
    /// Values of variables and headers may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown())
    }
}

impl Connection {
    /// Exactly what is started or reached, for a person who decides about it. Values of variables and headers may be secrets and are not
    /// shown, their names are.
    pub fn shown(&self) -> String {
        let mut text = String::new();
        let hidden = |text: &mut String, named: &BTreeMap<String, String>, what: &str| {
            if !named.is_empty() {
                let names: Vec<String> = named.iter().map(|(name, value)| with_sources(name, value)).collect();
                let _ = write!(text, " ({what}: {})", names.join(", "));
            }
        };
        match self {
            Self::Program { command, env, cwd } => {
                let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
                text.push_str(&words.join(" "));
                if let Some(cwd) = cwd {
                    let _ = write!(text, " (in {cwd})");
                }
                hidden(&mut text, env, "variables");
            }
            Self::Http { url, headers } => {
                text.push_str(url);
                hidden(&mut text, headers, "headers");
            }
        }
        text
    }

    /// Names what is started or reached: another command or address is another server, whose tools are approved anew.
    pub fn identity(&self) -> Arc<str> {
        let mut hasher = blake3::Hasher::new();
        // With its length before it, no part can pass for another.
        let mut add = |part: &str| {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        };
        match self {
            Self::Program { command, cwd, .. } => {
                add("program");
                command.iter().for_each(|word| add(word));
                add(cwd.as_deref().unwrap_or_default());
            }
            Self::Http { url, .. } => {
                add("http");
                add(url);
            }
        }
        hasher.finalize().to_hex()[..16].into()
    }
}

/// A name whose value is not shown, with the variables of the environment that the value is made of: what is carried where must be seen.
fn with_sources(name: &str, value: &str) -> String {
    let mut sources = Vec::new();
    let mut rest = value;
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else { break };
        sources.push(&rest[at..=at + end]);
        rest = &rest[at + end + 1..];
    }
    match sources.is_empty() {
        true => name.to_owned(),
        false => format!("{name} from {}", sources.join(" and ")),
    }
}

/// A word as a shell would take it, so that two commands that differ look different.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(command: &[&str]) -> Connection {
        let env = BTreeMap::from([("TOKEN".to_owned(), "canary".to_owned())]);
        Connection::Program { command: command.iter().map(|word| (*word).to_owned()).collect(), env, cwd: None }
    }

    // T25, T61
    #[test]
    fn a_command_is_shown_whole_and_values_of_variables_never() {
        let shown = program(&["npx", "-y", "a b", "it's"]).shown();
        assert_eq!(shown, r"npx -y 'a b' 'it'\''s' (variables: TOKEN)");
        assert!(!format!("{:?}", program(&["x"])).contains("canary"));
    }

    // T47, T61
    #[test]
    fn variables_that_a_header_carries_out_are_named() {
        let headers = BTreeMap::from([("X-Key".to_owned(), "a ${AWS_SECRET} b ${HOME:-x}".to_owned())]);
        let shown = Connection::Http { url: "https://a.example/mcp".to_owned(), headers }.shown();
        assert_eq!(shown, "https://a.example/mcp (headers: X-Key from ${AWS_SECRET} and ${HOME:-x})");
    }

    #[test]
    fn another_command_is_another_server_and_another_secret_is_not() {
        assert_ne!(program(&["a", "b"]).identity(), program(&["a b"]).identity());
        let mut other = program(&["a"]);
        if let Connection::Program { env, .. } = &mut other {
            env.clear();
        }
        assert_eq!(program(&["a"]).identity(), other.identity());
    }
}
