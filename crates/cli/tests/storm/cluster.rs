//! Many conversations on one database under workers and servers that are killed, halted and started again, whose runs are killed at their
//! terminals, and whose connections are cut by a proxy, also between a commit and its answer. Meanwhile the database is restarted, killed and
//! away for a while, and at last its synchronous standby takes its place. Every conversation ends, every sub-agent reports once, nothing that
//! a sub-agent does is done twice, and those who watch see every event once.
//!
//! A test run has a tenth of them; `cargo xtask storm` has 200 conversations with 10 sub-agents each. What happens when comes from `STORM_SEED`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agent::ThreadId;
use rustix::process::Signal;
use store::conformance::postgres_server::{Server, UNSAFE};
use testkit::dice::Dice;
use testkit::proxy::Proxy;
use testkit::world::{Running, World, until};

use crate::family::{Watcher, assert_ended_once, of_several, scenes};
use crate::watching::{Page, PageOf};

/// Workers, and behind them servers, which work too.
const WORKERS: usize = 3;
const SERVERS: usize = 2;
/// Conversations whose pages are watched.
const WATCHED: usize = 4;

#[test]
fn conversations_end_once_whatever_fails() {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let is_whole = number("STORM_EVERY", 10) == 1;
    let size = match is_whole {
        true => Size { roots: 200, children: 10, faults: 150, away: Duration::from_secs(30), patience: 3_000 },
        false => Size { roots: 20, children: 10, faults: 15, away: Duration::from_secs(3), patience: 240 },
    };
    Storm::new(size, number("STORM_SEED", 7)).blow();
}

#[derive(Clone, Copy)]
struct Size {
    roots: usize,
    children: usize,
    /// How often something is killed, halted or cut.
    faults: usize,
    /// How long the database is away.
    away: Duration,
    /// Until it is over, in seconds.
    patience: u64,
}

struct Storm {
    size: Size,
    dice: Dice,
    server: Server,
    standby: Server,
    database: String,
    /// To the server and to its standby.
    proxies: [Proxy; 2],
    world: World,
    helpers: Vec<Running>,
    runs: BTreeMap<usize, Running>,
    pages: Vec<Page>,
}

impl Storm {
    fn new(size: Size, seed: u64) -> Self {
        let server = Server::start(UNSAFE);
        let database = server.database();
        let standby = server.synchronous_standby();
        let both = of_several(&[server.folder(), standby.folder()], &database);
        let world = World::on_database(env!("CARGO_BIN_EXE_majordomo"), &scenes(size.roots, size.children), both);
        let proxies = [&server, &standby].map(|server| Proxy::to(server.folder(), Dice::new(seed)));
        proxies.iter().for_each(|proxy| {
            proxy.cut_one_answer_in(2_000);
            proxy.cut_one_commit_in(100);
        });
        let (helpers, runs) = (Vec::new(), BTreeMap::new());
        Self {
            size,
            dice: Dice::new(seed),
            server,
            standby,
            database,
            proxies,
            world,
            helpers,
            runs,
            pages: Vec::new(),
        }
    }

    /// The address by which processes use the database.
    fn address(&self) -> String {
        let [one, two] = self.proxies.each_ref().map(Proxy::place);
        let database = self.database.rsplit('/').next().expect("a name");
        format!("postgres://postgres@{one},{two}/{database}")
    }

    fn launch(&self, mut command: std::process::Command) -> Running {
        command.env("MAJORDOMO_STORE", self.address());
        self.world.launch(command)
    }

    /// A worker, or a server, which works too.
    fn helper(&self, place: usize) -> Running {
        if place < WORKERS {
            return self.launch(self.world.command(&["work", "--concurrency", "6"]));
        }
        let mut command = self.world.command(&["serve", "--addr", "127.0.0.1:0"]);
        command.env("MAJORDOMO_DATA", self.data_of(place));
        self.launch(command)
    }

    fn data_of(&self, place: usize) -> std::path::PathBuf {
        self.world.path(&format!("../server-{place}"))
    }

    fn blow(mut self) {
        let begun = Instant::now();
        let watcher = Watcher::of(&self.address());
        self.helpers = (0..WORKERS + SERVERS).map(|place| self.helper(place)).collect();
        let (mut next, mut faults) = (0, 0);
        loop {
            // A few at a time, as people would.
            self.runs.retain(|_, run| !run.has_ended());
            while next < self.size.roots && self.runs.len() < 4 {
                self.begin(next);
                next += 1;
            }
            std::thread::sleep(Duration::from_millis(self.dice.between(200, 900)));
            self.watch_pages();
            if faults < self.size.faults {
                self.fail();
                faults += 1;
                self.fail_database(faults);
                continue;
            }
            let open = self.open_roots();
            if next == self.size.roots && self.runs.is_empty() && open.is_empty() {
                break;
            }
            // A person whose run was killed before it wrote anything starts it again.
            let lost: Vec<usize> =
                open.into_iter().filter_map(|(number, is_begun)| (!is_begun).then_some(number)).collect();
            for number in lost.into_iter().filter(|number| *number < next) {
                if !self.runs.contains_key(&number) {
                    self.begin(number);
                }
            }
            assert!(begun.elapsed() < Duration::from_secs(self.size.patience), "not at an end: {:#?}", self.unended());
        }
        println!("{} conversations in {:?}", self.size.roots, begun.elapsed());
        let answers_cut: u64 = self.proxies.iter().map(Proxy::answers_cut).sum();
        println!("{answers_cut} answers were cut off");
        let contents = assert_ended_once(&self.world, self.size.roots, self.size.children, 50);
        watcher.has_seen(&contents);
        self.check_pages();
        println!("all is checked after {:?}", begun.elapsed());
        self.helpers.iter_mut().for_each(Running::kill);
    }

    fn begin(&mut self, number: usize) {
        let run = self.launch(self.world.task(&format!("root {number};"), &[]));
        self.runs.insert(number, run);
    }

    /// Something fails.
    fn fail(&mut self) {
        let place = self.dice.below((WORKERS + SERVERS) as u64) as usize;
        match self.dice.below(5) {
            0 if !self.runs.is_empty() => {
                let run = self.dice.below(self.runs.len() as u64) as usize;
                if let Some(run) = self.runs.values_mut().nth(run) {
                    run.kill();
                }
            }
            1 => {
                // Longer than its lease: others take its threads over, and it finds that when it goes on.
                self.helpers[place].signal(Signal::STOP);
                std::thread::sleep(Duration::from_millis(self.dice.between(1_800, 2_600)));
                self.helpers[place].signal(Signal::CONT);
            }
            2 => self.proxies.iter().for_each(Proxy::cut),
            _ => {
                self.helpers[place].kill();
                self.helpers[place] = self.helper(place);
            }
        }
    }

    /// What happens to the database after so many other faults.
    fn fail_database(&mut self, faults: usize) {
        let quarter = self.size.faults / 4;
        if faults == quarter {
            self.server.restart();
        } else if faults == 2 * quarter {
            self.server.kill();
            std::thread::sleep(self.size.away);
            self.server.start_again();
        } else if faults == 3 * quarter {
            self.server.until_replicated();
            self.server.kill();
            std::thread::sleep(Duration::from_millis(self.dice.between(0, 3_000)));
            self.standby.promote();
        }
    }

    /// The server that is written to.
    fn sql(&self, sql: &str) -> String {
        let database = self.database.rsplit('/').next().expect("a name");
        until("an answer", || {
            [&self.standby, &self.server].into_iter().find_map(|server| {
                let is_written = server.try_sql(database, "SELECT NOT pg_is_in_recovery()")? == "t";
                is_written.then(|| server.try_sql(database, sql)).flatten()
            })
        })
    }

    /// The roots that have not ended, and whether each of them was begun.
    fn open_roots(&self) -> Vec<(usize, bool)> {
        let rows = self.sql("SELECT goal, outcome IS NOT NULL FROM majordomo.threads WHERE parent IS NULL");
        let mut open: BTreeMap<usize, bool> = (0..self.size.roots).map(|number| (number, false)).collect();
        for (goal, ended) in rows.lines().filter_map(|row| row.split_once('|')) {
            let number = goal.trim_start_matches("root ").trim_end_matches(';').parse().expect("a number");
            match ended {
                "t" => drop(open.remove(&number)),
                _ => drop(open.insert(number, true)),
            }
        }
        open.into_iter().collect()
    }

    fn unended(&self) -> Vec<String> {
        let sql = "SELECT t.id, t.live, t.asked, t.held, t.epoch, p.id, p.pid FROM majordomo.threads t \
                   LEFT JOIN majordomo.processes p ON p.key = t.owner WHERE t.live OR t.outcome IS NULL ORDER BY t.key";
        self.sql(sql).lines().map(str::to_owned).collect()
    }

    /// Begins to watch the first conversations, each on one of the servers, and on another server when that is gone.
    fn watch_pages(&mut self) {
        if self.pages.len() < WATCHED {
            let ids = self.sql("SELECT id FROM majordomo.threads WHERE parent IS NULL ORDER BY key");
            let ids: Vec<ThreadId> = ids.lines().map(ThreadId::new).collect();
            self.pages.extend(ids.into_iter().take(WATCHED).skip(self.pages.len()).map(Page::of));
        }
        for (number, page) in self.pages.iter().enumerate() {
            let place = WORKERS + number % SERVERS;
            page.is_served_by(PageOf::running(&self.helpers[place], &self.data_of(place)));
        }
    }

    /// What the pages showed is what a page shows that is opened at the end.
    fn check_pages(&mut self) {
        let place = WORKERS;
        self.helpers[place].kill();
        self.helpers[place] = self.helper(place);
        let served = until("a server", || PageOf::running(&self.helpers[place], &self.data_of(place)));
        assert_eq!(self.pages.len(), WATCHED);
        for page in std::mem::take(&mut self.pages) {
            page.has_shown_all(&served);
        }
    }
}
