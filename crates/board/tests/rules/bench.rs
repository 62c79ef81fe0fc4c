//! A board with a clock, on which commands are carried out as a store would.

use agent::{InputId, Mode, ThreadId, Time};
use majordomo_board::kept::Kept;
use majordomo_board::{
    Actor, Assignee, BoardId, Change, Command, Delivery, DeliveryKind, Entry, Facts, MOST_WAKES, NewAgent, NewTask,
    Refusal, Reply, Request, StartedAgent, Status, Task, TaskId, handle,
};

pub struct Bench {
    pub kept: Kept,
    pub log: Vec<(Time, Entry)>,
    now: Time,
    pub most: u32,
    /// How often agents may wake each other over a task.
    pub most_wakes: u32,
    roots: u32,
}

pub fn thread(name: &str) -> ThreadId {
    ThreadId::new(name)
}

pub fn agent(name: &str) -> Actor {
    Actor::Thread(thread(name))
}

pub fn new_agent() -> Option<Assignee> {
    Some(Assignee::New(NewAgent { agent: None, model: Some("anthropic/claude-3-sonnet".into()) }))
}

pub fn t(number: u64) -> TaskId {
    TaskId::of(number)
}

impl Bench {
    pub fn new() -> Self {
        let kept = Kept::new(BoardId::new("/home/ana/project"));
        Self { kept, log: Vec::new(), now: Time(1_000), most: 4, most_wakes: MOST_WAKES, roots: 0 }
    }

    pub fn ask(&mut self, by: Actor, command: Command) -> Result<Reply, Refusal> {
        self.ask_as(None, by, command)
    }

    pub fn ask_as(&mut self, name: Option<&str>, by: Actor, command: Command) -> Result<Reply, Refusal> {
        self.request(&Request::new(by, name.map(InputId::new), "/home/ana/project".into(), command))
    }

    /// Asks as an agent does that may do no more than `mode`, and has read untrusted text.
    pub fn ask_limited(&mut self, by: Actor, mode: Mode, command: Command) -> Result<Reply, Refusal> {
        let request = Request::new(by, None, "/home/ana/project".into(), command);
        self.request(&Request { foreign: true, mode: Some(mode), ..request })
    }

    /// Asks as an agent does that works in this mode.
    pub fn ask_in(&mut self, by: Actor, mode: Mode, command: Command) -> Result<Reply, Refusal> {
        let request = Request::new(by, None, "/home/ana/project".into(), command);
        self.request(&Request { mode: Some(mode), ..request })
    }

    fn request(&mut self, request: &Request) -> Result<Reply, Refusal> {
        let request = &Request { most_wakes: self.most_wakes, ..request.clone() };
        self.now = self.now.plus_ms(1);
        let Ok(facts) = Facts::gather(&self.kept, request, self.kept.board.clone());
        let step = handle(request, facts, self.now)?;
        for entry in step.events {
            self.kept.apply(self.now, &entry);
            self.log.push((self.now, entry));
        }
        Ok(step.reply)
    }

    pub fn add(&mut self, by: Actor, task: NewTask) -> TaskId {
        match self.ask(by, Command::Add { tasks: vec![task] }) {
            Ok(Reply::Added(ids)) => ids[0].clone(),
            other => panic!("{other:?}"),
        }
    }

    pub fn set(&mut self, by: Actor, task: TaskId, change: Change) -> Result<Reply, Refusal> {
        self.ask(by, Command::Set { task, change, note: None })
    }

    pub fn done(&mut self, by: Actor, task: TaskId) -> Result<Reply, Refusal> {
        self.set(by, task, Change::Completed { result: None })
    }

    pub fn take(&mut self, room: u32) -> Vec<Delivery> {
        let fresh = (0..room).map(|n| thread(&format!("20260115-r{}", self.roots + n))).collect();
        self.roots += room;
        let take = Command::Take { room, most: self.most, labels: Vec::new(), fresh };
        match self.ask(Actor::System, take) {
            Ok(Reply::Taken(deliveries)) => deliveries,
            other => panic!("{other:?}"),
        }
    }

    /// Carries out a delivery that hands out a task.
    pub fn begin(&mut self, delivery: &Delivery) -> (ThreadId, Reply) {
        let (to, agent) = match &delivery.kind {
            DeliveryKind::Start { thread: id, under, .. } => {
                let id = id.clone().unwrap_or_else(|| {
                    let under = under.clone().expect("a sub-agent has a root");
                    under.child(delivery.task.number() as u32)
                });
                let parent = under.clone().unwrap_or_else(|| id.clone());
                let (name, provider, model) = ("agent-1".into(), "anthropic".into(), "claude-3-sonnet".into());
                (id, Some(StartedAgent { name, provider, model, parent }))
            }
            DeliveryKind::Assign { to } => (to.clone(), None),
            DeliveryKind::Tell { .. } => panic!("it hands out nothing"),
        };
        let (task, id, thread) = (delivery.task.clone(), delivery.id.clone(), to.clone());
        self.ask(Actor::System, Command::Name { task, delivery: id, thread, agent }).unwrap();
        let (task, id, thread) = (delivery.task.clone(), delivery.id.clone(), to.clone());
        let reply = self.ask(Actor::System, Command::Begun { task, delivery: id, thread, thread_n: 3 }).unwrap();
        (to, reply)
    }

    /// Hands out everything that can be, and has it begun.
    pub fn work(&mut self) -> Vec<(TaskId, ThreadId)> {
        let deliveries = self.take(100);
        deliveries.iter().map(|delivery| (delivery.task.clone(), self.begin(delivery).0)).collect()
    }

    pub fn task(&self, task: &TaskId) -> &Task {
        &self.kept.tasks[&task.number()]
    }

    pub fn status(&self, task: &TaskId) -> Status {
        self.task(task).status
    }

    /// Whom is to be told what, of what was not delivered yet.
    pub fn told(&self) -> Vec<(String, &'static str)> {
        let tell = |delivery: &Delivery| match &delivery.kind {
            DeliveryKind::Tell { to, notice } => Some((to.to_string(), notice.as_str())),
            DeliveryKind::Start { .. } | DeliveryKind::Assign { .. } => None,
        };
        let mut deliveries: Vec<&Delivery> = self.kept.deliveries.values().collect();
        deliveries.sort_by_key(|delivery| delivery.id.as_str().len());
        deliveries.into_iter().filter_map(tell).collect()
    }
}
