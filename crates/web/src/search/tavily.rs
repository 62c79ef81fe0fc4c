//! Tavily: a POST with the key as bearer.

use serde_json::{Value, json};

use super::{Found, RESULTS, Request};
use crate::address::Address;

pub(super) const ADDRESS: &str = "https://api.tavily.com/search";

pub(super) fn request(address: &Address, query: &str, key: Option<&str>) -> Result<Request, String> {
    let key = key.ok_or("Tavily needs a key: set TAVILY_API_KEY, or web.search_key_env")?;
    let body = Some(json!({ "query": query, "max_results": RESULTS }));
    let key = Some(("authorization", format!("Bearer {key}")));
    Ok(Request { method: reqwest::Method::POST, address: address.clone(), key, body })
}

pub(super) fn results(answer: &Value) -> Vec<Found> {
    super::results(answer.get("results"), "content")
}
