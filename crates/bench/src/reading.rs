//! The least that an agent can be: it writes each request as JSON, reads the streamed answer, and does what the answer asks for.
//! Nothing is checked, limited, repeated or shown.

use std::path::Path;

use anyhow::Context;
use axum::body::Bytes;
use serde::Deserialize;
use serde_json::Value;

/// What an answer said.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// Its calls: the name of a tool, and its arguments as JSON.
    pub calls: Vec<(String, String)>,
}

impl Answer {
    /// Lists every folder that the answer wants listed: how many files there are.
    pub fn list(&self, workspace: &Path) -> anyhow::Result<usize> {
        let mut files = 0;
        for (_, arguments) in self.calls.iter().filter(|(name, _)| name == "list_dir") {
            let arguments: Value = serde_json::from_str(arguments)?;
            let path = arguments["path"].as_str().context("a folder is named")?;
            let mut names = Vec::new();
            for entry in std::fs::read_dir(workspace.join(path))? {
                let entry = entry?;
                names.push((entry.file_name(), entry.file_type()?.is_dir()));
            }
            names.sort();
            files += names.len();
        }
        Ok(files)
    }
}

/// A request that is written anew each time.
pub fn written(body: &Value) -> anyhow::Result<Bytes> {
    Ok(serde_json::to_vec(body)?.into())
}

/// Reads a stream piece by piece.
#[derive(Debug, Default)]
pub struct Reader {
    rest: Vec<u8>,
    answer: Answer,
}

impl Reader {
    /// Takes the next piece.
    pub fn feed(&mut self, piece: &[u8]) -> anyhow::Result<()> {
        self.rest.extend_from_slice(piece);
        let mut from = 0;
        while let Some(length) = self.rest[from..].iter().position(|byte| *byte == b'\n') {
            let line = &self.rest[from..from + length];
            from += length + 1;
            let Some(data) = line.strip_prefix(b"data: ").filter(|data| *data != b"[DONE]") else { continue };
            let chunk: Chunk = serde_json::from_slice(data)?;
            chunk.choices.into_iter().for_each(|choice| self.answer.take(choice.delta));
        }
        self.rest.drain(..from);
        Ok(())
    }

    /// What was said.
    pub fn end(self) -> Answer {
        self.answer
    }
}

impl Answer {
    fn take(&mut self, delta: Delta) {
        self.text.push_str(&delta.content.unwrap_or_default());
        for call in delta.tool_calls {
            if self.calls.len() <= call.index {
                self.calls.resize_with(call.index + 1, Default::default);
            }
            let (name, arguments) = &mut self.calls[call.index];
            name.push_str(&call.function.name.unwrap_or_default());
            arguments.push_str(&call.function.arguments.unwrap_or_default());
        }
    }
}

#[derive(Deserialize)]
struct Chunk {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    #[serde(default)]
    tool_calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    index: usize,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Asked, Who};

    #[test]
    fn an_answer_is_read_wherever_its_stream_is_cut() {
        let stream = Asked { who: Who::Lister, turn: 1 }.answer();
        for size in [1, 7, 100, stream.len()] {
            let mut reader = Reader::default();
            stream.as_bytes().chunks(size).for_each(|piece| reader.feed(piece).expect("events"));
            let calls = vec![("list_dir".to_owned(), r#"{"path":"kitchen"}"#.to_owned())];
            assert_eq!(reader.end(), Answer { text: String::new(), calls }, "in pieces of {size} bytes");
        }
    }
}
