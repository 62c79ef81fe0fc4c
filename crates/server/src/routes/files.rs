//! Files that come with messages: how they are read from a request, and how they are handed out again.
//!
//! Nothing that was sent is handed out as something that a browser would run or open in our own place: images are images, and everything
//! else is bytes to be saved.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use majordomo::Work;
use majordomo::files::image_type;

use super::extract::PathParam;
use crate::problem::Problem;
use crate::server::Shared;
use crate::shapes::{MAX_FILE_BYTES, MAX_FILE_NAME, MAX_FILES, SentFile};

/// What is under an id never changes.
const FOREVER: &str = "private, max-age=31536000, immutable";

/// `GET files/{id}`: an image or a document that came with a message.
pub async fn show(State(shared): State<Shared>, PathParam(id): PathParam) -> Result<Response, Problem> {
    let missing = || Problem::missing(format!("no file is kept under '{id}'"));
    let bytes = shared.staff.attached_bytes(&id).await.ok_or_else(missing)?;
    let (kind, how) = match image_type(&bytes) {
        Some(kind) => (kind, "inline"),
        None => ("application/octet-stream", "attachment"),
    };
    let said = [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, how), (header::CACHE_CONTROL, FOREVER)];
    Ok((said, bytes).into_response())
}

/// Adds the files of a request to a message.
pub fn with_files(work: Work, files: Vec<SentFile>) -> Result<Work, Problem> {
    if files.len() > MAX_FILES {
        let count = files.len();
        return Err(Problem::unusable(format!("the message has {count} files, and {MAX_FILES} is the most")));
    }
    let mut rest = MAX_FILE_BYTES;
    files.into_iter().try_fold(work, |work, SentFile { name, data }| {
        let name = plain_name(&name)?;
        let bytes = STANDARD
            .decode(data)
            .map_err(|error| Problem::unusable(format!("the data of {name} is no base64: {error}")))?;
        if bytes.is_empty() {
            return Err(Problem::unusable(format!("{name} is empty")));
        }
        rest = rest.checked_sub(bytes.len()).ok_or_else(|| {
            let most = MAX_FILE_BYTES >> 20;
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("all files of a message have at most {most} MiB"))
        })?;
        Ok(work.file_bytes(name, bytes))
    })
}

/// The name of a file, without the folders that some programs send with it.
fn plain_name(sent: &str) -> Result<String, Problem> {
    let name = sent.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    match name {
        "" | "." | ".." => Err(Problem::unusable(format!("'{sent}' is no name of a file"))),
        _ if name.chars().count() > MAX_FILE_NAME => {
            Err(Problem::unusable(format!("the name of a file has at most {MAX_FILE_NAME} characters")))
        }
        _ if name.chars().any(char::is_control) => {
            Err(Problem::unusable("the name of a file has no control characters"))
        }
        _ => Ok(name.to_owned()),
    }
}
