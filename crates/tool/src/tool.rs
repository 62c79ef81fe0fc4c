//! What a tool is, and the form of those whose work is plain: read the arguments, do one blocking thing, answer.

use std::path::Path;

use agent::Json;
use agent::tools::{Assessment, Reach, Risk, ToolInfo, ToolResult};
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::args::Call;
use crate::context::ToolContext;
use crate::error::Error;

/// Something that an agent can do.
pub trait Tool: Send + Sync {
    /// Its name, its words for the model, and how far it reaches.
    fn info(&self) -> &ToolInfo;

    /// What a call with these arguments would do in a workspace, as far as can be told without doing it. Its digest names what
    /// the arguments lead to besides themselves.
    fn assess(&self, input: &Json, workspace: &Path) -> Assessment {
        let _ = workspace;
        Assessment { digest: "".into(), ..Assessment::of(self.info(), input) }
    }

    /// Whether [`assess`](Self::assess) does no more than look up a few names, or nothing at all. Where the workspace is on a disk of
    /// this machine, it is then done at once, by the thread that needs to know, and not handed to one that may block.
    fn assesses_at_once(&self) -> bool {
        false
    }

    /// Does it. Whatever the arguments are, the answer is a result: a failure is one that says what to do about it.
    /// Once `context.stop` is cancelled it comes back soon, and whatever it had started has ended by then.
    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult>;

    /// Removes temporary files that such a call has left because its process was killed. Called before the thread goes on, on a
    /// thread that may block. What the call did to anything else stays as it is.
    fn clear(&self, input: &Json, context: &ToolContext) {
        let _ = (input, context);
    }
}

/// The answer of a call that was stopped before it had done anything.
pub(crate) const STOPPED: &str = "stopped before it began";

/// A tool that reads its arguments as `A` and then does one blocking thing on a thread that may block.
pub(crate) struct BlockingTool<A> {
    pub info: ToolInfo,
    /// A right call's arguments, shown with every wrong one.
    pub example: &'static str,
    pub act: fn(&A, &ToolContext) -> Result<ToolResult, Error>,
}

impl<A: DeserializeOwned + Send + 'static> Tool for BlockingTool<A> {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assesses_at_once(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        let (act, lent) = (self.act, context.clone());
        Box::pin(plainly(&self.info, self.example, input, context, move |args: &A| act(args, &lent)))
    }
}

/// The way of a plain call: its arguments are read, one blocking thing is done with them on a thread that may block, and
/// what had no effect is named in the answer. `example` is a right call's arguments, shown with every wrong one.
pub async fn plainly<A, E>(
    info: &ToolInfo,
    example: &str,
    input: &Json,
    context: &ToolContext,
    act: impl FnOnce(&A) -> Result<ToolResult, E> + Send + 'static,
) -> ToolResult
where
    A: DeserializeOwned + Send + 'static,
    E: std::fmt::Display + Send + 'static,
{
    let Call { args, ignored } = match Call::<A>::read(input, &info.name, example) {
        Ok(call) => call,
        Err(wrong) => return wrong,
    };
    ignored.named_in(blocking(&info.name, &context.stop, move || act(&args)).await)
}

/// Does one blocking thing on a thread that may block, unless the call was stopped before.
pub(crate) async fn blocking<E: std::fmt::Display + Send + 'static>(
    name: &str,
    stop: &CancellationToken,
    act: impl FnOnce() -> Result<ToolResult, E> + Send + 'static,
) -> ToolResult {
    let stop = stop.clone();
    let acted = tokio::task::spawn_blocking(move || match stop.is_cancelled() {
        true => Ok(ToolResult::error(STOPPED)),
        false => act(),
    });
    match acted.await {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => ToolResult::error(error.to_string()),
        Err(broken) => ToolResult::error(format!("{name} failed: {broken}")),
    }
}

/// A tool that reads files and changes nothing.
pub(crate) fn looks(name: &str, description: &str, schema: &str) -> ToolInfo {
    info(name, description, schema, Reach::ReadOnly, true, Risk::Low)
}

/// A tool's entry. The schema is part of the program, so that broken JSON in it is a bug.
pub fn info(name: &str, description: &str, schema: &str, reach: Reach, idempotent: bool, risk: Risk) -> ToolInfo {
    ToolInfo {
        name: name.into(),
        description: description.into(),
        schema: Json::parse(schema).expect("a tool's schema is JSON"),
        reach,
        idempotent,
        risk,
    }
}

#[cfg(test)]
pub(crate) mod test_support {
    //! A workspace in a passing folder, and calls to a tool in it.

    use std::path::PathBuf;
    use std::sync::Arc;

    use agent::{CallId, ThreadId};

    use super::*;
    use crate::workspace::Workspace;

    pub(crate) struct TestWorkspace {
        pub context: ToolContext,
        folder: tempfile::TempDir,
    }

    impl TestWorkspace {
        /// A workspace that holds these files.
        pub fn with(files: &[(&str, &[u8])]) -> Self {
            let folder = tempfile::tempdir().expect("a passing folder");
            std::fs::create_dir(folder.path().join("work")).expect("a workspace");
            let workspace = Workspace::open(folder.path().join("work")).expect("a workspace");
            let context = ToolContext::new(Arc::new(workspace), ThreadId::new("20260115-k3f9"), CallId::new("tu_1"));
            let room = Self { context, folder };
            for (path, content) in files {
                let path = room.path(path);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
                std::fs::write(path, content).expect("a file");
            }
            room
        }

        /// A path in the workspace.
        pub fn path(&self, path: &str) -> PathBuf {
            self.folder.path().join("work").join(path)
        }

        /// A path beside the workspace, where no tool may reach.
        pub fn outside(&self, path: &str) -> PathBuf {
            self.folder.path().join(path)
        }

        /// What a file of the workspace holds.
        pub fn text(&self, path: &str) -> String {
            std::fs::read_to_string(self.path(path)).expect("a text file")
        }

        pub async fn call(&self, tool: impl Tool, input: &str) -> ToolResult {
            tool.run(&Json::parse(input).expect("the test's input is JSON"), &self.context).await
        }

        /// Calls a tool that must succeed.
        pub async fn ok(&self, tool: impl Tool, input: &str) -> ToolResult {
            let result = self.call(tool, input).await;
            assert!(!result.is_error, "{}", result.content);
            result
        }

        /// Calls a tool that must fail, and returns its words.
        pub async fn error(&self, tool: impl Tool, input: &str) -> String {
            let result = self.call(tool, input).await;
            assert!(result.is_error, "{}", result.content);
            assert!(result.files_read.is_empty() && result.files_modified.is_empty());
            result.content.to_string()
        }
    }
}
