//! Plays a story: drives every thread of a family by the rules alone, with a clock that moves only when the story says so.
//!
//! The stage does what the runtime does, in the same order and without anything that could surprise: events first, then
//! effects, one after the other. What it waits for from the world must come from the story.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use agent::approval::{ApprovalId, Decision};
use agent::budget::Claim;
use agent::event::ThreadCreated;
use agent::input::{Outside, Strength};
use agent::report::Report;
use agent::{Catalog, Consent, Effect, Event, Input, InputId, Thread, ThreadId, Time};

use super::scenery;
use super::script::{Act, Setup, What};
use super::words::{self, Scene};

/// A family on stage.
pub struct Stage {
    catalog: Arc<Catalog>,
    now: Time,
    began: Time,
    root: ThreadId,
    consent: Consent,
    actors: BTreeMap<ThreadId, Actor>,
    /// What the stage itself has still to do.
    todo: VecDeque<(ThreadId, Todo)>,
    told: Vec<String>,
    /// Whether time passes while the stage tells: then every line says when.
    waiting: bool,
    inputs: u32,
    last_sent: Option<(ThreadId, InputId, Outside)>,
}

/// A thread, its log, and what it asked of the world.
struct Actor {
    thread: Thread,
    log: Vec<(Time, Event)>,
    asked: Vec<Effect>,
    heard: Option<Time>,
    /// Whether a process drives it.
    awake: bool,
    /// Whether its report gets through.
    unheard: bool,
}

enum Todo {
    Handle(Box<Input>),
    Receive(InputId, Outside),
    Perform(Effect),
}

impl Stage {
    /// The scene as it was set, with a root that has nothing to do.
    pub fn new(setup: &Setup) -> Self {
        let catalog = Arc::new(scenery::catalog());
        let created = scenery::root(&catalog, setup);
        let now = Time(1_768_471_200_000);
        let root = created.id.clone();
        let actors = BTreeMap::from([(root.clone(), Actor::new(now, created))]);
        let told = Vec::new();
        let todo = VecDeque::new();
        let (consent, waiting) = (setup.consent, false);
        Self { catalog, now, began: now, root, consent, actors, todo, told, waiting, inputs: 0, last_sent: None }
    }

    /// Plays one line and tells what came of it.
    pub fn play(&mut self, line: usize, act: Act) -> Vec<String> {
        let place = format!("line {line}");
        let who = ThreadId::new(format!("{}{}", self.root, act.who));
        assert!(self.actors.contains_key(&who), "{place}: there is no thread {}", act.who);
        match act.what {
            What::Sends(outside) => {
                let id = self.next_input();
                self.last_sent = Some((who.clone(), id.clone(), outside.clone()));
                self.todo.push_back((who, Todo::Receive(id, outside)));
            }
            What::Resends => {
                let (who, id, outside) = self.last_sent.clone().expect("something was sent before");
                self.todo.push_back((who, Todo::Receive(id, outside)));
            }
            What::AnswersQuestion { number, text } => {
                let (id, approval) = (self.next_input(), ApprovalId::of(&who, number));
                let asked = self.actors[&who].thread.approvals.open.get(&approval);
                let asked = asked.unwrap_or_else(|| panic!("{place}: {approval} is not open"));
                let (digest, decision) = (asked.digest.clone(), Decision::Answer { text });
                let outside = Outside::Decided { approval, digest, decision };
                self.todo.push_back((who, Todo::Receive(id, outside)));
            }
            What::Answers { answer, schema_error } => {
                let turn = self.turn(&who, &place);
                self.hand(who, Input::ModelAnswered { turn, answer, schema_error });
            }
            What::Fails(error) => {
                let turn = self.turn(&who, &place);
                self.hand(who, Input::ModelFailed { turn, error });
            }
            What::Returns { call, result } => {
                let asked = &self.actors[&who].asked;
                let runs =
                    |effect: &Effect| matches!(effect, Effect::RunTool { call: running, .. } if *running == call);
                let checks =
                    |effect: &Effect| matches!(effect, Effect::RunChecks { call: running, .. } if *running == call);
                let input = if asked.iter().any(checks) {
                    Input::ChecksFinished { call, result }
                } else {
                    assert!(asked.iter().any(runs), "{place}: {call} does not run");
                    Input::ToolFinished { call, result }
                };
                self.hand(who, input);
            }
            What::Hears => self.actor(&who).heard = Some(self.now),
            What::Waits { ms } => self.wait_until(self.now.plus_ms(ms)),
            What::Crashes { away_ms, meanwhile } => self.crash(away_ms, meanwhile),
            What::Panics(message) => self.hand(who, Input::Panicked { message }),
            What::GoesUnheard => self.actor(&who).unheard = true,
            What::ReportsAgain => {
                let report = self.actors[&who].report().unwrap_or_else(|| panic!("{place}: it has not reported"));
                let parent = who.parent().expect("only children report");
                self.hand(parent, Input::ChildReported { child: who, report: Box::new(report) });
            }
            What::Shows(what) => {
                let actor = &self.actors[&who];
                let shown =
                    words::shown(&what, &actor.thread, &self.catalog).unwrap_or_else(|| panic!("{place}: what?"));
                self.told.extend(shown);
            }
        }
        self.settle();
        std::mem::take(&mut self.told)
    }

    /// The turn that the model may answer. A request that waits for its time lets the time pass first.
    fn turn(&mut self, who: &ThreadId, place: &str) -> u32 {
        let request = |effect: &Effect| match effect {
            Effect::CallModel { turn, not_before, .. } => Some((*turn, *not_before)),
            _ => None,
        };
        let asked = self.actors[who].asked.iter().find_map(request);
        let (turn, not_before) = asked.unwrap_or_else(|| panic!("{place}: the model was not asked"));
        self.now = not_before.map_or(self.now, |moment| moment.max(self.now));
        turn
    }

    /// Hands an input to a thread once what is under way is done.
    fn hand(&mut self, who: ThreadId, input: Input) {
        self.todo.push_back((who, Todo::Handle(Box::new(input))));
    }

    fn settle(&mut self) {
        while let Some((who, todo)) = self.todo.pop_front() {
            match todo {
                Todo::Handle(input) => self.handle(&who, *input),
                Todo::Receive(id, outside) => {
                    let now = self.now;
                    self.actor(&who).append(now, Event::InputArrived { id, input: outside });
                    self.handle(&who, Input::Arrived);
                }
                Todo::Perform(effect) => self.perform(&who, effect),
            }
        }
    }

    fn handle(&mut self, who: &ThreadId, input: Input) {
        let now = self.now;
        let actor = self.actors.get_mut(who).expect("only threads on stage are driven");
        actor.answered(&input);
        let claim = actor.thread.claim();
        let facts = scenery::facts(&self.catalog, self.consent, &actor.thread, &input, now);
        let step = actor.thread.handle(input, &facts, now);
        for event in step.events {
            self.tell(who, claim, &event);
            let reported = match &event {
                Event::Reported(report) => Some((**report).clone()),
                _ => None,
            };
            let actor = self.actor(who);
            actor.log.push((now, event));
            if let (Some(report), Some(parent), false) = (reported, who.parent(), actor.unheard) {
                let child = who.clone();
                self.hand(parent, Input::ChildReported { child, report: Box::new(report) });
            }
        }
        for effect in step.effects {
            self.actor(who).ask(effect.clone());
            self.todo.push_back((who.clone(), Todo::Perform(effect)));
        }
        self.actors[who].agrees_with_itself();
    }

    /// Does what a family does for itself; the rest is the story's.
    fn perform(&mut self, who: &ThreadId, effect: Effect) {
        match effect {
            Effect::StartChild { child } => self.start(who, child),
            Effect::StopChild { child, strength, reason } => {
                let id = match strength {
                    Strength::Cancel => "stop-cancel",
                    Strength::Kill => "stop-kill",
                };
                let known = self.actors[who].thread.children.live.get(&child);
                let asked = known.and_then(|child| child.asked().cloned());
                let id = asked.as_ref().map_or_else(|| id.to_owned(), |asked| format!("{id}/{}", asked.0));
                if self.actors.get(&child).is_some_and(|child| !child.thread.is_over()) {
                    let stop = Outside::Stopped { strength, reason, run: asked };
                    self.todo.push_back((child, Todo::Receive(InputId::new(id), stop)));
                }
            }
            Effect::TellChild { child, call, text } => {
                let delivered = !self.actors[&child].thread.is_over();
                if delivered {
                    let steer = Outside::Steered {
                        text,
                        from: self.actors[who].thread.created.name.clone(),
                        foreign: self.actors[who].thread.foreign,
                    };
                    self.todo.push_back((child, Todo::Receive(InputId::new(call.as_str()), steer)));
                }
                self.hand(who.clone(), Input::ChildTold { call, delivered });
            }
            Effect::CallModel { .. }
            | Effect::CancelModel { .. }
            | Effect::RunTool { .. }
            | Effect::AnswerTool { .. }
            | Effect::Sample { .. }
            | Effect::AnswerSample { .. }
            | Effect::RunChecks { .. }
            | Effect::StopTool { .. } => {}
        }
    }

    /// Begins a child, asks it what it was asked, goes on with it, or fetches its report.
    fn start(&mut self, parent: &ThreadId, child: ThreadId) {
        let question = self.actors[parent].thread.child_question(&child);
        let asked = question.as_ref().map(|(id, _)| id.clone());
        if let Some((id, question)) = question.filter(|(id, _)| !self.actors[&child].thread.inbox.seen.contains(id)) {
            self.actor(&child).awake = true;
            return self.todo.push_back((child, Todo::Receive(id, question)));
        }
        match self.actors.get_mut(&child) {
            None => {
                let created =
                    self.actors[parent].thread.child_created(&child).expect("a child that starts was spawned");
                self.actors.insert(child.clone(), Actor::new(self.now, created));
                self.hand(child, Input::Begin);
            }
            Some(actor) => {
                if let Some(report) = actor.report_on(asked.as_ref()) {
                    self.hand(parent.clone(), Input::ChildReported { child, report: Box::new(report) });
                } else if !actor.awake {
                    actor.awake = true;
                    self.hand(child, Input::Reopened);
                }
            }
        }
    }

    fn wait_until(&mut self, end: Time) {
        self.waiting = true;
        for _ in 0..1000 {
            let wake = |(id, actor): (&ThreadId, &Actor)| Some((actor.thread.next_wake(actor.heard)?, id.clone()));
            let due = self.actors.iter().filter_map(wake).min().filter(|(at, _)| *at <= end);
            let Some((at, who)) = due else {
                self.now = end;
                self.waiting = false;
                return;
            };
            self.now = self.now.max(at);
            let heard = self.actors[&who].heard;
            self.hand(who, Input::TimePassed { heard });
            self.settle();
        }
        panic!("a thread is woken again and again at the same moment");
    }

    fn crash(&mut self, away_ms: u64, meanwhile: Vec<Outside>) {
        for input in meanwhile {
            let (root, id, now) = (self.root.clone(), self.next_input(), self.now);
            self.actor(&root).append(now, Event::InputArrived { id, input });
        }
        self.now = self.now.plus_ms(away_ms);
        for actor in self.actors.values_mut() {
            actor.thread = actor.replayed();
            actor.asked.clear();
            actor.heard = None;
            actor.awake = false;
            actor.unheard = false;
        }
        let root = self.root.clone();
        self.actor(&root).awake = true;
        self.hand(root, Input::Reopened);
    }

    fn tell(&mut self, who: &ThreadId, claim: Claim, event: &Event) {
        let model = &self.actors[who].thread.model;
        let scene = Scene { root: &self.root, now: self.now, claim, longest_answer: model.max_output_tokens };
        let at = if self.waiting {
            format!("at {}, ", words::seconds(self.now.since_ms(self.began)))
        } else {
            String::new()
        };
        let mut lines = words::event(&scene, event).into_iter();
        let first = lines.next().unwrap_or_default();
        self.told.push(format!("{} {at}{first}", words::path(&self.root, who)));
        self.told.extend(lines.map(|line| format!("  | {line}").trim_end().to_owned()));
    }

    fn next_input(&mut self) -> InputId {
        self.inputs += 1;
        InputId::new(format!("i{}", self.inputs))
    }

    fn actor(&mut self, who: &ThreadId) -> &mut Actor {
        self.actors.get_mut(who).expect("only threads on stage are driven")
    }
}

impl Actor {
    fn new(now: Time, created: ThreadCreated) -> Self {
        let first = Event::ThreadCreated(Box::new(created));
        let thread = Thread::new(now, &first);
        Self { thread, log: vec![(now, first)], asked: Vec::new(), heard: None, awake: true, unheard: false }
    }

    fn append(&mut self, now: Time, event: Event) {
        self.thread.apply(now, &event);
        self.log.push((now, event));
    }

    fn report(&self) -> Option<Report> {
        match self.log.last() {
            Some((_, Event::Reported(report))) => Some((**report).clone()),
            Some(_) | None => None,
        }
    }

    fn report_on(&self, asked: Option<&InputId>) -> Option<Report> {
        self.log.iter().find_map(|(_, event)| match event {
            Event::Reported(report) if report.asked.as_ref() == asked => Some((**report).clone()),
            _ => None,
        })
    }

    fn replayed(&self) -> Thread {
        let log = self.log.iter().map(|(at, event)| (*at, event));
        Thread::replay(log).expect("a log has a first event")
    }

    /// Remembers what was asked of the world. A stronger stop takes the place of a weaker one.
    fn ask(&mut self, effect: Effect) {
        if let Effect::StopChild { child, .. } = &effect {
            self.asked.retain(|asked| !matches!(asked, Effect::StopChild { child: same, .. } if same == child));
        }
        self.asked.push(effect);
    }

    /// Forgets what `input` answers.
    fn answered(&mut self, input: &Input) {
        self.asked.retain(|effect| match (effect, input) {
            (
                Effect::CallModel { turn, .. } | Effect::CancelModel { turn },
                Input::ModelAnswered { turn: over, .. } | Input::ModelFailed { turn: over, .. },
            ) => turn != over,
            (Effect::RunTool { call, .. } | Effect::StopTool { call }, Input::ToolFinished { call: over, .. })
            | (Effect::RunChecks { call, .. } | Effect::StopTool { call }, Input::ChecksFinished { call: over, .. })
            | (Effect::TellChild { call, .. }, Input::ChildTold { call: over, .. }) => call != over,
            (
                Effect::StartChild { child } | Effect::StopChild { child, .. },
                Input::ChildReported { child: over, .. },
            ) => child != over,
            _ => true,
        });
    }

    /// Its log tells the same thread, and it waits for exactly what it asked for.
    fn agrees_with_itself(&self) {
        let id = self.thread.id();
        assert!(self.replayed() == self.thread, "{id}: its log tells another thread");
        let sorted = |effects: &[Effect]| {
            let mut lines: Vec<String> = effects.iter().map(|effect| format!("{effect:?}")).collect();
            lines.sort();
            lines
        };
        assert_eq!(
            sorted(&self.asked),
            sorted(&self.thread.pending()),
            "{id}: asked of the world (left), pending (right)"
        );
    }
}
