//! What is measured, in which order, and against which bounds.

use std::path::Path;

use anyhow::Context;
use clap::ValueEnum;
use majordomo::tool::Sandbox;

use crate::figure::{self, Figure};
use crate::gauge::Taken;
use crate::processes::{self, ModelServer, measure_children};
use crate::{Keep, Topic, board, chat, cluster, cold_start, commands, household_index, page, stop, watchers};

/// How often each measurement is taken; the middle one counts.
const ROUNDS: usize = 3;
/// How often what depends on time that goes by is taken; the best one counts, for others use the machine too.
const TIMED_ROUNDS: usize = 15;
/// Starts of the program.
const STARTS: usize = 15;
/// Events of the long thread.
const LONG: usize = 100_000;
/// Notes and mails of a household.
const NOTES: usize = 50_000;
const MAILS: usize = 100_000;
/// Events of a thread before it is watched.
const WATCHED: u64 = 1000;
/// Tasks of the large board and of the small one, and idle agents.
const TASKS: usize = 100_000;
const FEW_TASKS: usize = 10;
const AGENTS: usize = 10_000;
/// Threads to which is appended at the same time.
const APPENDED: usize = 1000;
/// Sub-agents of a root whose sub-agents run in workers, and how many run at the same time in each.
const CHILDREN: usize = 1000;
const AT_ONCE: usize = 25;
/// Clients of one server that follow what another process writes.
const ACROSS: usize = 100;
/// Agents of a worker that is killed.
const AGENTS_OF_KILLED: usize = 8;
/// Idle threads.
const CROWD: usize = 1_000_000;

/// Takes the measurements that are named, all where none is, and prints their table.
pub async fn run(quick: bool, only: &[Topic]) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut suite = Suite { folder: folder.path(), quick, figures: Vec::new() };
    for topic in Topic::value_variants() {
        let is_wanted = if only.is_empty() { !(quick && topic.is_large()) } else { only.contains(topic) };
        if is_wanted {
            suite.take(*topic).await?;
        }
    }
    print!("{}", figure::table(&suite.figures));
    Ok(())
}

/// What the whole program took, and what clients took that did the same work.
#[derive(Default)]
struct Programs {
    ours: Vec<Taken>,
    /// The client that sends prepared requests and drops the answers.
    drops: Vec<Taken>,
    /// The client that writes its requests, reads the answers and does what they ask for.
    reads: Vec<Taken>,
}

impl Programs {
    /// The clients, by what becomes of their answers.
    fn clients(&self) -> [(&'static str, &[Taken]); 2] {
        [("client that drops the answers", &self.drops), ("client that reads the answers", &self.reads)]
    }
}

struct Suite<'a> {
    folder: &'a Path,
    quick: bool,
    figures: Vec<Figure>,
}

impl Suite<'_> {
    async fn take(&mut self, topic: Topic) -> anyhow::Result<()> {
        match topic {
            Topic::Program => self.program().await,
            Topic::Cpu => self.processor().await,
            Topic::Wall => self.time().await,
            Topic::Memory => self.memory().await,
            Topic::Start => self.start().await,
            Topic::Demo => self.first_answer().await,
            Topic::Reopen => self.reopen().await,
            Topic::Commands => self.commands().await,
            Topic::Stop => self.stop().await,
            Topic::Watchers => self.watchers().await,
            Topic::Page => self.page().await,
            Topic::Household => self.household().await,
            Topic::Crowd => self.crowd().await,
            Topic::Board => self.board().await,
            Topic::Chat => tokio::task::block_in_place(|| self.chat()),
            Topic::Cluster => self.cluster().await,
        }
    }

    /// The program as a user starts it.
    async fn program(&mut self) -> anyhow::Result<()> {
        let without = (f64::INFINITY, f64::INFINITY);
        for progress in [false, true] {
            let words = if progress { "progress on a terminal" } else { "quiet" };
            for (children, cpu, time) in
                [(10, without, without), (100, without, without), (1000, (2.5, 2.0), (1.5, 1.5))]
            {
                let name = |what: &str| format!("{what}, `majordomo run`, {words}, N = {children}");
                let taken = self.programs(children, progress, 0, ROUNDS + 2).await?;
                let per_child = |taken: &[Taken]| {
                    figure::median(taken.iter().map(|taken| taken.cpu_us).collect()) as f64 / children as f64
                };
                for (client, bare) in taken.clients() {
                    let (ours, beside) = (per_child(&taken.ours), Some(per_child(bare)));
                    let (most, aim) = cpu;
                    let name_cpu = name(&format!("CPU per sub-agent ({client})"));
                    self.note(Figure { name: name_cpu, ours, beside, unit: "µs", most, aim });
                    let (ours, beside) = (best_ms(&taken.ours), Some(best_ms(bare)));
                    let (most, aim) = time;
                    let name = name(&format!("duration ({client})"));
                    self.note(Figure { name, ours, beside, unit: "ms", most, aim });
                }
            }
        }
        let children = 100;
        let taken = self.programs(children, false, 50, TIMED_ROUNDS).await?;
        for (client, bare) in taken.clients() {
            let name = format!("duration ({client}), `majordomo run`, quiet, 50 ms an answer, N = {children}");
            let (ours, beside) = (best_ms(&taken.ours), Some(best_ms(bare)));
            self.note(Figure { name, ours, beside, unit: "ms", most: 1.10, aim: 1.10 });
        }
        Ok(())
    }

    /// The program and the two bare clients in turns.
    async fn programs(
        &self,
        children: usize,
        progress: bool,
        latency_ms: u64,
        rounds: usize,
    ) -> anyhow::Result<Programs> {
        let server = ModelServer::start(&["--latency-ms", &latency_ms.to_string()]).await?;
        let mut taken = Programs::default();
        let count = children.to_string();
        for round in 0..rounds {
            let file = |who: &str| self.file(&format!("{who}-{children}-{progress}-{latency_ms}-{round}"));
            let data = file("program").display().to_string();
            let work = ["--server", &server.address, "--children", &count];
            let shown: &[&str] = if progress { &["--progress"] } else { &[] };
            taken.ours.push(processes::measure(&[&["program", "--data", &data], &work[..], shown].concat()).await?);
            let clients: [(_, &[&str], _); 2] =
                [("drops", &[], &mut taken.drops), ("reads", &["--reads"], &mut taken.reads)];
            for (who, reads, taken) in clients {
                let plain = file(who).display().to_string();
                let log = ["--keep", Keep::Full.name(), "--database", &plain, "--recorded", &data];
                taken.push(processes::measure(&[&["bare-program"], &work[..], &log[..], reads].concat()).await?);
            }
        }
        Ok(taken)
    }

    /// Processor time per sub-agent.
    async fn processor(&mut self) -> anyhow::Result<()> {
        let sizes: &[usize] = if self.quick { &[10, 100, 1000] } else { &[10, 100, 1000, 10_000] };
        for keep in [Keep::Memory, Keep::Normal, Keep::Full] {
            let words = keep.words();
            let mut by_size = Vec::new();
            for &children in sizes {
                let (ours, bare) = self.pair(children, keep, 0, ROUNDS).await?;
                let per_child = |taken: &[Taken]| {
                    figure::median(taken.iter().map(|taken| taken.cpu_us).collect()) as f64 / children as f64
                };
                let ours = per_child(&ours);
                by_size.push(ours);
                let name = format!("CPU per sub-agent, {words}, N = {children}");
                self.note(Figure { name, ours, beside: Some(per_child(&bare)), unit: "µs", most: 3.0, aim: 2.0 });
            }
            if let [.., thousand, ten_thousand] = by_size[..]
                && !self.quick
            {
                let name = format!("CPU per sub-agent, {words}, N = 10 000 compared with N = 1000");
                let beside = Some(thousand);
                self.note(Figure { name, ours: ten_thousand, beside, unit: "µs", most: 1.3, aim: 1.1 });
            }
        }
        Ok(())
    }

    /// Time that goes by while a model thinks.
    async fn time(&mut self) -> anyhow::Result<()> {
        for keep in [Keep::Memory, Keep::Normal] {
            for (children, most) in [(100, 1.10), (1000, 1.25)] {
                let (ours, bare) = self.pair(children, keep, 50, TIMED_ROUNDS).await?;
                let name = format!("duration of a run, 50 ms per answer, {}, N = {children}", keep.words());
                self.note(Figure {
                    name,
                    ours: best_ms(&ours),
                    beside: Some(best_ms(&bare)),
                    unit: "ms",
                    most,
                    aim: most,
                });
            }
        }
        Ok(())
    }

    /// Memory per sub-agent while all of them run.
    async fn memory(&mut self) -> anyhow::Result<()> {
        // From the fewer on nearly every connection there may be is open: what grows is agents, not sockets.
        let (few, many) = if self.quick { (1000, 3000) } else { (1000, 10_000) };
        let mut resident = Vec::new();
        for children in [few, many] {
            let server = ModelServer::start(&["--hold"]).await?;
            let database = self.file(&format!("held-{children}.db"));
            let taken = measure_children("held", &server, children, Keep::Normal, &database, None).await?;
            resident.push(taken.resident_kb as f64);
        }
        let per_child = (resident[1] - resident[0]) / (many - few) as f64;
        let name = format!("memory per running sub-agent, N = {few} to {many}");
        self.note(Figure { name, ours: per_child, beside: None, unit: "KB", most: 40.0, aim: 25.0 });
        Ok(())
    }

    /// The program from nothing to its first request.
    async fn start(&mut self) -> anyhow::Result<()> {
        let data = self.file("start");
        std::fs::create_dir(&data)?;
        let (root, leaf) = cold_start::first_requests(&data).await?;
        // An answer takes long enough for its asker to be looked at.
        let server = ModelServer::start(&["--latency-ms", "50"]).await?;
        let mut starts = Vec::new();
        for _ in 0..STARTS {
            starts.push(cold_start::start(&server, &data).await?);
        }
        let best = starts.iter().map(|start| start.until_asked_us).min().unwrap_or(0) as f64 / 1000.0;
        let middle = figure::median(starts.iter().map(|start| start.until_asked_us).collect()) as f64 / 1000.0;
        let peak = figure::median(starts.iter().map(|start| start.peak_kb).collect()) as f64 / 1024.0;
        let name = |words: &str| format!("`majordomo run` until its first request, {words}");
        self.note(Figure { name: name("best"), ours: best, beside: None, unit: "ms", most: 15.0, aim: 10.0 });
        self.note(Figure { name: name("median"), ours: middle, beside: None, unit: "ms", most: 15.0, aim: 10.0 });
        self.note(Figure { name: name("memory"), ours: peak, beside: None, unit: "MB", most: 30.0, aim: 30.0 });
        for (who, bytes, most) in [("a root", root, 2500.0), ("a leaf sub-agent", leaf, 1500.0)] {
            let name = format!("first request of {who}, bytes ÷ 4");
            self.note(Figure { name, ours: bytes as f64 / 4.0, beside: None, unit: "tokens", most, aim: most });
        }
        Ok(())
    }

    /// What a stranger waits for.
    async fn first_answer(&mut self) -> anyhow::Result<()> {
        let (mut first, mut again) = (Vec::new(), Vec::new());
        for round in 0..STARTS {
            let data = self.file(&format!("demo-{round}"));
            std::fs::create_dir(&data)?;
            first.push(cold_start::first_answer(&data).await?);
            again.push(cold_start::first_answer(&data).await?);
        }
        for (words, times) in [("first run", first), ("later run", again)] {
            let name = format!("answer of `majordomo run --demo`, {words}");
            let ours = figure::median(times) as f64 / 1000.0;
            self.note(Figure { name, ours, beside: None, unit: "ms", most: 300.0, aim: 150.0 });
        }
        Ok(())
    }

    /// A chat at a terminal.
    fn chat(&mut self) -> anyhow::Result<()> {
        let ms = |us: u64| us as f64 / 1000.0;
        let data = self.file("chat-start");
        let starts: Result<Vec<u64>, _> = (0..STARTS).map(|_| chat::until_prompt(&data)).collect();
        let name = "`majordomo chat` until its prompt".to_owned();
        self.note(Figure { name, ours: ms(figure::median(starts?)), beside: None, unit: "ms", most: 30.0, aim: 20.0 });
        let (mut keys, mut shares) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let quiet = chat::run_quietly(&self.file(&format!("chat-quiet-{round}")))?;
            let watched = chat::watch(&self.file(&format!("chat-watched-{round}")))?;
            keys.extend(watched.keys_us);
            shares.push(watched.cpu_us.saturating_sub(quiet.cpu_us) * 1000 / watched.wall_us);
        }
        keys.sort_unstable();
        let last_of_a_hundred = keys[keys.len() * 99 / 100];
        let name = "a key until it is shown, 99th of 100, 100 sub-agents stream".to_owned();
        self.note(Figure { name, ours: ms(last_of_a_hundred), beside: None, unit: "ms", most: 16.0, aim: 8.0 });
        let name = "processor while watching 100 that stream, besides `run -q`".to_owned();
        let ours = figure::median(shares) as f64 / 10.0;
        self.note(Figure { name, ours, beside: None, unit: "%", most: 15.0, aim: 8.0 });
        let (few, many) = chat::memory_kb(&self.file("chat-memory"))?;
        let name = "memory of a chat after 40 long answers, besides after 8".to_owned();
        self.note(Figure { name, ours: many as f64, beside: Some(few as f64), unit: "KB", most: 1.5, aim: 1.1 });
        Ok(())
    }

    /// A thread with a long past.
    async fn reopen(&mut self) -> anyhow::Result<()> {
        let (database, count) = (self.file("long.db").display().to_string(), LONG.to_string());
        processes::measure(&["write-long", "--database", &database, "--count", &count]).await?;
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            times.push(processes::measure(&["reopen", "--database", &database]).await?.wall_us);
        }
        let name = "resume a thread of 100 000 events".to_owned();
        let ours = figure::median(times) as f64 / 1000.0;
        self.note(Figure { name, ours, beside: None, unit: "ms", most: 1000.0, aim: 1000.0 });
        Ok(())
    }

    /// What `run_command` adds to `sh -c`.
    async fn commands(&mut self) -> anyhow::Result<()> {
        let (small, large) = (self.file("workspace"), self.file("workspace-large"));
        std::fs::create_dir(&small)?;
        commands::write_workspace(&large)?;
        let [small, large] = [small, large].map(|folder| folder.display().to_string());
        let mut cases = vec![("plain", &small, "without a sandbox", 3.0, 3.0)];
        if Sandbox::probe(&[]).is_in_force() {
            cases.push(("sandbox", &small, "in a sandbox", 8.0, 10.0));
            cases.push(("sandbox", &large, "in a sandbox, 20 000 files", 8.0, 10.0));
        } else {
            eprintln!("no sandbox works on this machine: what one costs is not measured");
        }
        for (through, workspace, words, cpu_ms, wall_ms) in &cases {
            let (mut ours, mut bare) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                let args = ["commands", "--workspace", workspace, "--through"];
                bare.push(processes::measure(&[&args[..], &["sh"]].concat()).await?);
                ours.push(processes::measure(&[&args[..], &[through]].concat()).await?);
            }
            let middle =
                |taken: &[Taken], of: fn(&Taken) -> u64| figure::median(taken.iter().map(of).collect()) as f64 / 1000.0;
            for (what, of, most) in
                [("CPU", (|taken| taken.cpu_us) as fn(&Taken) -> u64, cpu_ms), ("time", |taken| taken.wall_us, wall_ms)]
            {
                let (ours, bare) = (middle(&ours, of), middle(&bare, of));
                let name = format!("{what} of a command {words}, more than `sh -c` ({bare:.1} ms)");
                self.note(Figure { name, ours: ours - bare, beside: None, unit: "ms", most: *most, aim: *most });
            }
        }
        for (through, workspace, words, ..) in cases.iter().filter(|(_, workspace, ..)| *workspace == &small) {
            let args = ["held-commands", "--workspace", workspace, "--through"];
            let bare = processes::measure(&[&args[..], &["sh"]].concat()).await?.resident_kb as f64 / 1024.0;
            let ours = processes::measure(&[&args[..], &[through]].concat()).await?.resident_kb as f64 / 1024.0;
            let name = format!("memory of a running command {words}, more than `sh -c` ({bare:.1} MB)");
            self.note(Figure { name, ours: ours - bare, beside: None, unit: "MB", most: 2.0, aim: 2.0 });
        }
        Ok(())
    }

    /// A family with many commands comes to its end.
    async fn stop(&mut self) -> anyhow::Result<()> {
        for (way, words) in [(stop::Way::Stopped, "`majordomo stop --now`"), (stop::Way::Killed, "`kill -9`")] {
            let mut times = Vec::new();
            for round in 0..ROUNDS {
                times.push(stop::measure(&self.file(&format!("stop-{way:?}-{round}")), way).await?);
            }
            let name = format!(
                "{words} with {} agents and {} commands, until no process is left",
                stop::AGENTS,
                stop::PROCESSES
            );
            let ours = figure::median(times) as f64 / 1000.0;
            self.note(Figure { name, ours, beside: None, unit: "ms", most: 2000.0, aim: 1000.0 });
        }
        Ok(())
    }

    /// A thousand clients of one server.
    async fn watchers(&mut self) -> anyhow::Result<()> {
        let watched = watchers::measure(&self.file("watched"), WATCHED).await?;
        for figure in watched.figures(WATCHED) {
            self.note(figure);
        }
        Ok(())
    }

    /// A long conversation in a browser.
    async fn page(&mut self) -> anyhow::Result<()> {
        let drawn = match page::measure(&self.file("page")).await {
            Ok(drawn) => drawn,
            Err(error) => {
                eprintln!("the page is not measured: {error:#}");
                return Ok(());
            }
        };
        let page::Drawn { frames, inside, opened_us, toggled_us } = drawn;
        let name = format!("open a conversation of {frames} frames in a browser, until it is drawn");
        let ours = figure::median(opened_us) as f64 / 1000.0;
        self.note(Figure { name, ours, beside: None, unit: "ms", most: 500.0, aim: 250.0 });
        let name = format!("open or close a group of {inside} elements, until it is drawn");
        let ours = figure::median(toggled_us) as f64 / 1000.0;
        self.note(Figure { name, ours, beside: None, unit: "ms", most: 50.0, aim: 25.0 });
        Ok(())
    }

    /// A household of a hundred thousand mails and fifty thousand notes.
    async fn household(&mut self) -> anyhow::Result<()> {
        let (notes, mails) = if self.quick { (5_000, 10_000) } else { (NOTES, MAILS) };
        let folder = self.file("household");
        let place = ["--folder", &folder.display().to_string()];
        let amount = ["--notes", &notes.to_string(), "--mails", &mails.to_string()];
        processes::measure(&[&["write-household"], &place[..], &amount[..]].concat()).await?;
        for (what, count, most) in [("notes", notes, 20.0), ("mails", mails, 40.0)] {
            let taken = processes::measure(&[&[&*format!("index-{what}")], &place[..]].concat()).await?;
            let name = format!("first indexing of {count} {what}");
            let ours = taken.wall_us as f64 / 1e6;
            self.note(Figure { name, ours, beside: None, unit: "s", most, aim: most / 2.0 });
        }
        let (mut later, mut first, mut bare) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            for (way, times) in [("later", &mut later), ("first", &mut first), ("bare", &mut bare)] {
                let args = [&["search-notes", "--way", way], &place[..]].concat();
                times.push(processes::measure(&args).await?.wall_us);
            }
        }
        let made = household_index::searches_made() as f64;
        let [later, first, bare] = [later, first, bare].map(|times| figure::median(times) as f64 / 1000.0);
        let (ours, beside) = (later / made, Some(bare / made));
        let name = format!("search in {notes} notes, compared with the index query alone");
        self.note(Figure { name, ours, beside, unit: "ms", most: 2.0, aim: 1.5 });
        let name = "first search of a process, which checks every file".to_owned();
        self.note(Figure { name, ours: first, beside: None, unit: "ms", most: 500.0, aim: 250.0 });
        // Two hundred thousand small files are many for a passing folder.
        std::fs::remove_dir_all(&folder)?;
        Ok(())
    }

    /// A million threads that get no input.
    async fn crowd(&mut self) -> anyhow::Result<()> {
        let data = self.file("crowd");
        std::fs::create_dir(&data)?;
        let (database, count) = (data.display().to_string(), CROWD.to_string());
        processes::measure(&["write-crowd", "--database", &database, "--count", &count]).await?;
        let empty = processes::measure(&["list", "--database", &self.file("none.db").display().to_string()]).await?;
        let full = processes::measure(&["list", "--database", &database, "--count", &count]).await?;
        let page = full.wall_us as f64 / 1000.0;
        let name = "one page of a million threads, from the store".to_owned();
        self.note(Figure { name, ours: page, beside: None, unit: "ms", most: 20.0, aim: 20.0 });
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            times.push(cold_start::list(&data).await?);
        }
        let name = "`majordomo thread ls` with a million threads".to_owned();
        let ours = figure::median(times) as f64 / 1000.0;
        self.note(Figure { name, ours, beside: None, unit: "ms", most: 20.0, aim: 20.0 });
        let name = "memory of a million idle threads".to_owned();
        let ours = full.resident_kb.saturating_sub(empty.resident_kb) as f64 / 1024.0;
        self.note(Figure { name, ours, beside: None, unit: "MB", most: 4.0, aim: 1.0 });
        Ok(())
    }

    /// A large board and many idle agents, compared with a small board and none.
    async fn board(&mut self) -> anyhow::Result<()> {
        let (large, small, none) = (self.file("board"), self.file("small-board"), self.file("no-board"));
        let sizes = [(&large, TASKS, AGENTS), (&small, FEW_TASKS, 1), (&none, 0, 0)];
        for (folder, tasks, agents) in sizes {
            std::fs::create_dir(folder)?;
            on_board("write-board", folder, tasks, agents, None).await?;
        }
        // Before an agent is woken: one whose process ended in the middle is gone on with by a worker.
        let (full, empty) = (board::worker_kb(&large).await?, board::worker_kb(&none).await?);
        let (mut pages, mut moves, mut few_moves, mut wakes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let server = ModelServer::start(&[]).await?;
        for round in 0..ROUNDS {
            pages.push(on_board("list-tasks", &large, TASKS, AGENTS, None).await?.wall_us);
            moves.push(on_board("move-tasks", &large, TASKS, AGENTS, None).await?.cpu_us);
            few_moves.push(on_board("move-tasks", &small, FEW_TASKS, 1, None).await?.cpu_us);
            // Each time another agent.
            wakes.push(on_board("wake", &large, TASKS, AGENTS - round * 2, Some(&server.address)).await?.wall_us);
        }
        let ms = |times: Vec<u64>| figure::median(times) as f64 / 1000.0;
        let name = format!("one page of {TASKS} tasks, from the store");
        self.note(Figure { name, ours: ms(pages), beside: None, unit: "ms", most: 20.0, aim: 20.0 });
        let mut lists = Vec::new();
        for _ in 0..ROUNDS {
            lists.push(board::list_by_program(&large).await?);
        }
        let name = format!("`majordomo task ls` with {TASKS} tasks");
        self.note(Figure { name, ours: ms(lists), beside: None, unit: "ms", most: 20.0, aim: 20.0 });
        let name = format!("CPU to move a task, on a board of {TASKS} compared with one of {FEW_TASKS}");
        let each = |times: Vec<u64>| figure::median(times) as f64 / board::MOVES as f64;
        let beside = Some(each(few_moves));
        self.note(Figure { name, ours: each(moves), beside, unit: "µs", most: 1.5, aim: 1.2 });
        let name = format!("wake one of {AGENTS} idle agents, until its model is asked");
        self.note(Figure { name, ours: ms(wakes), beside: None, unit: "ms", most: 20.0, aim: 20.0 });
        let name =
            format!("memory of `majordomo work` with {TASKS} tasks and {AGENTS} idle agents, beyond an empty store");
        let ours = full.saturating_sub(empty) as f64 / 1024.0;
        self.note(Figure { name, ours, beside: None, unit: "MB", most: 4.0, aim: 1.0 });
        Ok(())
    }

    /// The store of many machines.
    async fn cluster(&mut self) -> anyhow::Result<()> {
        if !cluster::is_installed() {
            eprintln!("no PostgreSQL is installed on this machine: the store of many machines is not measured");
            return Ok(());
        }
        let server = cluster::server();
        self.appends(&cluster::Database::new(&server)?).await?;
        self.workers(&server).await?;
        self.watchers_across(&cluster::Database::new(&server)?).await?;
        self.takeovers(&cluster::Database::new(&server)?).await?;
        let database = cluster::Database::new(&server)?;
        self.many_in_database(&database).await?;
        self.idle_workers(&database).await
    }

    /// Appends to the database, and bare inserts of the same rows.
    async fn appends(&mut self, database: &cluster::Database<'_>) -> anyhow::Result<()> {
        let (threads, commits) = if self.quick { (APPENDED, 20) } else { (APPENDED, 80) };
        let (mut ours, mut bare, mut events, mut bytes) = (Vec::new(), Vec::new(), 0, 0);
        for round in 0..ROUNDS {
            let (round, counts) = (format!("r{round}x"), [threads, commits].map(|count| count.to_string()));
            let args =
                ["--store", &database.address, "--round", &round, "--threads", &counts[0], "--commits", &counts[1]];
            ours.push(processes::measure(&[&["append"], &args[..]].concat()).await?.wall_us);
            bare.push(processes::measure(&[&["append-bare"], &args[..]].concat()).await?.wall_us);
            let size = database.sql("SELECT count(*) || ' ' || sum(length(kind) + length(body)) FROM bare.events");
            let (count, size) = size.split_once(' ').context("two numbers")?;
            (events, bytes) = (count.parse::<u64>()?, size.parse::<u64>()?);
        }
        let each = |times: Vec<u64>| figure::median(times) as f64 / events as f64;
        let (ours, bare) = (each(ours), each(bare));
        let name = format!(
            "append an event of {} bytes, {threads} threads, {:.1} events a commit ({:.0} events/s), compared with bare inserts ({:.0} rows/s)",
            bytes / events,
            events as f64 / (threads * commits) as f64,
            1e6 / ours,
            1e6 / bare,
        );
        self.note(Figure { name, ours, beside: Some(bare), unit: "µs", most: 2.0, aim: 1.25 });
        let name = "… alone: 50 µs are 20 000 events/s".to_owned();
        self.note(Figure { name, ours, beside: None, unit: "µs", most: 50.0, aim: 50.0 });
        Ok(())
    }

    /// Many sub-agents over several workers.
    async fn workers(&mut self, server: &cluster::Server) -> anyhow::Result<()> {
        let children = if self.quick { CHILDREN / 5 } else { CHILDREN };
        for workers in [1, 2, 4] {
            let (database, folder) = (cluster::Database::new(server)?, self.file(&format!("workers-{workers}")));
            let taken_us = cluster::workers::fan_out(&folder, &database, children, workers, AT_ONCE).await?;
            let ideal_us = cluster::workers::ideal_us(children, workers * AT_ONCE);
            let name = format!(
                "{children} sub-agents of 4 requests of 200 ms, {workers} workers of {AT_ONCE}, compared with the ideal"
            );
            let (ours, beside) = (taken_us as f64 / 1e6, Some(ideal_us as f64 / 1e6));
            self.note(Figure { name, ours, beside, unit: "s", most: 1.25, aim: 1.1 });
        }
        Ok(())
    }

    /// A database full of idle threads.
    async fn many_in_database(&mut self, database: &cluster::Database<'_>) -> anyhow::Result<()> {
        let many = if self.quick { CROWD / 20 } else { CROWD };
        let args = ["--store", &database.address, "--count", &many.to_string()];
        processes::measure(&[&["write-many"], &args[..]].concat()).await?;
        let mut pages = Vec::new();
        for _ in 0..ROUNDS {
            pages.push(processes::measure(&[&["list-many"], &args[..]].concat()).await?.wall_us);
        }
        let name = format!("one page of {many} threads, from the database");
        let ours = figure::median(pages) as f64 / 1000.0;
        self.note(Figure { name, ours, beside: None, unit: "ms", most: 100.0, aim: 20.0 });
        let mut times = Vec::new();
        let data = self.file("many");
        std::fs::create_dir(&data)?;
        for _ in 0..ROUNDS {
            times.push(cluster::workers::list(&data, database).await?);
        }
        let name = format!("`majordomo thread ls` with {many} threads in the database");
        let ours = figure::median(times) as f64 / 1000.0;
        self.note(Figure { name, ours, beside: None, unit: "ms", most: 100.0, aim: 50.0 });
        Ok(())
    }

    /// Workers that have nothing to do.
    async fn idle_workers(&mut self, database: &cluster::Database<'_>) -> anyhow::Result<()> {
        let (statements, cpu_us) = cluster::workers::idle(&self.file("idle"), database).await?;
        let name = "statements a second of an idle worker".to_owned();
        self.note(Figure { name, ours: statements, beside: None, unit: "", most: 3.0, aim: 3.0 });
        let free = f64::INFINITY;
        for (store, cpu_us) in [
            ("in the database", cpu_us),
            ("in a file", cluster::workers::idle_embedded(&self.file("idle-embedded")).await?),
        ] {
            let name = format!("CPU time a second of an idle worker, store {store}");
            self.note(Figure { name, ours: cpu_us / 1000.0, beside: None, unit: "ms", most: free, aim: free });
        }
        Ok(())
    }

    /// Clients of a server that follow what another process writes.
    async fn watchers_across(&mut self, database: &cluster::Database<'_>) -> anyhow::Result<()> {
        let folder = self.file("across");
        let across = watchers::measure_across(&folder, &database.address, ACROSS).await?;
        self.note(across);
        Ok(())
    }

    /// A worker is killed.
    async fn takeovers(&mut self, database: &cluster::Database<'_>) -> anyhow::Result<()> {
        let kills = if self.quick { 10 } else { 100 };
        let times = cluster::workers::takeovers(&self.file("takeovers"), database, AGENTS_OF_KILLED, kills).await?;
        let ms = |at: usize| times[at.min(times.len() - 1)] as f64 / 1000.0;
        let name = format!(
            "`kill -9` of a worker with {AGENTS_OF_KILLED} agents, until others go on with all of them, 99th of {kills} (median {:.0}, longest {:.0})",
            ms(kills / 2),
            ms(kills),
        );
        let ours = ms((kills * 99).div_ceil(100) - 1);
        self.note(Figure { name, ours, beside: None, unit: "ms", most: 2000.0, aim: 2000.0 });
        Ok(())
    }

    /// Majordomo and the bare client in turns, so that whatever else the machine does meets both.
    async fn pair(
        &self,
        children: usize,
        keep: Keep,
        latency_ms: u64,
        rounds: usize,
    ) -> anyhow::Result<(Vec<Taken>, Vec<Taken>)> {
        let server = ModelServer::start(&["--latency-ms", &latency_ms.to_string()]).await?;
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            let file = |who: &str| self.file(&format!("{who}-{children}-{}-{latency_ms}-{round}.db", keep.name()));
            let (own, plain) = (file("majordomo"), file("plain"));
            ours.push(measure_children("fan-out", &server, children, keep, &own, None).await?);
            let recorded = (keep != Keep::Memory).then_some(&*own);
            bare.push(measure_children("bare", &server, children, keep, &plain, recorded).await?);
        }
        Ok((ours, bare))
    }

    fn note(&mut self, figure: Figure) {
        eprintln!("{figure}");
        self.figures.push(figure);
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.folder.join(name)
    }
}

/// The shortest time, in milliseconds.
fn best_ms(taken: &[Taken]) -> f64 {
    taken.iter().map(|taken| taken.wall_us).min().unwrap_or(0) as f64 / 1000.0
}

/// Takes a measurement on a board.
async fn on_board(
    what: &str,
    folder: &Path,
    tasks: usize,
    agents: usize,
    server: Option<&str>,
) -> anyhow::Result<Taken> {
    let (database, tasks, agents) = (folder.display().to_string(), tasks.to_string(), agents.to_string());
    let mut args = vec![what, "--database", &database, "--tasks", &tasks, "--agents", &agents];
    if let Some(server) = server {
        args.extend(["--server", server]);
    }
    processes::measure(&args).await
}
