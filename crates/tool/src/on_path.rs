//! The form of the tools that work on one file or folder: the path is read from the arguments here and nowhere else, once for
//! what is said of a call and once for the call itself, by the same function.
//!
//! What is done with the path is the tool's; whether the call may be made is decided by the rules.

use std::path::Path;
use std::sync::Arc;

use agent::Json;
use agent::tools::{Assessment, Reach, Risk, ToolInfo, ToolResult};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::args::Call;
use crate::context::ToolContext;
use crate::error::Error;
use crate::tool::{Tool, blocking};
use crate::workspace::{Destination, Names, WorkPath};

/// A tool that reads its arguments as a path and `A`, and then does one blocking thing on a thread that may block. One that
/// only reads, by its entry, reads the path; any other changes it.
pub(crate) struct OnPath<A> {
    pub info: ToolInfo,
    /// A right call's arguments, shown with every wrong one.
    pub example: &'static str,
    /// The path that is meant where none is given; none where one must be given.
    pub usual: Option<&'static str>,
    pub act: fn(&A, &WorkPath, &ToolContext) -> Result<ToolResult, Error>,
    /// The same where it takes no more than a moment; none where it would take longer, or where that cannot be told. It is tried
    /// first, without leaving the thread, where the workspace is on a disk of this machine.
    pub at_once: fn(&A, &WorkPath, &ToolContext) -> Option<Result<ToolResult, Error>>,
}

/// For a tool of which it cannot be told how long it takes.
pub(crate) fn never<A>(_: &A, _: &WorkPath, _: &ToolContext) -> Option<Result<ToolResult, Error>> {
    None
}

impl<A> OnPath<A> {
    /// The text of the path and the other arguments as `B`, or the answer to a call that cannot be understood.
    fn read<B: DeserializeOwned>(&self, input: &Json) -> Result<(String, Call<B>), ToolResult> {
        let name = &self.info.name;
        let (path, call) = Call::read_with_path(input, name, self.example)?;
        match path.or_else(|| self.usual.map(str::to_owned)) {
            Some(path) => Ok((path, call)),
            None => Err(ToolResult::error(format!(
                "{name} was not run, its arguments cannot be read: there is no path. Call it like this: {name} {}",
                self.example
            ))),
        }
    }
}

impl<A> OnPath<A> {
    fn acted_at_once(&self, args: &A, path: &str, context: &ToolContext) -> Option<Result<ToolResult, Error>> {
        if !context.workspace.is_local() || context.stop.is_cancelled() {
            return None;
        }
        (self.at_once)(args, &context.workspace.path(path).ok()?, context)
    }
}

/// All arguments but the path, where only the path matters.
#[derive(Deserialize)]
struct Others {}

impl<A: DeserializeOwned + Send + 'static> Tool for OnPath<A> {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assess(&self, input: &Json, workspace: &Path) -> Assessment {
        let plain = Assessment { digest: "".into(), ..Assessment::of(&self.info, input) };
        // A call without a path fails before it does anything.
        let Ok((given, _)) = self.read::<Others>(input) else { return plain };
        let Ok(workspace) = Names::of(workspace) else {
            // Nothing can be said of a path in a folder that is not there, so that any rule may be meant.
            return Assessment { is_plain: false, is_readable: false, ..plain };
        };
        let path = match workspace.path(&given) {
            Ok(path) => path,
            Err(refusal) => return refused(&refusal),
        };
        let destination = workspace.destination(&path);
        if let Err(refusal) = workspace.not_secret(&path, &destination) {
            return refused(&refusal);
        }
        let Destination { exists, real, beneath } = &destination;
        let mut subjects: Vec<Arc<str>> = vec![path.as_str().into()];
        let other = beneath.as_deref().filter(|other| *other != path.as_str() && !other.is_empty());
        subjects.extend(other.map(Arc::from));
        let (whole, real) = (workspace.root().join(path.as_path()).display().to_string(), real.display().to_string());
        let names = [given.as_str(), &whole, &real].into_iter().filter(|name| *name != path.as_str());
        let mut also: Vec<Arc<str>> = names.map(Arc::from).collect();
        if self.info.reach == Reach::ReadOnly {
            // A rule may speak of any of the arguments.
            also.extend(plain.subjects.iter().cloned());
            return Assessment { effect: format!("reads {path}").into(), subjects, also, digest: real.into(), ..plain };
        }
        let protected = workspace.protected(&path, &destination);
        let verb = if *exists { "changes" } else { "creates" };
        // A pattern says any text by a star: a path that has one cannot be said by a pattern.
        let can_stand = protected.is_empty() && subjects.len() == 1 && !path.as_str().contains('*');
        Assessment {
            risk: if protected.is_empty() { plain.risk } else { Risk::High },
            effect: format!("{verb} the file {path}").into(),
            standing: can_stand.then(|| subjects[0].clone()),
            subjects,
            also,
            protected: protected.into_iter().map(Arc::from).collect(),
            digest: real.into(),
            ..plain
        }
    }

    fn assesses_at_once(&self) -> bool {
        // Before a change the whole workspace may be looked through for what is protected.
        self.info.reach == Reach::ReadOnly
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let (path, Call { args, ignored }) = match self.read::<A>(input) {
                Ok(read) => read,
                Err(wrong) => return wrong,
            };
            if self.info.reach > Reach::ReadOnly && context.reach == Some(Reach::ReadOnly) {
                return ToolResult::error(was_refused(&path, context));
            }
            if let Some(acted) = self.acted_at_once(&args, &path, context) {
                return ignored.named_in(acted.unwrap_or_else(|error| ToolResult::error(error.to_string())));
            }
            let (act, lent) = (self.act, context.clone());
            let acted = blocking(&self.info.name, &context.stop, move || {
                let path = lent.workspace.path(&path)?;
                act(&args, &path, &lent)
            });
            ignored.named_in(acted.await)
        })
    }

    fn clear(&self, input: &Json, context: &ToolContext) {
        // A call that names no file in the workspace fails before it writes anything.
        let path = self.read::<Others>(input).ok().and_then(|(path, _)| context.workspace.path(&path).ok());
        if let Some(path) = path.filter(|_| self.info.reach > Reach::ReadOnly) {
            context.workspace.clear_beside(&path);
        }
    }
}

/// Why a change is not made that was judged as one that does nothing, because it was refused when it was judged. What made it
/// refused may have changed since, and whether it may be made was not decided.
fn was_refused(path: &str, context: &ToolContext) -> String {
    let workspace = &context.workspace;
    let refusal = workspace.path(path).and_then(|path| workspace.not_secret(&path));
    refusal
        .err()
        .map_or_else(|| format!("'{path}' has changed since the call was judged; try again"), |why| why.to_string())
}

/// What is said of a call that is refused for its path, whatever the mode: it does nothing, so that there is nothing to decide
/// and no person is asked. A change that was judged so is not made, whatever its path has come to lead to since.
pub(crate) fn refused(refusal: &Error) -> Assessment {
    Assessment {
        reach: Reach::ReadOnly,
        risk: Risk::Low,
        effect: format!("is refused: {refusal}").into(),
        subjects: Vec::new(),
        also: Vec::new(),
        perhaps: Vec::new(),
        is_plain: false,
        is_readable: true,
        protected: Vec::new(),
        standing: None,
        digest: "refused".into(),
    }
}

#[cfg(test)]
mod tests;
