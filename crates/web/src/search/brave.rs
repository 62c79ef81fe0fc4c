//! Brave: the key is sent in the header `X-Subscription-Token`.

use serde_json::Value;

use super::{Found, Request};
use crate::address::Address;

pub(super) const ADDRESS: &str = "https://api.search.brave.com/res/v1/web/search";

pub(super) fn request(address: &Address, query: &str, key: Option<&str>) -> Result<Request, String> {
    let key = key.ok_or("Brave needs a key: set BRAVE_API_KEY, or web.search_key_env")?;
    let mut url = address.url.clone();
    url.query_pairs_mut().append_pair("q", query);
    let key = Some(("x-subscription-token", key.to_owned()));
    Ok(Request { method: reqwest::Method::GET, address: Address::of(url)?, key, body: None })
}

pub(super) fn results(answer: &Value) -> Vec<Found> {
    super::results(answer.pointer("/web/results"), "description")
}
