//! SearXNG: an instance of one's own, with `json` among its `search.formats`.

use serde_json::Value;

use super::{Found, Request};
use crate::address::Address;

/// Where an instance usually listens.
pub(super) const ADDRESS: &str = "http://127.0.0.1:8080";

pub(super) fn request(address: &Address, query: &str) -> Result<Request, String> {
    let mut url = address.url.clone();
    if !url.path().ends_with("/search") {
        let path = format!("{}/search", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
    Ok(Request { method: reqwest::Method::GET, address: Address::of(url)?, key: None, body: None })
}

pub(super) fn results(answer: &Value) -> Vec<Found> {
    super::results(answer.get("results"), "content")
}
