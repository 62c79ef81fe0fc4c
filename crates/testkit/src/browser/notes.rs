//! What a page did between the questions of a test: what it requested, what it complained about; and the answers that are given to it in the
//! place of a server's.

use std::sync::Mutex;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::wire::{Wire, lock};

/// A request of a page.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Where to.
    pub url: String,
    /// How.
    pub method: String,
    /// What the browser says that it is for: `Document`, `Script`, `Fetch`, `Image`, …
    pub kind: String,
    /// The status of the answer, once there is one.
    pub status: Option<u64>,
    /// The bytes of the answer as they were on the wire, its head included, once it is complete.
    pub bytes: u64,
    id: String,
}

/// Something that a page complained about in its console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Who complains: `network` of a request that failed, `security` of one that the page's policy forbids, `exception`, …
    pub source: String,
    /// What it says.
    pub text: String,
}

/// What is taken down of a page.
#[derive(Default)]
pub(super) struct Notes {
    requests: Mutex<Vec<Request>>,
    complaints: Mutex<Vec<Complaint>>,
    /// What every request of the page that was held up is answered with.
    answer: Mutex<Option<Answer>>,
}

/// An answer in the place of a server's.
struct Answer {
    kind: String,
    body: String,
}

impl Notes {
    pub(super) fn requests(&self) -> Vec<Request> {
        lock(&self.requests).clone()
    }

    pub(super) fn complaints(&self) -> Vec<Complaint> {
        lock(&self.complaints).clone()
    }

    pub(super) fn answer_with(&self, kind: &str, body: &str) {
        *lock(&self.answer) = Some(Answer { kind: kind.to_owned(), body: STANDARD.encode(body) });
    }

    /// Takes down what the browser tells about a page.
    pub(super) fn hear(&self, wire: &Wire, page: &str, method: &str, told: &Value) {
        match method {
            "Network.requestWillBeSent" => lock(&self.requests).push(Request {
                url: text(&told["request"]["url"]),
                method: text(&told["request"]["method"]),
                kind: text(&told["type"]),
                id: text(&told["requestId"]),
                ..Request::default()
            }),
            "Network.responseReceived" => {
                self.note(told, |request| request.status = told["response"]["status"].as_u64());
            }
            "Network.loadingFinished" => {
                // It is a number with a fraction on the wire.
                let bytes = told["encodedDataLength"].as_f64().unwrap_or_default() as u64;
                self.note(told, |request| request.bytes = bytes);
            }
            "Fetch.requestPaused" => self.answer(wire, page, told),
            "Runtime.exceptionThrown" => {
                let details = &told["exceptionDetails"];
                let thrown = text(&details["exception"]["description"]);
                self.complain("exception", &format!("{} {thrown}", text(&details["text"])));
            }
            "Runtime.consoleAPICalled" if matches!(told["type"].as_str(), Some("error" | "assert")) => {
                self.complain("console", &told["args"].to_string());
            }
            "Log.entryAdded" if told["entry"]["level"] == "error" => {
                let entry = &told["entry"];
                self.complain(&text(&entry["source"]), &format!("{} {}", text(&entry["text"]), text(&entry["url"])));
            }
            _ => {}
        }
    }

    fn note(&self, told: &Value, what: impl Fn(&mut Request)) {
        // A redirection keeps its number: the last of them is the one that is answered.
        if let Some(request) = lock(&self.requests).iter_mut().rev().find(|request| told["requestId"] == *request.id) {
            what(request);
        }
    }

    fn answer(&self, wire: &Wire, page: &str, told: &Value) {
        let request = &told["requestId"];
        match &*lock(&self.answer) {
            Some(Answer { kind, body }) => {
                let headers = json!([{"name": "content-type", "value": kind}]);
                let answer =
                    json!({"requestId": request, "responseCode": 200, "responseHeaders": headers, "body": body});
                wire.tell(page, "Fetch.fulfillRequest", &answer);
            }
            None => wire.tell(page, "Fetch.continueRequest", &json!({"requestId": request})),
        }
    }

    fn complain(&self, source: &str, text: &str) {
        lock(&self.complaints).push(Complaint { source: source.to_owned(), text: text.trim().to_owned() });
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
