//! Conversations whose sub-agents each leave one line, and what must be so when they are over, whatever happened to their processes and to the
//! database meanwhile.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use agent::{Event, Outcome, ThreadId};
use futures_util::StreamExt;
use store::{Address, Options, PostgresStore, Record, Selection, Store};
use testkit::scenes::{after_ms, calls, command, says, scene, spawn};
use testkit::world::{DatabaseContents, World};

/// The scenes of so many roots, each with so many sub-agents: `root N;`.
pub fn scenes(roots: usize, children: usize) -> Vec<String> {
    let mut scenes = Vec::new();
    for root in 0..roots {
        let leaves: Vec<String> = (0..children).map(|leaf| spawn(&format!("leaf {root}-{leaf};"))).collect();
        scenes.push(scene(&format!("root {root};"), &[calls(&leaves), says("all done")]));
        for leaf in 0..children {
            let line = command(&format!("sleep 0.2; echo {root}-{leaf} >> effects"));
            let replies = [after_ms(200, &calls(&[line])), after_ms(100, &says("done"))];
            scenes.push(scene(&format!("leaf {root}-{leaf};"), &replies));
        }
    }
    scenes
}

/// Every root has ended well, every sub-agent has reported once, every report has reached its parent once, nothing was done twice, and at
/// least so much of it was done, in percent: what was begun when its process was cut off or killed is not begun again.
#[track_caller]
pub fn assert_ended_once(world: &World, roots: usize, children: usize, least_percent: usize) -> DatabaseContents {
    let mut contents = world.contents();
    // What a process owns that was killed belongs to no process.
    let living = world.living();
    for row in &mut contents.rows {
        if !living.owns(row) {
            row.owner = None;
        }
    }
    let (mut made, mut told): (BTreeMap<ThreadId, usize>, BTreeMap<ThreadId, usize>) = Default::default();
    for record in &contents.log {
        match &*record.event {
            Event::ChildReported { child, .. } => *told.entry(child.clone()).or_default() += 1,
            Event::Reported(_) => *made.entry(record.thread.clone()).or_default() += 1,
            _ => {}
        }
    }
    let mut below: HashMap<ThreadId, usize> = HashMap::new();
    for row in &contents.rows {
        match &row.parent {
            None => assert_eq!(row.outcome, Some(Outcome::Completed), "{}", row.id),
            Some(parent) => {
                *below.entry(parent.clone()).or_default() += 1;
                let count = |of: &BTreeMap<ThreadId, usize>| of.get(&row.id).copied().unwrap_or(0);
                assert_eq!((count(&made), count(&told)), (1, 1), "{} reports once", row.id);
            }
        }
    }
    assert_eq!(contents.roots().count(), roots, "every root is begun once");
    assert!(contents.roots().all(|root| below.get(root) == Some(&children)), "{below:?}");
    contents.assert_all_at_rest();
    let lines = world.lines("effects");
    let mut once = lines.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), lines.len(), "nothing is done twice: {lines:?}");
    let all = roots * children;
    assert!(once.len() * 100 >= all * least_percent, "much of it is done: {} of {all}", once.len());
    contents
}

/// One who watches the whole log by an address of their own, whatever happens to the connection.
pub struct Watcher {
    is_over: Arc<AtomicBool>,
    watching: JoinHandle<Vec<Record>>,
}

impl Watcher {
    /// Watches from now on.
    pub fn of(address: &str) -> Self {
        let address = Address::parse(address).expect("an address");
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let watching = std::thread::spawn(move || {
            let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            tokio.block_on(watch(&address, &over))
        });
        Self { is_over, watching }
    }

    /// What was seen is what the log holds: no gap, no event twice.
    #[track_caller]
    pub fn has_seen(self, contents: &DatabaseContents) {
        self.is_over.store(true, Ordering::SeqCst);
        let seen = self.watching.join().expect("it watches");
        let positions = |records: &[Record]| records.iter().map(|record| record.position).collect::<Vec<_>>();
        assert_eq!(positions(&seen), positions(&contents.log));
    }
}

async fn watch(address: &Address, is_over: &AtomicBool) -> Vec<Record> {
    let store: Arc<dyn Store> = loop {
        match PostgresStore::open(address, &Options::default()) {
            Ok(store) => break Arc::new(store),
            Err(error) => assert!(error.is_passing(), "{error:?}"),
        }
    };
    let mut log = store::follow(&store, Selection::everything());
    let mut seen = Vec::new();
    loop {
        // What was committed before the end is read at once; so nothing that comes means that all was seen.
        let last = is_over.load(Ordering::SeqCst);
        match tokio::time::timeout(Duration::from_secs(3), log.next()).await {
            Ok(Some(Ok(page))) => seen.extend(page),
            Ok(Some(Err(error))) => {
                assert!(error.is_passing(), "{error:?}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Ok(None) => panic!("the store is open"),
            Err(_) if last => return seen,
            Err(_) => {}
        }
    }
}

/// The address of a database on several servers, of which the one is used that can be written.
pub fn of_several(servers: &[&Path], address: &str) -> String {
    let hosts: Vec<String> = servers.iter().map(|folder| folder.display().to_string().replace('/', "%2F")).collect();
    let parsed = Address::parse(address).expect("an address");
    format!("postgres://postgres@{}/{}", hosts.join(","), parsed.database())
}
