//! Tools for tests: one that waits until a gate is open, and one that panics.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent::Json;
use agent::tools::{Assessment, Reach, Risk, ToolInfo, ToolResult};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::watch;
use tool::{Tool, ToolContext};

use crate::room::soon;

/// A gate that calls wait at. It only looks, so that several of one answer wait side by side.
#[derive(Clone)]
pub struct Gate(Arc<Inner>);

struct Inner {
    info: ToolInfo,
    open: watch::Sender<bool>,
    count: watch::Sender<Count>,
}

/// Who came by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Calls that came.
    pub came: usize,
    /// Calls that wait.
    pub waiting: usize,
    /// The most that ever waited at once.
    pub most: usize,
    /// Calls that were told to end.
    pub stopped: usize,
}

impl Gate {
    /// A closed gate, as a tool of this name.
    pub fn new(name: &str) -> Self {
        let info = info(name, Reach::ReadOnly);
        Self(Arc::new(Inner { info, open: watch::Sender::new(false), count: watch::Sender::default() }))
    }

    /// Lets everybody through, from here on.
    pub fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// Waits at the gate as a call does that nobody stops.
    pub async fn passed(self) {
        self.came();
        let mut open = self.0.open.subscribe();
        open.wait_for(|open| *open).await.expect("the gate is there");
        self.0.count.send_modify(|count| count.waiting -= 1);
    }

    /// Who came by so far.
    pub fn count(&self) -> Count {
        *self.0.count.borrow()
    }

    /// Waits until the count is as wanted.
    pub async fn until(&self, what: &str, wanted: impl FnMut(&Count) -> bool) {
        let mut count = self.0.count.subscribe();
        soon(what, count.wait_for(wanted)).await.expect("the gate is there");
    }

    fn came(&self) {
        self.0.count.send_modify(|count| {
            count.came += 1;
            count.waiting += 1;
            count.most = count.most.max(count.waiting);
        });
    }
}

impl Tool for Gate {
    fn info(&self) -> &ToolInfo {
        &self.0.info
    }

    fn run<'a>(&'a self, _input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        async {
            self.came();
            let mut open = self.0.open.subscribe();
            tokio::select! {
                _ = open.wait_for(|open| *open) => {
                    self.0.count.send_modify(|count| count.waiting -= 1);
                    ToolResult::ok("through")
                }
                () = context.stop.cancelled() => {
                    self.0.count.send_modify(|count| { count.waiting -= 1; count.stopped += 1; });
                    ToolResult::error("stopped")
                }
            }
        }
        .boxed()
    }
}

/// A tool that panics: at once when it is called, or once it is waited for.
pub struct Falls {
    info: ToolInfo,
    at_once: bool,
}

impl Falls {
    /// Panics before there is anything to wait for.
    pub fn at_once() -> Self {
        Self { info: info("fall_at_once", Reach::World), at_once: true }
    }

    /// Panics while it is waited for.
    pub fn later() -> Self {
        Self { info: info("fall_later", Reach::World), at_once: false }
    }
}

impl Tool for Falls {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn run<'a>(&'a self, _input: &'a Json, _context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        assert!(!self.at_once, "the tool falls at once");
        async { panic!("the tool falls later") }.boxed()
    }
}

/// A tool whose calls cannot be assessed: that panics.
pub struct Cursed(ToolInfo);

impl Cursed {
    /// The tool `cursed`.
    pub fn new() -> Self {
        Self(info("cursed", Reach::World))
    }
}

impl Tool for Cursed {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    fn assess(&self, _input: &Json, _workspace: &Path) -> Assessment {
        panic!("this call cannot be assessed")
    }

    fn run<'a>(&'a self, _input: &'a Json, _context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        unreachable!("what cannot be assessed is not run")
    }
}

/// A tool that takes a moment and changes nothing.
pub struct Nap(ToolInfo);

impl Nap {
    /// The tool `nap`.
    pub fn new() -> Self {
        Self(info("nap", Reach::World))
    }
}

impl Tool for Nap {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    fn run<'a>(&'a self, _input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        async {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(3)) => ToolResult::ok("slept"),
                () = context.stop.cancelled() => ToolResult::error("woken"),
            }
        }
        .boxed()
    }
}

fn info(name: &str, reach: Reach) -> ToolInfo {
    ToolInfo {
        name: name.into(),
        description: "for tests".into(),
        schema: Json::parse(r#"{"type":"object","properties":{}}"#).expect("a schema"),
        reach,
        idempotent: false,
        risk: Risk::Low,
    }
}
