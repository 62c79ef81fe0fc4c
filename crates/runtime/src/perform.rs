//! Effect by effect, into the world: the model to the providers, a tool by its name, a child to the family.
//! Each becomes a future that ends in the input that answers it.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use agent::checks::CheckedBy;
use agent::checks::Seen;
use agent::model::{CallError, CallErrorKind};
use agent::permission::{Layer, Rule, forbidden};
use agent::sampling::SamplingRequest;
use agent::tools::{READ_FILE, ToolResult};
use agent::{CallId, Effect, Input, InputId, Json, Outside, Thread, ThreadId, Time, context, creation};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use provider::{Ask, Conversation, Delta, DeltaSink, Effort};
use tokio_util::sync::CancellationToken;
use tool::{PriorConsent, Registry, SeenFiles, Tool, Workspace};

use crate::asking::{CallAsks, Questions};
use crate::checks::run_checks;
use crate::clock::Clock;
use crate::driver::message_of;
use crate::hooks::{HookKind, HookMoment, HookOutcome};
use crate::nested::NestedCalls;
use crate::runtime::{Fleeting, FleetingKind, Inner};
use crate::{family, schema};

/// What one agent works with while it lives in this process.
pub struct Performer {
    /// What the agent takes for the time.
    pub clock: Clock,
    runtime: Arc<Inner>,
    id: ThreadId,
    workspace: Arc<Workspace>,
    seen_files: Arc<SeenFiles>,
    /// The conversation as the provider is sent it, and how much of it is rendered.
    conversation: Option<Rendered>,
    /// Ends the request under way.
    model: Option<CancellationToken>,
    /// End the tools under way.
    tools: HashMap<CallId, CancellationToken>,
    /// The tools by which the calls of the last answer were judged: they run on these, whatever is published meanwhile. None
    /// until an answer came in this process.
    pub judged_by: Option<Arc<Registry>>,
    /// The tools by which the newest input was decided: a request that follows from it shows the model these.
    pub decided_by: Option<Arc<Registry>>,
    /// When the model last streamed text; 0 for never.
    heard: Arc<AtomicI64>,
    /// What its calls want to know from a person.
    questions: Questions,
}

struct Rendered {
    conversation: Conversation,
    epoch: u32,
    rendered: usize,
}

impl Performer {
    pub fn new(runtime: Arc<Inner>, id: ThreadId, workspace: Arc<Workspace>) -> Self {
        Self {
            clock: runtime.clock.clone(),
            runtime,
            id,
            workspace,
            seen_files: Arc::default(),
            conversation: None,
            model: None,
            tools: HashMap::new(),
            judged_by: None,
            decided_by: None,
            heard: Arc::default(),
            questions: Questions::default(),
        }
    }

    /// When the model last streamed text.
    pub fn heard(&self) -> Option<Time> {
        match self.heard.load(Ordering::Relaxed) {
            0 => None,
            at => Some(Time(at)),
        }
    }

    /// Tells everything that is under way to end.
    pub fn stop_all(&mut self) {
        for token in self.tools.values().chain(&self.model) {
            token.cancel();
        }
    }

    /// Performs one effect of `thread`. `rules` are those that it was decided by, where any were looked at.
    pub fn perform(
        &mut self,
        thread: &Thread,
        effect: Effect,
        rules: Option<&Arc<[Rule]>>,
        reopening: bool,
    ) -> Option<BoxFuture<'static, Input>> {
        match effect {
            Effect::CallModel { turn, max_tokens, calls_allowed, not_before, .. } => {
                Some(self.call_model(thread, turn, max_tokens, calls_allowed, not_before))
            }
            Effect::CancelModel { .. } => {
                if let Some(token) = &self.model {
                    token.cancel();
                }
                None
            }
            Effect::RunTool { call, name, input, approved } => {
                Some(self.run_tool(thread, call, &name, input, approved, rules.cloned()))
            }
            Effect::StopTool { call } => {
                if let Some(token) = self.tools.get(&call) {
                    token.cancel();
                }
                None
            }
            Effect::AnswerTool { number, answer, .. } => {
                self.questions.answer(number, answer);
                None
            }
            Effect::Sample { call, number, input, max_tokens } => {
                Some(self.sample(thread, &call, number, &input, max_tokens))
            }
            Effect::AnswerSample { number, answer, .. } => {
                self.questions.sampled(number, answer);
                None
            }
            Effect::RunChecks { call, by: CheckedBy::Hooks, .. } => Some(self.run_stop_hooks(thread, call)),
            Effect::RunChecks { call, commands, allowed, seen, by: CheckedBy::Brief } => {
                let seen = allowed.then_some(seen);
                Some(self.run_checks(thread, call, commands, seen, rules.cloned()))
            }
            Effect::StartChild { child } => {
                let known = thread.children.live.get(&child)?;
                let stop = known.stop.clone().filter(|_| reopening);
                let stop = stop.map(|(strength, reason)| family::stop_letter(strength, reason, known.asked()));
                match (thread.child_created(&child), thread.child_question(&child)) {
                    (Some(created), _) if reopening => {
                        family::restart(&self.runtime, created, self.workspace.clone(), stop);
                    }
                    (Some(created), _) => family::start(&self.runtime, created, self.workspace.clone()),
                    (None, question) => family::ask(&self.runtime, child, question?, stop),
                }
                None
            }
            Effect::StopChild { child, strength, reason } => {
                let asked = thread.children.live.get(&child).and_then(|child| child.asked().cloned());
                let letter = family::stop_letter(strength, reason, asked.as_ref());
                self.runtime.tasks.spawn(family::stop(self.runtime.clone(), child, asked, letter));
                None
            }
            Effect::TellChild { child, call, text } => {
                let from = thread.created.path.join(" › ").into();
                let id = InputId::new(format!("{}/{call}", self.id));
                let told = family::tell(
                    self.runtime.clone(),
                    child,
                    id,
                    Outside::Steered { text, from, foreign: thread.foreign },
                );
                Some(async move { Input::ChildTold { call, delivered: told.await } }.boxed())
            }
        }
    }

    fn call_model(
        &mut self,
        thread: &Thread,
        turn: u32,
        max_tokens: u64,
        calls_allowed: bool,
        not_before: Option<Time>,
    ) -> BoxFuture<'static, Input> {
        let failed = |kind, message: String| {
            let error = CallError::new(kind, message);
            async move { Input::ModelFailed { turn, error } }.boxed()
        };
        if let Err(error) = self.render(thread) {
            return failed(CallErrorKind::Rejected, error.to_string());
        }
        let Some(open) = &self.conversation else {
            return failed(CallErrorKind::Rejected, "there is no conversation".to_owned());
        };
        // One that was used up by a stop is no good for the next request.
        let cancel = self.model.take_if(|token| !token.is_cancelled()).unwrap_or_default();
        self.model = Some(cancel.clone());
        let wanted = thread.output_schema().cloned().filter(|_| calls_allowed);
        let begun = thread.run.as_ref().map(|run| run.words.cut.concat()).unwrap_or_default();
        let ask = open.conversation.ask(Ask {
            max_tokens,
            window_tokens: Some(thread.context_tokens()),
            may_wait: thread.tools.start_agents(),
            calls_allowed,
            output_schema: wanted.clone(),
            cancel: cancel.clone(),
            deltas: Some(self.sink(turn)),
            label: self.id.clone().into(),
        });
        let answered = move |answer| match answer {
            Ok(answer) => {
                let schema_error = wanted.as_ref().and_then(|schema| schema::answer_misfit(schema, &begun, &answer));
                Input::ModelAnswered { turn, answer, schema_error }
            }
            Err(error) => Input::ModelFailed { turn, error },
        };
        let Some(moment) = not_before else { return ask.map(answered).boxed() };
        let clock = self.clock.clone();
        async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = tokio::time::sleep(jittered(clock.until(moment))) => {}
            }
            answered(ask.await)
        }
        .boxed()
    }

    /// Asks the model for the server behind a call: its words and nothing else. The request ends with the call.
    fn sample(
        &self,
        thread: &Thread,
        call: &CallId,
        number: u32,
        input: &Json,
        max_tokens: u64,
    ) -> BoxFuture<'static, Input> {
        let failed = |message: String| {
            let error = CallError::new(CallErrorKind::Rejected, message);
            async move { Input::SampleAnswered { number, outcome: Err(error) } }.boxed()
        };
        let request = match SamplingRequest::read(input) {
            Ok(request) => request,
            Err(why) => return failed(why.to_owned()),
        };
        let mut conversation = match self.runtime.providers.open(&thread.model.name) {
            // The answer is short, and thoughts count as a part of it.
            Ok(conversation) => conversation.with_effort(Effort::Minimal),
            Err(error) => return failed(error.to_string()),
        };
        conversation.begin(&request.system, "", &[]);
        for message in request.messages {
            conversation.push(&Arc::new(message));
        }
        let ask = conversation.ask(Ask {
            max_tokens,
            window_tokens: Some(thread.context_tokens()),
            may_wait: false,
            calls_allowed: false,
            output_schema: None,
            cancel: self.tools.get(call).map(CancellationToken::child_token).unwrap_or_default(),
            deltas: None,
            label: self.id.clone().into(),
        });
        async move { Input::SampleAnswered { number, outcome: ask.await } }.boxed()
    }

    /// Notes when words are heard, and passes them on to the watchers.
    fn sink(&self, turn: u32) -> DeltaSink {
        let (runtime, clock, heard, id) =
            (self.runtime.clone(), self.clock.clone(), self.heard.clone(), self.id.clone());
        DeltaSink::with_thoughts(move |delta| {
            heard.store(clock.now().0, Ordering::Relaxed);
            if runtime.fleeting.receiver_count() > 0 {
                let (what, text) = match delta {
                    Delta::Words(words) => (FleetingKind::Turn(turn), words.to_owned()),
                    Delta::Thought(thoughts) => (FleetingKind::Thought(turn), thoughts.to_owned()),
                };
                // The last receiver may be gone.
                let _ = runtime.fleeting.send(Fleeting { thread: id.clone(), what, text });
            }
        })
    }

    /// Adds to the conversation what was said since the last request; everything, if something said before has changed.
    fn render(&mut self, thread: &Thread) -> Result<(), provider::Error> {
        let (messages, epoch) = (thread.talk.messages(), thread.talk.epoch());
        let is_current =
            self.conversation.as_ref().is_some_and(|open| open.epoch == epoch && open.rendered <= messages.len());
        if !is_current {
            let model = &thread.model;
            let mut conversation = self.runtime.providers.open(&model.name)?;
            if let Some(effort) = model.effort.as_deref().and_then(Effort::of) {
                conversation = conversation.with_effort(effort);
            }
            let tools = self.decided_by.clone().unwrap_or_else(|| self.runtime.tools.snapshot());
            if let Some(before) = &self.conversation {
                conversation = conversation.following(&before.conversation);
            }
            let known = self.runtime.facts.known(&tools);
            let (shared, own) = context::system_parts(&thread.created);
            conversation.begin(&shared, own, &creation::advertised(thread, &known.catalog));
            self.conversation = Some(Rendered { conversation, epoch, rendered: 0 });
        }
        if let Some(open) = &mut self.conversation {
            for message in &messages[open.rendered..] {
                open.conversation.push(message);
            }
            open.rendered = messages.len();
        }
        Ok(())
    }

    /// The tool by which a call was judged, unless it is no longer among the tools that are in force.
    fn tool(&self, name: &str) -> Result<Arc<dyn Tool>, String> {
        let current = self.runtime.tools.snapshot();
        let judged = self.judged_by.as_ref().unwrap_or(&current);
        match (judged.get(name), current.get(name)) {
            (Some(tool), Some(_)) => Ok(tool.clone()),
            (Some(_), None) => Err(format!("not run: the tool {name} was removed after the call was allowed")),
            (None, _) => Err(format!("{name} is not available in this process")),
        }
    }

    fn run_tool(
        &mut self,
        thread: &Thread,
        call: CallId,
        name: &str,
        input: Json,
        approved: Option<Arc<str>>,
        rules: Option<Arc<[Rule]>>,
    ) -> BoxFuture<'static, Input> {
        let tool = match self.tool(name) {
            Ok(tool) => tool,
            Err(refusal) => {
                let result = ToolResult::error(refusal);
                return async move { Input::ToolFinished { call, result } }.boxed();
            }
        };
        let mut context = self.tool_context(thread, &call, approved.is_some());
        let granted = thread.approvals.granted.clone();
        let (name, chain) = (name.to_owned(), thread.chain());
        let facts = self.runtime.facts.clone();
        let tool_name: Arc<str> = name.as_str().into();
        let before = HookKind::BeforeTool {
            call: call.clone(),
            tool: tool_name.clone(),
            input: input.clone(),
            is_approved: approved.is_some(),
        };
        let moment = HookMoment::of(thread, before);
        let judged_by = self.judged_by.clone().unwrap_or_else(|| self.runtime.tools.snapshot());
        async move {
            let rules = rules.unwrap_or_else(|| facts.rules());
            context.workspace = readable(context.workspace, &chain, &rules);
            let calls = NestedCalls::new(judged_by.clone(), facts.clone(), chain, rules, granted, &context);
            context.nested = Some(Arc::new(calls));
            let digest = match &approved {
                Some(_) => {
                    let workspace = context.workspace.root().display().to_string();
                    Some(facts.digest(judged_by, workspace, tool.info().clone(), input.clone()).await)
                }
                None => None,
            };
            if digest != approved {
                let changed = "not run: what it leads to has changed since a person allowed it. Call it again";
                return Input::ToolFinished { call, result: ToolResult::error(changed) };
            }
            let before = match facts.hooks(moment.clone()) {
                Some(hooks) => tokio::select! {
                    outcome = hooks => outcome,
                    () = context.stop.cancelled() => HookOutcome { refused: Some("it was stopped".into()), told: None },
                },
                None => HookOutcome::default(),
            };
            if let Some(reason) = before.refused {
                let result = ToolResult::error(format!("{name} was refused by a hook: {reason}"));
                return Input::ToolFinished { call, result };
            }
            // Called inside, for a tool may fail before it has anything to wait for.
            let ran = AssertUnwindSafe(async { tool.run(&input, &context).await }).catch_unwind().await;
            let result = ran.unwrap_or_else(|panic| {
                ToolResult::error(format!("{name} failed inside, its outcome is unknown: {}", message_of(&*panic)))
            });
            let mut result = ToolResult { digest, ..result };
            let kind =
                HookKind::AfterTool { call: call.clone(), tool: tool_name, input, result: result.content.clone() };
            let after = match facts.hooks(HookMoment { kind, ..moment }) {
                Some(hooks) => tokio::select! {
                    outcome = hooks => outcome,
                    () = context.stop.cancelled() => HookOutcome::default(),
                },
                None => HookOutcome::default(),
            };
            let said: Vec<Arc<str>> = before.told.into_iter().chain(after.refused).chain(after.told).collect();
            if !said.is_empty() {
                result.content =
                    format!("{}\n[said by a hook of the user: {}]", result.content, said.join("; ")).into();
            }
            Input::ToolFinished { call, result }
        }
        .boxed()
    }

    /// Runs the checks of a brief, each as a call of the thread itself.
    fn run_checks(
        &mut self,
        thread: &Thread,
        call: CallId,
        commands: Vec<Arc<str>>,
        seen: Option<Vec<Seen>>,
        rules: Option<Arc<[Rule]>>,
    ) -> BoxFuture<'static, Input> {
        let consent = move |command: &str| match &seen {
            None => PriorConsent::None,
            Some(seen) => {
                let digest = seen.iter().find(|seen| &*seen.command == command).map(|seen| seen.digest.clone());
                PriorConsent::Allowed { digest: digest.unwrap_or_default() }
            }
        };
        let mut context = self.tool_context(thread, &call, false);
        let (granted, chain) = (thread.approvals.granted.clone(), thread.chain());
        let (facts, tools) = (self.runtime.facts.clone(), self.runtime.tools.snapshot());
        async move {
            let rules = rules.unwrap_or_else(|| facts.rules());
            context.workspace = readable(context.workspace, &chain, &rules);
            let nested = NestedCalls::new(tools, facts, chain, rules, granted, &context);
            let ran = AssertUnwindSafe(run_checks(&commands, Some(&nested), consent)).catch_unwind().await;
            let result = ran.unwrap_or_else(|panic| {
                ToolResult::error(format!(
                    "the checks failed inside, their outcome is unknown: {}",
                    message_of(&*panic)
                ))
            });
            Input::ChecksFinished { call, result }
        }
        .boxed()
    }

    /// Runs the hooks that hear of the end of a run before it ends. An error sends the agent back to work.
    fn run_stop_hooks(&mut self, thread: &Thread, call: CallId) -> BoxFuture<'static, Input> {
        let context = self.tool_context(thread, &call, false);
        let run = thread.run.as_ref();
        let kind = HookKind::RunEnded {
            report: run.map(|run| run.words.last_text.clone()).unwrap_or_default(),
            was_sent_back: run.is_some_and(|run| run.hooks.failed > 0),
        };
        let hooks = self.runtime.facts.hooks(HookMoment::of(thread, kind));
        async move {
            let outcome = match hooks {
                Some(hooks) => tokio::select! {
                    outcome = hooks => outcome,
                    () = context.stop.cancelled() => HookOutcome::default(),
                },
                None => HookOutcome::default(),
            };
            let result = match outcome.refused {
                Some(reason) => ToolResult { executed: true, ..ToolResult::error(reason) },
                None => ToolResult::ok("the hooks let it end"),
            };
            Input::ChecksFinished { call, result }
        }
        .boxed()
    }

    /// What a call of the thread works with.
    fn tool_context(&mut self, thread: &Thread, call: &CallId, is_approved: bool) -> tool::ToolContext {
        self.tools.retain(|call, _| thread.calls.slot(call).is_some());
        let stop = CancellationToken::new();
        self.tools.insert(call.clone(), stop.clone());
        let (fleeting, id, shown) = (self.runtime.fleeting.clone(), self.id.clone(), call.clone());
        let progress = move |text: &str| {
            let what = FleetingKind::Call(shown.clone());
            // There may be no receiver.
            let _ = fleeting.send(Fleeting { thread: id.clone(), what, text: text.to_owned() });
        };
        let asks = CallAsks {
            runtime: self.runtime.clone(),
            thread: self.id.clone(),
            call: call.clone(),
            questions: self.questions.clone(),
        };
        tool::ToolContext {
            workspace: self.workspace.clone(),
            thread: self.id.clone(),
            call: call.clone(),
            reach: thread.calls.slot(call).and_then(|slot| slot.verdict.reach()),
            is_approved,
            seen_files: self.seen_files.clone(),
            stop,
            data: self.runtime.data.clone(),
            progress: Some(Arc::new(progress)),
            foreign: thread.foreign,
            tools: thread.tools.names().into(),
            nested: None,
            asks: Some(Arc::new(asks)),
        }
    }
}

/// A folder without what a rule forbids the thread, or anybody above it, to read.
pub fn readable(workspace: Arc<Workspace>, chain: &[Layer], rules: &[Rule]) -> Arc<Workspace> {
    let patterns = forbidden(chain, rules, READ_FILE);
    if patterns.is_empty() { workspace } else { Arc::new(workspace.without(patterns)) }
}

/// A wait and up to a tenth more, so that those who were turned away together do not come back together.
fn jittered(wait: Duration) -> Duration {
    let mut byte = [0u8; 1];
    match getrandom::fill(&mut byte) {
        Ok(()) => wait + wait.mul_f64(f64::from(byte[0]) / 2550.0),
        Err(_) => wait,
    }
}
