//! Something to be done: the words, and what is otherwise than configured.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use agent::approval::{Approval, Decision};
use agent::{InputId, Json, Mode, ThreadId};

use crate::approvals::Approver;
use crate::files::File;
use crate::limits::Limits;

/// Something to be done. A text alone is work too; whatever is not said is as the [`Staff`](crate::Staff) was built.
///
/// ```
/// use majordomo::{Limits, Mode, Work};
///
/// let work = Work::new("Review the last change")
///     .agent("review")
///     .mode(Mode::Plan)
///     .limits(Limits::new().tokens(50_000));
/// ```
#[derive(Clone, Default)]
pub struct Work {
    pub(crate) prompt: String,
    pub(crate) output_schema: Option<Json>,
    /// Files that come with the prompt.
    pub(crate) files: Vec<File>,
    pub(crate) approver: Option<Approver>,
    pub(crate) unwatched: bool,
    /// The name of the message in its thread, where the caller chose one.
    pub(crate) input: Option<InputId>,
    /// What a conversation begins with and keeps.
    pub(crate) beginning: Beginning,
}

/// What holds for a conversation from its first message on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Beginning {
    /// The name of the conversation, where the caller chose one.
    pub(crate) thread: Option<ThreadId>,
    pub(crate) agent: Option<String>,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) mode: Option<Mode>,
    pub(crate) limits: Limits,
}

impl Work {
    /// Work with these words and nothing else.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), ..Self::default() }
    }

    /// The agent that does it. Where none is named: the butler for what is plainly about a configured household, else the agent of the
    /// builder or the configuration. In a conversation it is chosen with the first message.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.beginning.agent = Some(name.into());
        self
    }

    /// The folder to work in, in the place of the builder's. In a conversation it is chosen with the first message.
    #[must_use]
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.beginning.workspace = Some(folder.into());
        self
    }

    /// How much agents may do without approval. In a conversation it is chosen with the first message.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.beginning.mode = Some(mode);
        self
    }

    /// Limits in the place of the builder's. In a conversation they are chosen with the first message, and each message has all of
    /// them anew.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.beginning.limits = limits;
        self
    }

    /// A file that comes with the prompt: a text is added to it, an image or a PDF document is shown to the model.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(File::At(path.into()));
        self
    }

    /// The same for a file that is not on the disk, with the name that it is known by.
    #[must_use]
    pub fn file_bytes(mut self, name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        self.files.push(File::Bytes(name.into(), bytes.into()));
        self
    }

    /// JSON Schema that the answer must fit; [`Report::data`](crate::Report::data) then holds it.
    /// [`Staff::run_as`](crate::Staff::run_as) takes the schema from a type.
    #[must_use]
    pub fn schema(mut self, schema: Json) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// No person waits for the answer: lists show it as unread until one has read it.
    #[must_use]
    pub fn unwatched(mut self) -> Self {
        self.unwatched = true;
        self
    }

    /// The name of the next message of a conversation: what is sent twice to a thread under one name is said once, also after a restart.
    #[must_use]
    pub fn input(mut self, name: InputId) -> Self {
        self.input = Some(name);
        self
    }

    /// The name of the conversation that begins with this, from [`Staff::id_named`](crate::Staff::id_named). Where there is one of that
    /// name already, nothing begins, and the error is [`runtime::Error::Taken`].
    #[must_use]
    pub fn thread(mut self, name: ThreadId) -> Self {
        self.beginning.thread = Some(name);
        self
    }

    /// Decides the approvals of this run and of its sub-agents, in the place of the builder's
    /// [`approve`](crate::StaffBuilder::approve). It decides nothing of any other run, also of one in the same conversation: each
    /// message brings its own. In a run that is [resumed](crate::Session::resume) in another process, the builder's decides. What agents
    /// ask a person comes here, too, as it does [there](crate::StaffBuilder::approve).
    #[must_use]
    pub fn approve<F, A>(mut self, decide: F) -> Self
    where
        F: Fn(Approval) -> A + Send + Sync + 'static,
        A: Future<Output = Decision> + Send + 'static,
    {
        self.approver = Some(Approver::new(decide));
        self
    }
}

impl From<&str> for Work {
    fn from(prompt: &str) -> Self {
        Self::new(prompt)
    }
}

impl From<String> for Work {
    fn from(prompt: String) -> Self {
        Self::new(prompt)
    }
}

impl From<&String> for Work {
    fn from(prompt: &String) -> Self {
        Self::new(prompt)
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work")
            .field("prompt", &self.prompt)
            .field("output_schema", &self.output_schema)
            .field("beginning", &self.beginning)
            .finish_non_exhaustive()
    }
}
