//! A server of tools asks the model of the agent, in the middle of a call of that agent.
//!
//! It is decided like a call of a tool of that server, reserved before it is made, and booked on the grant of the agent. It ends with its call:
//! what was reserved then counts as spent, for the answer is lost.

use std::sync::Arc;

use crate::approval::{Approval, ApprovalId, EXPIRES_MS, Resolution};
use crate::budget::Claim;
use crate::effect::Effect;
use crate::event::Event;
use crate::facts::{Consent, Facts};
use crate::id::CallId;
use crate::json::Json;
use crate::machine::Moment;
use crate::message::{Message, Role};
use crate::model::{Answer, CallError, StopReason, Tokens};
use crate::permission::{self, Action, Asked, Weighed};
use crate::sampling::{Sampled, SamplingEnded, SamplingRequest, SamplingStarted, tool_name};
use crate::thread::{SlotState, Thread};
use crate::tools::{Assessment, Reach, Risk, ToolInfo};
use crate::turn::{answer, approval, begin};

/// The most requests that servers may make on behalf of one call.
pub const MOST_OF_CALL: u32 = 16;

/// The longest answer that a server is given.
const MAX_OUTPUT: u64 = 4_096;

/// How much of the words of a server is shown with the question; all of them are beside it.
const SHOWN_WORDS: usize = 300;

/// A server wants the model to be asked. It goes on with the call meanwhile, and whatever comes of it is handed to it. A call that is over
/// waits for nothing.
pub fn wanted(moment: &mut Moment<'_>, call: &CallId, number: u32, server: &Arc<str>, input: &Json) {
    let is_ending = moment.thread.run.as_ref().is_none_or(|run| run.closing.ending.is_some());
    let Some(slot) = moment.thread.calls.slot(call) else { return };
    let SlotState::Running { stopping, .. } = slot.state else { return };
    let asked = Request { call: call.clone(), number, server: server.clone() };
    if stopping || is_ending {
        return refuse(moment, &asked, "the call is being stopped");
    }
    if let Err(why) = SamplingRequest::read(input) {
        return refuse(moment, &asked, why);
    }
    if moment.thread.calls.sampled(call) >= MOST_OF_CALL {
        return refuse(moment, &asked, &format!("the model was asked {MOST_OF_CALL} times for this call"));
    }
    let name = tool_name(server);
    let Weighed { assessment, risk, judgement, .. } = weigh(moment.thread, moment.facts, &name, input);
    match judgement.action {
        Action::Allow => start(moment, asked, input),
        Action::Deny => refuse(moment, &asked, &format!("it is not permitted: {}", judgement.by)),
        Action::Ask => {
            let thread = &*moment.thread;
            let approval = Approval {
                id: ApprovalId::of(thread.id(), thread.issued.questions + 1),
                call: call.clone(),
                tool: name,
                input: input.clone(),
                digest: assessment.digest,
                path: thread.created.path.clone(),
                workspace: thread.created.workspace.clone(),
                why: judgement.by,
                effect: assessment.effect,
                risk,
                protected: Vec::new(),
                // The words are those of the server.
                foreign: true,
                standing: assessment.standing,
                question: None,
                sampling: Some(number),
                places: 0,
                expires_at: moment.now.plus_ms(EXPIRES_MS),
            };
            moment.emit(Event::ApprovalRequested(Box::new(approval.clone())));
            if moment.facts.consent == Consent::Nobody {
                let rule = way_out(moment, &approval);
                approval::resolve(moment, &approval, None, Resolution::Unanswered { rule });
            }
        }
    }
}

/// A person decided about the request of a server, or no longer needs to.
pub fn decided(moment: &mut Moment<'_>, approval: &Approval, number: u32, resolution: &Resolution) {
    let server = approval.tool.split_once("__").map_or("", |(server, _)| server);
    let asked = Request { call: approval.call.clone(), number, server: server.into() };
    match resolution {
        Resolution::Allowed { input, .. } => start(moment, asked, input.as_ref().unwrap_or(&approval.input)),
        Resolution::Denied { reason: Some(reason) } => {
            refuse(moment, &asked, &format!("a person refused it: {reason}"));
        }
        Resolution::Withdrawn { reason } => refuse(moment, &asked, reason),
        Resolution::Unanswered { .. } => {
            refuse(moment, &asked, "it needs a person's consent, and nobody can give it here");
        }
        Resolution::Expired { .. } => refuse(moment, &asked, "nobody decided in time"),
        Resolution::Forbidden { rule } => refuse(moment, &asked, &format!("it is not permitted: {rule}")),
        Resolution::Denied { reason: None } | Resolution::Answered { .. } => {
            refuse(moment, &asked, "a person refused it");
        }
    }
}

/// The model answered a server, or the request failed.
pub fn answered(moment: &mut Moment<'_>, number: u32, outcome: Result<Answer, CallError>) {
    let Some(open) = moment.thread.calls.sample(number).cloned() else { return };
    let SamplingStarted { call, server, input, claim, .. } = open;
    let prompt = SamplingRequest::read(&input).map_or(0, |request| prompt_tokens(&request));
    let (text, is_cut, error, booked, tokens) = match outcome {
        Ok(answer) => {
            let said = Message { role: Role::Assistant, parts: answer.parts };
            let estimate = || Tokens { input: prompt, output: (said.bytes() as u64).div_ceil(4), ..Tokens::default() };
            let tokens = answer.tokens.unwrap_or_else(estimate);
            let booked = booked(moment.thread, &tokens);
            let text: Arc<str> = said.text().into();
            let error = text.trim().is_empty().then(|| Arc::from("the model said nothing"));
            (text, answer.stop == StopReason::MaxTokens, error, booked, answer.tokens)
        }
        Err(error) => {
            let known = error.tokens.as_deref().copied();
            let booked = match (error.may_be_billed(), &known) {
                (false, _) => Claim { requests: claim.requests, ..Claim::default() },
                (true, None) => claim,
                (true, Some(tokens)) => {
                    let known = booked(moment.thread, tokens);
                    let tokens = known.tokens.min(claim.tokens);
                    let cost_microusd = known.cost_microusd.min(claim.cost_microusd);
                    Claim { tokens, cost_microusd, answer_tokens: known.answer_tokens.min(tokens), ..known }
                }
            };
            ("".into(), false, Some(error.to_string().into()), booked, known)
        }
    };
    end(moment, SamplingEnded { call, number, server, text, is_cut, error, booked, tokens });
    answer::warn(moment);
}

/// What servers asked on behalf of a call that is over is of no use any more.
pub fn withdraw(moment: &mut Moment<'_>, call: &CallId, reason: &str) {
    for open in moment.thread.calls.samples_of(call) {
        let SamplingStarted { call, number, server, claim, .. } = open;
        let (text, is_cut, error) = ("".into(), false, Some(reason.into()));
        end(moment, SamplingEnded { call, number, server, text, is_cut, error, booked: claim, tokens: None });
    }
}

/// What would become of the request of a server.
pub fn weigh(thread: &Thread, facts: &Facts, name: &Arc<str>, input: &Json) -> Weighed {
    let assessment = assess(thread, name, input);
    let asked = Asked { tool: name, assessment: &assessment, foreign: true, asks: None };
    let judgement = permission::judge(&thread.chain(), facts.rules(), &thread.approvals.granted, &asked);
    Weighed { risk: asked.risk(), judgement, assessment, way_out: None }
}

/// The rule that would have allowed it.
pub fn way_out(moment: &Moment<'_>, approval: &Approval) -> Arc<str> {
    let weighed = weigh(moment.thread, moment.facts, &approval.tool, &approval.input);
    let tool = info(&approval.tool);
    crate::turn::permission::way_out(&moment.facts.catalog, &tool, &weighed.assessment, &weighed.judgement)
}

/// Who asks.
struct Request {
    call: CallId,
    number: u32,
    server: Arc<str>,
}

/// To the rules it is a call of which nothing is known but its words.
fn info(name: &Arc<str>) -> ToolInfo {
    ToolInfo {
        name: name.clone(),
        description: "".into(),
        schema: Json::object(),
        reach: Reach::World,
        idempotent: false,
        risk: Risk::Medium,
    }
}

fn assess(thread: &Thread, name: &Arc<str>, input: &Json) -> Assessment {
    let server = name.split_once("__").map_or("", |(server, _)| server);
    let request = SamplingRequest::read(input);
    let (most, newest) = request.map_or((0, String::new()), |request| (longest(thread, &request), request.newest()));
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut words: String = newest.chars().map(plain).take(SHOWN_WORDS).collect();
    if newest.chars().count() > SHOWN_WORDS {
        words.push('…');
    }
    let effect = format!(
        "asks {} for MCP server {server}, up to {most} tokens at this agent's expense; the answer is sent to the server. It asks: {words}",
        thread.model.name
    );
    Assessment { effect: effect.into(), standing: Some("*".into()), ..Assessment::of(&info(name), input) }
}

fn start(moment: &mut Moment<'_>, asked: Request, input: &Json) {
    let request = match SamplingRequest::read(input) {
        Ok(request) => request,
        Err(why) => return refuse(moment, &asked, why),
    };
    let (max_tokens, claim) = match afford(moment, &request) {
        Ok(affordable) => affordable,
        Err(why) => return refuse(moment, &asked, why),
    };
    let Request { call, number, server } = asked;
    let started = SamplingStarted { call, number, server, input: input.clone(), max_tokens, claim };
    let effect = started.effect();
    moment.emit(Event::SamplingStarted(Box::new(started)));
    moment.ask(effect);
}

impl SamplingStarted {
    /// The request as an effect.
    pub(crate) fn effect(&self) -> Effect {
        let Self { call, number, input, max_tokens, .. } = self.clone();
        Effect::Sample { call, number, input, max_tokens }
    }
}

fn refuse(moment: &mut Moment<'_>, asked: &Request, why: &str) {
    let Request { call, number, server } = asked;
    let (call, server, error) = (call.clone(), server.clone(), Some(why.into()));
    let (booked, tokens) = (Claim::default(), None);
    end(moment, SamplingEnded { call, number: *number, server, text: "".into(), is_cut: false, error, booked, tokens });
}

/// It is remembered, and the call hears of it.
fn end(moment: &mut Moment<'_>, ended: SamplingEnded) {
    let (call, number) = (ended.call.clone(), ended.number);
    let answer = match &ended.error {
        Some(why) => Err(why.clone()),
        None => {
            let model = moment.thread.model.name.clone();
            Ok(Sampled { text: ended.text.clone(), model, is_cut: ended.is_cut })
        }
    };
    moment.emit(Event::SamplingEnded(Box::new(ended)));
    moment.ask(Effect::AnswerSample { call, number, answer });
}

fn longest(thread: &Thread, request: &SamplingRequest) -> u64 {
    request.max_tokens.min(thread.model.max_output_tokens).min(MAX_OUTPUT)
}

/// Tokens of a request, roughly, rather too many.
fn prompt_tokens(request: &SamplingRequest) -> u64 {
    (request.bytes() as u64).div_ceil(3) + 16
}

/// How long the answer may be and what is reserved for it; or why the grant of the agent does not reach. A last word of the agent itself
/// stays affordable.
fn afford(moment: &Moment<'_>, request: &SamplingRequest) -> Result<(u64, Claim), &'static str> {
    let thread = &*moment.thread;
    let (prompt, output) = (prompt_tokens(request), longest(thread, request));
    if prompt.saturating_add(output) > thread.context_tokens() {
        return Err("it does not fit into the model's window");
    }
    let price = thread.model.price.unwrap_or_default();
    let cost_of = |prompt: u64, output: u64| {
        let price = price.for_prompt(prompt);
        let dearest = crate::model::Price { input: begin::dearest_prompt(&price), ..price };
        dearest.of(&Tokens { input: prompt, output, ..Tokens::default() })
    };
    let tokens = prompt.saturating_add(output);
    let claim = Claim { tokens, cost_microusd: cost_of(prompt, output), requests: 1, answer_tokens: output };
    let closing_cost = cost_of(begin::prompt_tokens(moment, 0), begin::CLOSING_OUTPUT);
    let is_left = thread.requests_left().is_none_or(|left| left >= 2)
        && thread.tokens_left().is_none_or(|left| left >= tokens.saturating_add(begin::closing_tokens(moment)))
        && thread.cost_left().is_none_or(|left| left >= claim.cost_microusd.saturating_add(closing_cost));
    if is_left { Ok((output, claim)) } else { Err("what the agent may spend does not reach for it") }
}

/// What counts against the grant for so many tokens. Nothing of the prompt was sent before.
fn booked(thread: &Thread, tokens: &Tokens) -> Claim {
    let price = thread.model.price.unwrap_or_default();
    Claim { tokens: tokens.total(), cost_microusd: price.of(tokens), requests: 1, answer_tokens: tokens.output }
}
