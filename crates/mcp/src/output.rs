//! What a server returned, as a model reads it: text, bounded; the rest goes to a file that `read_file` can page.

use std::fmt::Write;

use agent::tools::ToolResult;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use tool::{RESULTS, ToolContext, Workspace};

/// The most characters of a result that a model reads at once.
const MOST_CHARS: usize = 20_000;
/// The most bytes that are kept in a file.
const MOST_KEPT: usize = 8 * 1024 * 1024;

/// The result of a call of a server's tool.
pub(crate) fn told(server: &str, result: &CallToolResult, context: &ToolContext) -> ToolResult {
    let text = words(result);
    let content = bounded(text, context);
    let is_error = result.is_error.unwrap_or_default();
    ToolResult { is_error, executed: is_error, foreign: Some(origin(server)), ..ToolResult::ok(content) }
}

/// The label of everything that a server says.
pub(crate) fn origin(server: &str) -> std::sync::Arc<str> {
    format!("MCP server {server}").into()
}

fn words(result: &CallToolResult) -> String {
    let mut text = String::new();
    for block in &result.content {
        if !text.is_empty() {
            text.push('\n');
        }
        match block {
            ContentBlock::Text(part) => text.push_str(&part.text),
            ContentBlock::Image(image) => {
                let _ =
                    write!(text, "[an image, {}, {} bytes in base64, is not shown]", image.mime_type, image.data.len());
            }
            ContentBlock::Audio(audio) => {
                let _ =
                    write!(text, "[audio, {}, {} bytes in base64, is not shown]", audio.mime_type, audio.data.len());
            }
            ContentBlock::Resource(embedded) => text.push_str(&resource(&embedded.resource)),
            ContentBlock::ResourceLink(link) => {
                let _ = write!(text, "[a link to {}: {}]", link.uri, link.name);
            }
            _ => text.push_str("[a part of a kind that is not known here]"),
        }
    }
    // The same is usually said as text, too.
    if text.is_empty()
        && let Some(value) = &result.structured_content
    {
        text = value.to_string();
    }
    if text.is_empty() { "(the tool returned nothing)".to_owned() } else { text }
}

/// The words of a resource.
pub(crate) fn resource(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => format!("[{uri}]\n{text}"),
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            let kind = mime_type.as_deref().unwrap_or("no type");
            format!("[{uri}: {kind}, {} bytes in base64, is not shown]", blob.len())
        }
        _ => "[a resource of a kind that is not known here]".to_owned(),
    }
}

fn bounded(text: String, context: &ToolContext) -> String {
    let Some((at, _)) = text.char_indices().nth(MOST_CHARS) else { return text };
    let call = context.call.as_str().replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_");
    cut(&text, at, &format!("{}-{call}", context.thread.as_str()), &context.workspace)
}

/// The beginning of a text, and where the whole is: a file of this name.
pub(crate) fn cut(text: &str, at: usize, name: &str, workspace: &Workspace) -> String {
    let (shown, part, all) = (&text[..at], text[..at].chars().count(), text.chars().count());
    match kept(text, name, workspace) {
        Ok(path) => format!(
            "{shown}\n[the first {part} of {all} characters; the whole result is in {path}: page it with read_file, offset and limit]"
        ),
        Err(why) => format!("{shown}\n[the first {part} of {all} characters; the rest could not be kept: {why}]"),
    }
}

/// Writes a result to a file of the workspace that git does not see.
fn kept(text: &str, name: &str, workspace: &Workspace) -> Result<String, String> {
    let write = |path: &str, content: &str| {
        let place = workspace.path(path).map_err(|error| error.to_string())?;
        let seen = tool::SeenFiles::default();
        let changed = workspace.change(&place, &seen, |_| Ok(content.as_bytes().to_vec()));
        changed.map(drop).map_err(|error| error.to_string())
    };
    let end = (0..=MOST_KEPT.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let path = format!("{RESULTS}{name}.txt");
    write(&path, &text[..end])?;
    // A file that is not ignored would be a change of the person's repository.
    let ignored = workspace.root().join(RESULTS).join(".gitignore");
    if !ignored.exists() {
        write(&format!("{RESULTS}.gitignore"), "*\n")?;
    }
    Ok(path)
}
