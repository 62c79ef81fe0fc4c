//! A session: one conversation, and everything that an interface can do with it.
//!
//! A session is on one root thread, wherever that is driven: in this process, in another one, or nowhere at the moment. What is sent
//! goes into the log of the thread that it is for; what happens is read from there. So two sessions on the same root, in two
//! processes, see the same.

use std::sync::Arc;

use agent::approval::{Approval, Decision};
use agent::{InputId, Mode, Outside, Report, Strength, ThreadId};
use async_recursion::async_recursion as boxed;
use runtime::{Runtime, Said};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use store::{Record, Selection, Store, ThreadQuery, read_all};
use tokio::sync::OnceCell;

use crate::decide::{self, DecisionOutcome};
use crate::follow::Updates;
use crate::run::{Run, newest};
use crate::staff::{Error, Staff};
use crate::threads::is_left;
use crate::typed::Wanted;
use crate::work::{Beginning, Work};

/// One conversation: messages and their answers, in which the agent knows what was said before. Cheap to clone.
///
/// [`Staff::session`] begins a new one with its first message; [`Staff::session_of`] goes on with one that is in the store, also one
/// that another process drives. With a [data folder](crate::StaffBuilder::data_folder) a conversation outlives the program.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), majordomo::Error> {
/// use majordomo::{Model, Staff};
///
/// let folder = tempfile::tempdir().unwrap();
/// let staff = |replies| Staff::builder().model(Model::replies(replies)).data_folder(folder.path()).build();
///
/// let first = staff(vec!["Noted."]).await?;
/// let session = first.session();
/// session.send("My name is Ann").await?;
/// let id = session.id().expect("it has begun").clone();
/// first.close().await;
///
/// // Later, in another process: the second reply comes, for the model has answered once in this conversation.
/// let later = staff(vec!["Noted.", "Ann"]).await?;
/// assert_eq!(&*later.session_of(&id).send("What is my name?").await?.text, "Ann");
/// # later.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Session {
    staff: Staff,
    /// None until the first message.
    root: Arc<OnceCell<ThreadId>>,
}

impl Session {
    pub(crate) fn new(staff: Staff) -> Self {
        Self { staff, root: Arc::default() }
    }

    pub(crate) fn of(staff: Staff, root: ThreadId) -> Self {
        Self { staff, root: Arc::new(OnceCell::new_with(Some(root))) }
    }

    /// The name of the conversation, by which [`Staff::session_of`] finds it again; none before the first message.
    pub fn id(&self) -> Option<&ThreadId> {
        self.root.get()
    }

    /// Sends a message and waits for the report on it. Where a run goes on, it is taken up when that is over.
    pub async fn send(&self, work: impl Into<Work>) -> Result<Report, Error> {
        self.stream(work).await?.report().await
    }

    /// Sends a message that is answered with a value of a type; see [`Staff::run_as`].
    pub async fn send_as<T: DeserializeOwned + JsonSchema>(&self, work: impl Into<Work>) -> Result<T, Error> {
        let wanted = Wanted::of::<T>();
        let report = self.send(work.into().schema(wanted.schema.clone())).await?;
        wanted.read(report)
    }

    /// Sends a message and returns the run that answers it at once. It is driven here where no process does.
    pub async fn stream(&self, work: impl Into<Work>) -> Result<Run, Error> {
        self.next_run(work.into()).await
    }

    #[boxed]
    async fn next_run(&self, work: Work) -> Result<Run, Error> {
        let (mut work, mut first) = (Some(work), None);
        let root = self
            .root
            .get_or_try_init(|| async {
                let run = self.staff.begin(work.take().expect("one message begins a conversation")).await?;
                let root = run.root().clone();
                first = Some(run);
                Ok::<_, Error>(root)
            })
            .await?;
        match (first, work) {
            (Some(run), _) => Ok(run),
            (None, Some(work)) => self.say(root, work).await,
            (None, None) => unreachable!("the message has begun a run, or is left to be sent"),
        }
    }

    /// Speaks to any thread of this conversation, also to a sub-agent that is over: it goes on with what it knows, and the run is its
    /// answer. One that works takes the message up when it is done.
    pub async fn ask(&self, thread: &ThreadId, work: impl Into<Work>) -> Result<Run, Error> {
        self.say(thread, work.into()).await
    }

    /// The next message. Nothing is written where its model cannot be asked from here.
    #[boxed]
    async fn say(&self, thread: &ThreadId, work: Work) -> Result<Run, Error> {
        self.staff.check_open()?;
        let root = &thread.root();
        if work.beginning != Beginning::default() {
            return Err(Error::Begun(root.clone()));
        }
        let unknown = || runtime::Error::from(store::Error::UnknownThread(thread.as_str().into()));
        let row = self.store().thread(thread).await?.ok_or_else(unknown)?;
        // A process that drives it has asked its model already.
        if !row.state.is_live() {
            self.staff.check_model(&row.model)?;
        } else if is_left(&row, &self.store().living(self.runtime().clock().now()).await?) {
            self.check_models(root).await?;
        }
        let (text, attachments) = self.staff.with_files(&work, &row.model).await?;
        let (text, foreign) = self.staff.with_mentions(&work, &text).await?;
        let text = self.staff.submitted(text, None).await?;
        let updates = Updates::new(self.runtime(), root.clone());
        let message = work.input.unwrap_or_else(|| InputId::new(runtime::fresh_name()));
        self.staff.approvals().begin(self.runtime(), thread, &message, work.approver);
        let said = Said { text, output_schema: work.output_schema, attachments, unwatched: work.unwatched, foreign };
        self.staff.tools_ready().await;
        match self.runtime().say_as(message.clone(), thread, said).await {
            Ok(()) => {
                self.staff.approvals().ask_again(self.store(), root).await?;
                Ok(Run::answering(&self.staff, updates, thread, message))
            }
            Err(error) => {
                self.staff.approvals().end(thread, &message);
                Err(error.into())
            }
        }
    }

    /// Gives a thread of this conversation another model, `provider/model`, or another mode, from its next turn on. The mode is never
    /// freer than what its agent and those above it may. Nothing is written where the model cannot be asked from here.
    #[boxed]
    pub async fn choose(&self, thread: &ThreadId, model: Option<&str>, mode: Option<Mode>) -> Result<(), Error> {
        self.staff.check_open()?;
        let unknown = || runtime::Error::from(store::Error::UnknownThread(thread.as_str().into()));
        let row = self.store().thread(thread).await?.ok_or_else(unknown)?;
        let model = model.map(|model| self.staff.model_for(&row.agent, model)).transpose()?;
        self.staff.tools_ready().await;
        Ok(self.runtime().choose(thread, model, mode).await?)
    }

    /// Has a thread of this conversation replace what was said in it by a summary, which is the report of the run. One that works does so
    /// when it is done.
    #[boxed]
    pub async fn sum_up(&self, thread: &ThreadId) -> Result<Run, Error> {
        self.staff.check_open()?;
        let root = &thread.root();
        self.check_models(root).await?;
        let updates = Updates::new(self.runtime(), root.clone());
        // A run that was left goes on first, and what it asks is decided.
        self.staff.approvals().listen(self.runtime());
        self.staff.tools_ready().await;
        let message = self.runtime().sum_up(thread).await?;
        self.staff.approvals().ask_again(self.store(), root).await?;
        Ok(Run::answering(&self.staff, updates, thread, message))
    }

    /// Goes on with a run that its process left before the end: by a crash, or by [`Staff::close`]. It stays as it is where a model
    /// cannot be asked from here, for a run that goes on without its model ends.
    #[boxed]
    pub async fn resume(&self) -> Result<Run, Error> {
        self.staff.check_open()?;
        let root = self.begun()?;
        self.check_models(root).await?;
        let updates = Updates::new(self.runtime(), root.clone());
        let before = newest(&**self.store(), root).await?;
        self.staff.approvals().listen(self.runtime());
        self.staff.tools_ready().await;
        let handle = self.runtime().resume(root).await?;
        self.staff.approvals().ask_again(self.store(), root).await?;
        Ok(Run::resumed(&self.staff, updates, before, handle))
    }

    /// The run that goes on after an event, or the next one, followed without starting anything.
    pub fn run_after(&self, seq: u64) -> Result<Run, Error> {
        Ok(Run::after(self.runtime(), self.begun()?, seq).of_staff(&self.staff))
    }

    /// The run that answers a message which is in the log of a thread of this conversation, followed without starting anything.
    pub fn run_of(&self, thread: &ThreadId, message: InputId) -> Run {
        Run::answering(&self.staff, Updates::new(self.runtime(), thread.root()), thread, message)
    }

    /// Tells something to a thread of this conversation while it works; it reads it at its next turn.
    #[boxed]
    pub async fn steer(&self, thread: &ThreadId, text: &str) -> Result<(), Error> {
        Ok(self.runtime().send(thread, Outside::person_steers(text)).await?)
    }

    /// Stops a thread of this conversation and all its descendants, and waits until that is true.
    #[boxed]
    pub async fn stop(&self, thread: &ThreadId, strength: Strength, reason: &str) -> Result<(), Error> {
        Ok(self.runtime().stop(thread, strength, reason).await?)
    }

    /// Writes a person's decision on a question as it was shown, and waits for what comes of it.
    #[boxed]
    pub async fn decide(&self, question: &Approval, decision: Decision) -> Result<DecisionOutcome, Error> {
        let input = decide::input_of(question);
        self.decide_as(input, question, decision).await
    }

    /// The same under a name that the caller chose: it is by this name that the log says which decision it was.
    #[boxed]
    pub async fn decide_as(
        &self,
        input: InputId,
        question: &Approval,
        decision: Decision,
    ) -> Result<DecisionOutcome, Error> {
        Ok(decide::decide(self.runtime(), input, question, decision).await?)
    }

    /// Everything that is in the log of the conversation by now; nothing before the first message.
    #[boxed]
    pub async fn history(&self) -> Result<Vec<Record>, Error> {
        match self.root.get() {
            Some(root) => Ok(read_all(&**self.store(), Selection::tree(root)).await?),
            None => Ok(Vec::new()),
        }
    }

    /// The number of the newest event; 0 before the first message.
    #[boxed]
    pub async fn newest(&self) -> Result<u64, Error> {
        match self.root.get() {
            Some(root) => Ok(newest(&**self.store(), root).await?),
            None => Ok(0),
        }
    }

    /// Whether every model with which a thread of this conversation works can be asked from here.
    async fn check_models(&self, root: &ThreadId) -> Result<(), Error> {
        let live =
            ThreadQuery { live_only: true, root: Some(root.clone()), limit: usize::MAX, ..ThreadQuery::default() };
        for row in self.store().threads(live).await? {
            self.staff.check_model(&row.model)?;
        }
        Ok(())
    }

    fn begun(&self) -> Result<&ThreadId, Error> {
        self.root.get().ok_or(Error::NotBegun)
    }

    fn runtime(&self) -> &Runtime {
        self.staff.runtime()
    }

    fn store(&self) -> &Arc<dyn Store> {
        self.staff.store()
    }
}
