//! Every event of every run, before and after its commit; and deaths that come again while a run is resumed.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use agent::{Event, Outside};
use store::Record;
use testkit::dice::Dice;
use testkit::world::{DatabaseContents, Done};

use crate::checks::{
    Ends, assert_acknowledged, assert_allowed, assert_done_once, assert_effects, assert_heard, assert_over,
    assert_sound, assert_written, ends,
};
use crate::runs::{self, Scripted};
use crate::trial::{Death, Kept, Side, Trial};

/// Events that each run writes at least. It dies on both sides of each; with the runs that die again and again, that makes more
/// than three hundred points over the first three runs, and more than four hundred over all.
const ALONE: u64 = 22;
const TREE: u64 = 60;
const BACKGROUND: u64 = 36;
const ASKING: u64 = 28;
const ASKED_MORE: u64 = 50;

/// Points that are gone through at once. On a shared database most of the time is spent waiting for leases to be over.
const ABREAST: usize = 2;
const ABREAST_ON_POSTGRES: usize = 8;
/// Of so many points of a run on a shared database one is gone through in a test run; `cargo xtask storm` goes through all.
const ONE_IN: usize = 15;
/// Of so many points one is as durable as a run at home; the others need not wait for the disk, for it does not fail here.
const FULL_EVERY: u64 = 10;
/// More events than a resumed run writes before it comes to something that it did not do before.
const SOON: u64 = 12;

#[test]
fn a_single_agent_survives_its_death_at_every_event() {
    // F1, F3
    dies_everywhere(&runs::alone(), ALONE);
}

#[test]
fn a_tree_survives_its_death_at_every_event() {
    // F1, F3, F4
    dies_everywhere(&runs::tree(), TREE);
}

#[test]
fn children_in_the_background_survive_their_death_at_every_event() {
    // F1, F3
    dies_everywhere(&runs::background(), BACKGROUND);
}

#[test]
fn a_run_that_asks_a_person_survives_its_death_at_every_event() {
    // F1, F32
    dies_everywhere(&runs::asking(), ASKING);
}

#[test]
fn a_child_that_is_asked_more_survives_its_death_at_every_event() {
    // F1, F3
    dies_everywhere(&runs::asked_more(), ASKED_MORE);
}

#[test]
fn a_run_that_dies_again_whenever_it_is_resumed_comes_to_the_same_end() {
    // F1
    for (scripted, points) in [
        (runs::alone(), 25),
        (runs::tree(), 40),
        (runs::background(), 35),
        (runs::asking(), 20),
        (runs::asked_more(), 20),
    ] {
        let whole = Whole::of(&scripted, Kept::InFile);
        let deaths: Vec<Deaths> = (0..points).map(|seed| Deaths::new(seed, whole.events)).collect();
        hold_at_all(&deaths, |deaths| dies_and_ends(&scripted, &whole, deaths, Kept::InFile));
    }
}

/// The same on a database that many machines share: every few points of each run, always others for another `STORM_SEED`.
mod on_postgres {
    use super::*;

    #[test]
    fn a_single_agent_survives_its_death_on_postgres() {
        dies_on_postgres(&runs::alone());
    }

    #[test]
    fn a_tree_survives_its_death_on_postgres() {
        dies_on_postgres(&runs::tree());
    }

    #[test]
    fn children_in_the_background_survive_their_death_on_postgres() {
        dies_on_postgres(&runs::background());
    }

    #[test]
    fn a_run_that_asks_a_person_survives_its_death_on_postgres() {
        dies_on_postgres(&runs::asking());
    }

    #[test]
    fn a_child_that_is_asked_more_survives_its_death_on_postgres() {
        dies_on_postgres(&runs::asked_more());
    }
}

fn dies_on_postgres(scripted: &Scripted) {
    let number = |name: &str, or: usize| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let one_in = if number("STORM_EVERY", 10) == 1 { 1 } else { ONE_IN };
    let whole = Whole::of(scripted, Kept::OnPostgres);
    let chosen = every_death(whole.events).into_iter().skip(number("STORM_SEED", 7) % one_in).step_by(one_in);
    hold_at_all_abreast(ABREAST_ON_POSTGRES, &chosen.collect::<Vec<_>>(), |deaths| {
        dies_and_ends(scripted, &whole, deaths, Kept::OnPostgres);
    });
}

/// How a run goes when nothing happens to it.
struct Whole {
    /// The events that its process writes.
    events: u64,
    code: Option<i32>,
    ends: Ends,
}

/// A death, and those that follow when the run is resumed.
struct Deaths {
    seed: u64,
    first: Death,
    next: Vec<Death>,
}

impl Whole {
    fn of(scripted: &Scripted, kept: Kept) -> Self {
        let mut trial = Trial::new(scripted, "normal", kept);
        let done = trial.run(None);
        let contents = trial.world.contents();
        let root = contents.roots().next().expect("a root");
        let ends = ends(&contents, root);
        assert_eq!((done.code, ends[""].1.as_str()), (Some(0), scripted.answer), "{}", done.err);
        check(&trial, &contents, &done.out);
        Self { events: written(&trial, &contents), code: done.code, ends }
    }
}

impl Deaths {
    fn new(seed: u64, events: u64) -> Self {
        let mut dice = Dice::new(seed);
        let first = Death::among_the_first(events, &mut dice);
        let next = (0..dice.between(1, 3)).map(|_| Death::among_the_first(SOON, &mut dice)).collect();
        Self { seed, first, next }
    }
}

impl Display for Deaths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.first)?;
        self.next.iter().try_for_each(|next| write!(f, " {next}"))
    }
}

fn dies_everywhere(scripted: &Scripted, at_least: u64) {
    let whole = Whole::of(scripted, Kept::InFile);
    assert!(whole.events >= at_least, "there are moments to die at: {}", whole.events);
    hold_at_all(&every_death(whole.events), |deaths| dies_and_ends(scripted, &whole, deaths, Kept::InFile));
}

/// Every moment to die at, once.
fn every_death(events: u64) -> Vec<Deaths> {
    let moments =
        [Side::Before, Side::After].into_iter().flat_map(|side| (1..=events).map(move |event| Death { side, event }));
    moments.map(|first| Deaths { seed: first.event, first, next: Vec::new() }).collect()
}

/// Goes through all points, and names those at which something was not as it should be.
pub fn hold_at_all<T: Display + Sync>(points: &[T], check: impl Fn(&T) + Sync) {
    hold_at_all_abreast(ABREAST, points, check);
}

fn hold_at_all_abreast<T: Display + Sync>(abreast: usize, points: &[T], check: impl Fn(&T) + Sync) {
    let (next, broken) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..abreast {
            scope.spawn(|| {
                while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if catch_unwind(AssertUnwindSafe(|| check(point))).is_err() {
                        broken.lock().expect("no thread panics with the lock held").push(point.to_string());
                    }
                }
            });
        }
    });
    let broken = broken.into_inner().expect("no thread panics with the lock held");
    assert!(broken.is_empty(), "{} of {} points broke: {}", broken.len(), points.len(), broken.join(", "));
}

/// Begins a run, lets it die, lets it die again as often as it is resumed, and holds its end against that of a whole one.
///
/// Whom a person tells something is asked once more if the words came late, so that one run has a few events more than
/// another; a death that was set for one of those may never come.
fn dies_and_ends(scripted: &Scripted, whole: &Whole, deaths: &Deaths, kept_in: Kept) {
    let durability = if deaths.seed.is_multiple_of(FULL_EVERY) { "full" } else { "normal" };
    let mut trial = Trial::new(scripted, durability, kept_in);
    let first = trial.run(Some(deaths.first));
    if !first.was_killed() && (scripted.steer.is_some() || scripted.asks) {
        let contents = ends_as(whole, &first, &trial, &first.out);
        assert!(written(&trial, &contents) < deaths.first.event, "it outlived its death: {first:?}");
        return;
    }
    let mut left = trial.left_behind(&first);
    let kept = written(&trial, &left);
    match deaths.first.side {
        Side::Before => assert!(kept < deaths.first.event, "{kept} events are kept"),
        Side::After => assert!(kept >= deaths.first.event, "{kept} events are kept"),
    }
    let Some(root) = left.roots().next().cloned() else {
        assert_eq!((left.log.len(), first.out.as_str()), (0, ""), "nothing was written and nothing was printed");
        let unknown = trial.world.call(&["thread", "resume", "2"]);
        assert!(unknown.code == Some(2) && unknown.err.contains("no thread is called"), "{unknown:?}");
        let afresh = trial.run(None);
        ends_as(whole, &afresh, &trial, &afresh.out);
        return;
    };
    let mut before = Vec::new();
    for death in &deaths.next {
        let again = trial.resume(&root, Some(*death));
        if !again.was_killed() {
            break;
        }
        let more = trial.left_behind(&again);
        assert_eq!(more.log[..left.log.len()], left.log, "what was written stays as it was");
        before.push(std::mem::replace(&mut left, more));
    }
    let last = trial.resume(&root, None);
    let told: serde_json::Value = serde_json::from_str(&last.out).unwrap_or_else(|_| panic!("no answer: {last:?}"));
    assert_eq!(
        (told["answer"].as_str(), told["exit_code"].as_i64()),
        (Some(scripted.answer), last.code.map(i64::from))
    );
    let contents = ends_as(whole, &last, &trial, &first.out);
    assert_eq!(contents.log[..left.log.len()], left.log, "what was written stays as it was");
    before.push(left);
    assert_done_once(&before, &contents, &root);
}

/// Holds the end of a run against that of a whole one.
fn ends_as(whole: &Whole, done: &Done, trial: &Trial<'_>, shown: &str) -> DatabaseContents {
    assert_eq!(done.code, whole.code, "{}", done.err);
    let contents = trial.world.contents();
    check(trial, &contents, shown);
    let root = contents.roots().next().expect("a root");
    assert_eq!(ends(&contents, root), whole.ends, "everybody ends as in a run that nothing happened to");
    contents
}

/// What must be so at the end of any run.
fn check(trial: &Trial<'_>, contents: &DatabaseContents, shown: &str) {
    let root = contents.roots().next().expect("a root");
    assert_eq!(contents.roots().count(), 1, "a run begins once");
    assert_over(contents, root);
    assert_effects(contents, root);
    assert_written(contents, root);
    assert_acknowledged(shown, contents, root);
    if let Some(words) = trial.scripted.steer.filter(|_| trial.steered) {
        assert_heard(words, contents, root);
    }
    if trial.scripted.asks {
        assert_allowed(contents, root);
    }
    assert_sound(&trial.world);
}

/// The events that processes of the run wrote: all but those by which a person spoke or decided.
fn written(trial: &Trial<'_>, contents: &DatabaseContents) -> u64 {
    let is_decision =
        |record: &&Record| matches!(&*record.event, Event::InputArrived { input: Outside::Decided { .. }, .. });
    let decisions = contents.log.iter().filter(is_decision).count();
    (contents.log.len() - decisions) as u64 - u64::from(trial.steered)
}
