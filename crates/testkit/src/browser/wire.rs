//! Messages to the browser and back: JSON, each ended by a zero byte.
//!
//! One thread reads. An answer goes to the caller that asked, everything else to the page that it is about; a page that has to say
//! something at once (what a request is answered with) may do so from there, for `tell` waits for nothing.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

use super::notes::Notes;
use crate::world::PATIENCE;

/// The way to a browser.
pub(super) struct Wire {
    into: Mutex<ChildStdin>,
    last: AtomicU64,
    /// The callers that wait for an answer; none once the browser is gone.
    asking: Mutex<Option<HashMap<u64, Sender<Value>>>>,
    pages: Mutex<HashMap<String, Arc<Notes>>>,
}

impl Wire {
    /// The way through these pipes.
    pub(super) fn between(into: ChildStdin, out: ChildStdout) -> Arc<Self> {
        let wire = Arc::new(Self {
            into: Mutex::new(into),
            last: AtomicU64::new(0),
            asking: Mutex::new(Some(HashMap::new())),
            pages: Mutex::default(),
        });
        let reading = wire.clone();
        thread::spawn(move || reading.read(BufReader::new(out)));
        wire
    }

    /// Asks for something and waits for the answer.
    pub(super) fn ask(&self, page: Option<&str>, method: &str, with: &Value) -> Result<Value, String> {
        let (answered, answer) = channel();
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        match &mut *lock(&self.asking) {
            Some(asking) => asking.insert(id, answered),
            None => return Err(format!("{method}: the browser is gone")),
        };
        self.send(id, page, method, with);
        awaited(&answer).map_err(|error| format!("{method}: {error}"))
    }

    /// Asks for something whose answer is of no interest.
    pub(super) fn tell(&self, page: &str, method: &str, with: &Value) {
        self.send(self.last.fetch_add(1, Ordering::Relaxed), Some(page), method, with);
    }

    /// Takes down what a page does from here on.
    pub(super) fn attend(&self, page: &str, notes: Arc<Notes>) {
        lock(&self.pages).insert(page.to_owned(), notes);
    }

    fn send(&self, id: u64, page: Option<&str>, method: &str, with: &Value) {
        let mut message = json!({"id": id, "method": method, "params": with});
        if let Some(page) = page {
            message["sessionId"] = json!(page);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        // A pipe that is broken is noticed by the thread that reads, and by the caller that waits.
        let _ = lock(&self.into).write_all(&bytes);
    }

    fn read(&self, mut out: BufReader<ChildStdout>) {
        let mut bytes = Vec::new();
        while out.read_until(0, &mut bytes).is_ok_and(|length| length > 0) {
            bytes.pop();
            let message: Value = serde_json::from_slice(&bytes).expect("the browser speaks JSON");
            bytes.clear();
            self.take(message);
        }
        lock(&self.asking).take();
    }

    fn take(&self, mut message: Value) {
        if let Some(id) = message["id"].as_u64() {
            let asked = lock(&self.asking).as_mut().and_then(|asking| asking.remove(&id));
            if let Some(asked) = asked {
                // A caller that has given up waiting has closed its receiver.
                let _ = asked.send(message);
            }
            return;
        }
        let Some(page) = message["sessionId"].as_str() else { return };
        let notes = lock(&self.pages).get(page).cloned();
        if let (Some(notes), Some(page)) = (notes, message["sessionId"].take().as_str()) {
            notes.hear(self, page, message["method"].as_str().unwrap_or_default(), &message["params"]);
        }
    }
}

fn awaited(answer: &Receiver<Value>) -> Result<Value, String> {
    match answer.recv_timeout(PATIENCE) {
        Ok(mut answer) if answer["error"].is_null() => Ok(answer["result"].take()),
        Ok(answer) => Err(answer["error"]["message"].as_str().unwrap_or("it failed").to_owned()),
        Err(RecvTimeoutError::Timeout) => Err("no answer came".to_owned()),
        Err(RecvTimeoutError::Disconnected) => Err("the browser is gone".to_owned()),
    }
}

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
