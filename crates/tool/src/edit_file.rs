//! `edit_file`: exact pieces of a file replaced by others, all or none.
//!
//! A piece must be there exactly once unless all are meant. Where it is not, the error tells what is there. Nothing is
//! matched roughly: a near miss that is applied is a wrong edit that nobody sees.
//!
//! Files whose lines end in CRLF keep that, whichever line ends the model writes.

mod help;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use agent::tools::{Reach, Risk, ToolResult};
use serde::Deserialize;

use crate::args;
use crate::context::ToolContext;
use crate::error::Error;
use crate::on_path::{OnPath, never};
use crate::text;
use crate::tool::{Tool, info};
use crate::workspace::WorkPath;

/// What models call it by.
pub(crate) const NAME: &str = "edit_file";

const MAX_DIFF_CHARS: usize = 4000;

pub(crate) fn tool() -> impl Tool {
    OnPath {
        info: info(NAME, DESCRIPTION, SCHEMA, Reach::Workspace, false, Risk::Medium),
        example: r#"{"path": "src/main.rs", "old_text": "let x = 1;", "new_text": "let x = 2;"}"#,
        usual: None,
        act,
        at_once: never,
    }
}

const DESCRIPTION: &str = "Replace exact text in a file that you have read. old_text must occur once, without line numbers, or set all. For several changes give edits, applied in order.";

const SCHEMA: &str = r#"{"type":"object","properties":{"path":{"type":"string"},"old_text":{"type":"string"},"new_text":{"type":"string"},"all":{"type":"boolean"},"edits":{"type":"array","items":{"type":"object","properties":{"old_text":{"type":"string"},"new_text":{"type":"string"},"all":{"type":"boolean"}},"required":["old_text","new_text"]}}},"required":["path"]}"#;

#[derive(Deserialize)]
pub(crate) struct Args {
    #[serde(default, alias = "old_string")]
    old_text: Option<String>,
    #[serde(default, alias = "new_string")]
    new_text: Option<String>,
    #[serde(default, alias = "replace_all", deserialize_with = "args::flag")]
    all: bool,
    #[serde(default, deserialize_with = "args::list")]
    edits: Vec<Edit>,
}

#[derive(Clone, Deserialize)]
pub(crate) struct Edit {
    #[serde(alias = "old_string")]
    pub old_text: String,
    #[serde(alias = "new_string")]
    pub new_text: String,
    #[serde(default, alias = "replace_all", deserialize_with = "args::flag")]
    pub all: bool,
}

impl Args {
    /// The edits in their order, or why it is not said which are meant.
    pub fn edits(&self) -> Result<Vec<Edit>, &'static str> {
        match (&self.old_text, &self.new_text) {
            // A person who consents to one form must not find that the other was applied besides.
            (Some(_), Some(_)) if !self.edits.is_empty() => {
                Err("it has old_text and new_text, and edits too; put all of them into edits")
            }
            (Some(old_text), Some(new_text)) => {
                Ok(vec![Edit { old_text: old_text.clone(), new_text: new_text.clone(), all: self.all }])
            }
            (None, None) if !self.edits.is_empty() => Ok(self.edits.clone()),
            _ => Err("give old_text and new_text, or edits"),
        }
    }
}

fn act(args: &Args, path: &WorkPath, context: &ToolContext) -> Result<ToolResult, Error> {
    let edits = match args.edits() {
        Ok(edits) => edits,
        Err(why) => return Ok(ToolResult::error(format!("edit_file was not run: {why}"))),
    };
    let unchanged = |why| Error::Unchanged { path: path.to_string(), why };
    let mut places = 0;
    let change = context.workspace.change(path, &context.seen_files, |found| {
        let bytes = found.ok_or_else(|| Error::Missing { path: path.to_string() })?;
        let content = std::str::from_utf8(bytes)
            .map_err(|_| unchanged("it is not UTF-8 text; change it with run_command".to_owned()))?;
        let (edited, replaced) = apply(content, &edits).map_err(unchanged)?;
        places = replaced;
        Ok(edited.into_bytes())
    })?;
    let before = change.before.unwrap_or_default();
    let diff = diff(path.as_str(), &String::from_utf8_lossy(&before), &String::from_utf8_lossy(&change.after));
    let said = format!("edited {path} in {}\n{diff}", text::count(places, "place"));
    Ok(ToolResult { files_modified: vec![path.as_str().into()], ..ToolResult::ok(said.trim_end()) })
}

/// The content with all edits made in order, and in how many places; or why nothing was done.
fn apply(content: &str, edits: &[Edit]) -> Result<(String, usize), String> {
    let crlf = content.matches("\r\n").count();
    let all_crlf = crlf > 0 && crlf == content.matches('\n').count();
    let mut edited = if all_crlf { content.replace("\r\n", "\n") } else { content.to_owned() };
    let mut places = 0;
    for (at, edit) in edits.iter().enumerate() {
        let (old, new) = ends(&edited, edit, all_crlf);
        let here =
            |why: String| if edits.len() > 1 { format!("edit {} of {}: {why}", at + 1, edits.len()) } else { why };
        if old.is_empty() {
            return Err(here("old_text is empty; name the text to replace, or use write_file".to_owned()));
        }
        if old == new {
            return Err(here("old_text and new_text are the same".to_owned()));
        }
        let found = edited.matches(&*old).count();
        match found {
            0 => return Err(here(help::not_found(&edited, &old))),
            1 => {}
            _ if edit.all => {}
            _ => return Err(here(help::ambiguous(&edited, &old, found))),
        }
        edited = edited.replace(&*old, &new);
        places += found;
    }
    Ok((if all_crlf { edited.replace('\n', "\r\n") } else { edited }, places))
}

/// An edit in the line ends of what it is made on. A file that mixes them is matched as written first.
fn ends<'a>(content: &str, edit: &'a Edit, all_crlf: bool) -> (Cow<'a, str>, Cow<'a, str>) {
    let (old, new) = (&*edit.old_text, &*edit.new_text);
    if all_crlf {
        return (old.replace("\r\n", "\n").into(), new.replace("\r\n", "\n").into());
    }
    let with_crlf = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    if old.contains('\n') && !content.contains(old) && content.contains(&with_crlf(old)) {
        return (with_crlf(old).into(), with_crlf(new).into());
    }
    (old.into(), new.into())
}

fn diff(path: &str, before: &str, after: &str) -> String {
    text::clip(&crate::diff::unified(path, before, after).replace("\r\n", "\n"), MAX_DIFF_CHARS).into_owned()
}
