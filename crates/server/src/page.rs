//! The page's files, as they are in the binary: each made smaller once, when the page is first asked for, and handed out in the form
//! that a browser says it reads.
//!
//! For work on the page itself they are read from a folder instead, at each request and as they are. What the page does is in
//! `page/`; who may ask for it is `access`' business.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Component, Path as FilePath, PathBuf};
use std::sync::LazyLock;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_embed::RustEmbed;

use crate::problem::Problem;
use crate::server::Shared;

#[derive(RustEmbed)]
#[folder = "page/"]
struct Files;

/// Where the page's files come from.
pub(crate) enum Page {
    /// The binary.
    Inside,
    /// A folder on the disk.
    Folder(PathBuf),
}

/// One file, in both forms.
struct File {
    kind: &'static str,
    tag: String,
    plain: Bytes,
    /// None where it would not be smaller.
    gzip: Option<Bytes>,
}

static FILES: LazyLock<BTreeMap<String, File>> = LazyLock::new(|| {
    let one = |path: &str| Some((path.to_owned(), File::new(path, Files::get(path)?.data.into_owned())));
    Files::iter().filter_map(|path| one(&path)).collect()
});

/// The page itself.
pub(crate) async fn index(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    shared.page.answer("index.html", &headers)
}

/// One of its files.
pub(crate) async fn asset(State(shared): State<Shared>, Path(path): Path<String>, headers: HeaderMap) -> Response {
    shared.page.answer(&path, &headers)
}

impl Page {
    pub fn new(folder: Option<PathBuf>) -> Self {
        folder.map_or(Self::Inside, Self::Folder)
    }

    /// A file of the page. Only names that are in the binary, or in the folder itself, lead anywhere.
    fn answer(&self, path: &str, headers: &HeaderMap) -> Response {
        let answer = match self {
            Self::Inside => FILES.get(path).map(|file| file.answer(headers)),
            Self::Folder(folder) => read(folder, path).map(|bytes| File::plain(path, bytes).answer(headers)),
        };
        answer.unwrap_or_else(|| Problem::missing("there is no such file").into_response())
    }
}

impl File {
    fn new(path: &str, bytes: Vec<u8>) -> Self {
        let bytes = if path.ends_with(".js") { without_comments(&bytes) } else { bytes };
        let gzip = compressed(&bytes).filter(|gzip| gzip.len() < bytes.len()).map(Bytes::from);
        Self { gzip, ..Self::plain(path, bytes) }
    }

    fn plain(path: &str, bytes: Vec<u8>) -> Self {
        let tag = blake3::hash(&bytes).to_hex()[..24].to_owned();
        Self { kind: kind(path), tag, plain: bytes.into(), gzip: None }
    }

    fn answer(&self, headers: &HeaderMap) -> Response {
        let gzip = self.gzip.as_ref().filter(|_| reads_gzip(headers));
        // Each form has a tag of its own: one is never taken for the other.
        let tag = format!("\"{}{}\"", self.tag, if gzip.is_some() { "-gzip" } else { "" });
        let mut response = if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes())
        {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            ([(header::CONTENT_TYPE, self.kind)], gzip.unwrap_or(&self.plain).clone()).into_response()
        };
        let said = response.headers_mut();
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            said.insert(header::ETAG, tag);
        }
        said.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        said.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if gzip.is_some() {
            said.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

/// A module with an empty line in the place of each line that holds nothing but a comment: readers of the page need none, and what the
/// browser says of a line is still true.
fn without_comments(module: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(module);
    let (mut kept, mut is_within) = (String::with_capacity(text.len()), false);
    for line in text.lines() {
        let code = line.trim_start();
        let is_comment = if is_within || code.starts_with("/*") {
            let rest = code.split_once("*/").map(|(_, rest)| rest);
            is_within = rest.is_none();
            rest.is_none_or(|rest| rest.trim().is_empty())
        } else {
            code.starts_with("//")
        };
        kept.push_str(if is_comment { "" } else { line });
        kept.push('\n');
    }
    kept.into_bytes()
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

fn compressed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

/// Whether the request accepts gzip, by name or by `*`, with a weight above 0.
fn reads_gzip(headers: &HeaderMap) -> bool {
    let weight = |wanted: &str| {
        let said = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        said.flat_map(|value| value.split(',')).find_map(|part| {
            let (name, weight) = part.split_once(';').unwrap_or((part, "q=1"));
            let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.trim().parse::<f32>().ok());
            name.trim().eq_ignore_ascii_case(wanted).then(|| weight.unwrap_or(0.0))
        })
    };
    weight("gzip").or_else(|| weight("*")).is_some_and(|weight| weight > 0.0)
}

/// A file of a folder; none where its name would lead out of it.
fn read(folder: &FilePath, path: &str) -> Option<Vec<u8>> {
    let path = FilePath::new(path);
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    if is_inside { std::fs::read(folder.join(path)).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use axum::body::to_bytes;
    use flate2::read::GzDecoder;

    use super::*;

    fn asking(encoding: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(encoding))])
    }

    async fn body(response: Response) -> Vec<u8> {
        to_bytes(response.into_body(), usize::MAX).await.expect("a body").to_vec()
    }

    #[tokio::test]
    async fn a_browser_is_given_the_form_it_reads_and_both_hold_the_same() {
        let page = Page::new(None);
        let plain = page.answer("main.js", &asking("gzip;q=0, identity"));
        assert!(!plain.headers().contains_key(header::CONTENT_ENCODING));
        let small = page.answer("main.js", &asking("br, gzip"));
        assert_eq!(small.headers()[header::CONTENT_ENCODING], "gzip");
        assert_eq!(small.headers()[header::VARY], "accept-encoding");
        assert_ne!(small.headers()[header::ETAG], plain.headers()[header::ETAG]);
        let (plain, small) = (body(plain).await, body(small).await);
        let mut unpacked = Vec::new();
        GzDecoder::new(&small[..]).read_to_end(&mut unpacked).expect("gzip");
        assert_eq!(unpacked, plain);
        assert!(small.len() < plain.len());
    }

    #[tokio::test]
    async fn what_a_browser_has_already_is_not_sent_again() {
        let page = Page::new(None);
        let tag = page.answer("index.html", &asking("*")).headers()[header::ETAG].clone();
        let mut again = asking("*");
        again.insert(header::IF_NONE_MATCH, tag.clone());
        assert_eq!(page.answer("index.html", &again).status(), StatusCode::NOT_MODIFIED);
        let mut as_plain = asking("identity");
        as_plain.insert(header::IF_NONE_MATCH, tag);
        assert_eq!(page.answer("index.html", &as_plain).status(), StatusCode::OK, "another form of it");
    }

    #[test]
    fn what_is_left_out_of_a_module_is_only_comments() {
        let module =
            "// Head.\n/**\n * Told.\n */\nlet a = 1; // kept\n/** @type {X} */ (a).b();\n  /** One line. */\n  f();\n";
        let kept = "\n\n\n\nlet a = 1; // kept\n/** @type {X} */ (a).b();\n\n  f();\n";
        assert_eq!(String::from_utf8_lossy(&without_comments(module.as_bytes())), kept);
    }

    #[test]
    fn the_first_visit_loads_well_under_150_kilobytes() {
        let sent: usize = FILES.values().map(|file| file.gzip.as_ref().unwrap_or(&file.plain).len()).sum();
        assert!(sent < 100 * 1024, "{sent} bytes");
    }

    #[tokio::test]
    async fn a_folder_is_read_at_each_request_and_nothing_beside_it() {
        let folder = tempfile::tempdir().expect("a passing folder");
        std::fs::create_dir(folder.path().join("page")).expect("a folder");
        std::fs::write(folder.path().join("secret"), "x").expect("a file");
        let page = Page::new(Some(folder.path().join("page")));
        for words in ["one", "two"] {
            std::fs::write(folder.path().join("page/main.js"), words).expect("a file");
            assert_eq!(body(page.answer("main.js", &asking("gzip"))).await, words.as_bytes());
        }
        for path in ["../secret", "/etc/passwd", "a/../../secret", ""] {
            assert_eq!(page.answer(path, &asking("gzip")).status(), StatusCode::NOT_FOUND, "{path}");
        }
    }
}
