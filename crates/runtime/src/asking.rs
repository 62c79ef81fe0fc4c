//! Questions that a call puts to a person while it is under way, such as those of a server of tools.
//!
//! A question goes to the thread as an input and waits in its log like any other. What comes of it is an effect, which hands it to the call.
//! The calls that wait are known here only: after a crash the call is gone, and its question is withdrawn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use agent::approval::Question;
use agent::{CallId, Input, ThreadId};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tool::Asks;

use crate::driver::DriverMessage;
use crate::runtime::{Inner, lock};

/// What the calls of a thread wait for, by the number of each question.
#[derive(Clone, Default)]
pub struct Questions(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    asked: u32,
    waiting: HashMap<u32, oneshot::Sender<Option<Arc<str>>>>,
}

impl Questions {
    /// Hands an answer to the call that waits for it.
    pub fn answer(&self, number: u32, answer: Option<Arc<str>>) {
        if let Some(waiting) = lock(&self.0).waiting.remove(&number) {
            // The call may be over.
            let _ = waiting.send(answer);
        }
    }

    fn open(&self) -> (u32, oneshot::Receiver<Option<Arc<str>>>) {
        let (sender, receiver) = oneshot::channel();
        let mut open = lock(&self.0);
        open.asked += 1;
        let number = open.asked;
        open.waiting.insert(number, sender);
        (number, receiver)
    }
}

/// Asks for one call.
pub struct CallAsks {
    pub runtime: Arc<Inner>,
    pub thread: ThreadId,
    pub call: CallId,
    pub questions: Questions,
}

impl Asks for CallAsks {
    fn ask(&self, text: String, choices: Vec<String>) -> BoxFuture<'static, Option<Arc<str>>> {
        let Some(driver) = self.runtime.sender(&self.thread) else { return async { None }.boxed() };
        let (number, answer) = self.questions.open();
        let choices = choices.into_iter().map(Arc::from).collect();
        let question = Question { text: text.into(), choices, midway: Some(number) };
        let asked = Input::ToolAsks { call: self.call.clone(), question };
        let is_asked = driver.send(DriverMessage::Input(Box::new(asked))).is_ok();
        async move { if is_asked { answer.await.ok().flatten() } else { None } }.boxed()
    }
}
