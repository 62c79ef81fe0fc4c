//! Questions that a call puts to a person, or to the model, while it is under way, such as those of a server of tools.
//!
//! A question goes to the thread as an input and waits in its log like any other. What comes of it is an effect, which hands it to the call.
//! The calls that wait are known here only: after a crash the call is gone, and its question is withdrawn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use agent::approval::Question;
use agent::sampling::Sampled;
use agent::{CallId, Input, Json, ThreadId};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tool::Asks;

use crate::driver::DriverMessage;
use crate::runtime::{Inner, lock};

/// What the model said to a server, or why it said nothing.
type Sampling = Result<Sampled, Arc<str>>;

/// What the calls of a thread wait for, by the number of each question.
#[derive(Clone, Default)]
pub struct Questions(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    asked: u32,
    waiting: HashMap<u32, oneshot::Sender<Option<Arc<str>>>>,
    sampling: HashMap<u32, oneshot::Sender<Sampling>>,
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

    /// Hands a server what the model said.
    pub fn sampled(&self, number: u32, answer: Sampling) {
        if let Some(waiting) = lock(&self.0).sampling.remove(&number) {
            // The call may be over.
            let _ = waiting.send(answer);
        }
    }

    fn open_sampling(&self) -> (u32, oneshot::Receiver<Sampling>) {
        let (sender, receiver) = oneshot::channel();
        let mut open = lock(&self.0);
        open.asked += 1;
        let number = open.asked;
        open.sampling.insert(number, sender);
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

    fn sample(&self, server: Arc<str>, input: Json) -> BoxFuture<'static, Sampling> {
        let gone = || Err(Arc::from("the agent is gone"));
        let Some(driver) = self.runtime.sender(&self.thread) else { return async move { gone() }.boxed() };
        let (number, answer) = self.questions.open_sampling();
        let asked = Input::ToolSamples { call: self.call.clone(), number, server, input };
        let is_asked = driver.send(DriverMessage::Input(Box::new(asked))).is_ok();
        async move { if is_asked { answer.await.unwrap_or_else(|_| gone()) } else { gone() } }.boxed()
    }
}
