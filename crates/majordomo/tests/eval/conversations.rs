//! Conversations: what a person types, turn by turn, to the butler of a household, without a language model, and what comes of it.
//!
//! Two households are used: the sample one, and a second one of another shape (`gold/second`), against which no rule was written. Each
//! turn has a key that was made from the household's files (`case`). It is judged by what the answer says and by what is on the disk
//! afterwards (`judge`). A conversation counts as its worst turn. Half of the conversations are held back: they are counted and never shown.

mod case;
mod house;
mod judge;
mod words;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use case::{Conversation, HALVES, HELD_BACK, KINDS};
use house::House;
use judge::Verdict;

/// How a conversation went.
struct Outcome {
    half: &'static str,
    kind: String,
    style: String,
    house: &'static str,
    verdict: Verdict,
    /// The turns up to the first bad one, for people who improve rules.
    transcript: String,
}

#[test]
fn conversations_with_the_butler_end_as_is_promised() {
    // Held-back conversations are never shown, and not even counted while rules are changed: a rule that is changed because of one makes
    // all of them worthless.
    if let Ok(wanted) = std::env::var("EVAL_SHOW") {
        let shown = case::read(HALVES[0]).into_iter().chain(case::later()).filter(|case| case.id.contains(&wanted));
        let outcomes = measure(&shown.map(|case| (HALVES[0], case)).collect::<Vec<_>>());
        println!("{}", summary(&outcomes));
        outcomes.iter().filter(|it| it.verdict > Verdict::Right).for_each(|outcome| println!("{}", outcome.transcript));
        return;
    }
    let cases = HALVES.iter().flat_map(|half| case::read(half).into_iter().map(move |case| (*half, case)));
    let outcomes = measure(&cases.collect::<Vec<_>>());
    println!("{}", summary(&outcomes));
    check_page(&outcomes);
}

/// Holds these conversations.
fn measure(cases: &[(&'static str, Conversation)]) -> Vec<Outcome> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let mut outcomes: Vec<(usize, Outcome)> = std::thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            while let Some((at, (half, case))) =
                Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, cases.get(at)?)))
            {
                done.push((at, held(half, case, &runtime)));
            }
            done
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    outcomes.sort_by_key(|(at, _)| *at);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Holds one conversation in a household of its own.
fn held(half: &'static str, case: &Conversation, runtime: &tokio::runtime::Runtime) -> Outcome {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let house = House::open(case.house, folder.path(), runtime);
    let (mut verdict, mut before) = (Verdict::Right, house.state());
    let mut transcript = format!("\n=== {} {} {}", case.id, case.kind, case.style);
    for turn in &case.turns {
        let answer = house.say(&turn.says, runtime);
        let after = house.state();
        let context = judge::Context { case, turn, before: &before, after: &after, today: house.today() };
        let (judged, why) = context.judge(&answer);
        let _ = write!(transcript, "\n> {}\n{answer}\n[{judged}: {why}]", turn.says);
        verdict = verdict.max(judged);
        before = after;
    }
    house.close(runtime);
    let (kind, style, house) = (case.kind.clone(), case.style.clone(), case.house);
    Outcome { half, kind, style, house, verdict, transcript }
}

/// How many conversations ended in each way, in the order of [`Verdict::ALL`].
fn counts(outcomes: &[Outcome], is_meant: impl Fn(&Outcome) -> bool) -> [usize; 5] {
    Verdict::ALL
        .map(|verdict| outcomes.iter().filter(|outcome| is_meant(outcome) && outcome.verdict == verdict).count())
}

/// The figures by kind, style and household.
fn summary(outcomes: &[Outcome]) -> String {
    let mut text = format!("{:<14}{:<13}", "conversations", "half");
    for verdict in Verdict::ALL {
        let _ = write!(text, "{:>9}", verdict.to_string());
    }
    text.push('\n');
    let mut groups: Vec<(String, &str, [usize; 5])> = Vec::new();
    for half in HALVES {
        let mut by: BTreeMap<(usize, &str), [usize; 5]> = BTreeMap::new();
        for outcome in outcomes.iter().filter(|outcome| outcome.half == half) {
            let order = KINDS.iter().position(|kind| *kind == outcome.kind).expect("a known kind");
            for key in [(order, &*outcome.kind), (20, outcome.house), (30, &*outcome.style), (40, "all")] {
                by.entry(key).or_default()[outcome.verdict as usize] += 1;
            }
        }
        groups.extend(by.into_iter().map(|((_, name), counts)| (name.to_owned(), half, counts)));
    }
    for (name, half, counts) in groups {
        let _ = write!(text, "{name:<14}{half:<13}");
        for count in counts {
            let _ = write!(text, "{count:>9}");
        }
        text.push('\n');
    }
    text
}

/// The table that `docs/household.md` publishes.
fn table(outcomes: &[Outcome]) -> String {
    let mut table = String::from(
        "| conversations about | half | right | useful | unclear | wrong | unsafe |\n|---|---|---|---|---|---|---|\n",
    );
    for kind in KINDS.iter().copied().chain(["all"]) {
        for half in HALVES {
            let counts = counts(outcomes, |it| it.half == half && (kind == "all" || it.kind == kind));
            let cells: Vec<String> = counts.iter().map(usize::to_string).collect();
            let name = if half == HELD_BACK { "" } else { case::title(kind) };
            let half = half.replace('_', " ");
            let _ = writeln!(table, "| {name} | {half} | {} |", cells.join(" | "));
        }
    }
    table.replace("|  |", "| |")
}

/// Fails where the page tells other figures than these, and prints the table that it should have.
fn check_page(outcomes: &[Outcome]) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/household.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let table = table(outcomes);
    assert!(page.contains(&table), "docs/household.md tells other figures; what was measured:\n{table}");
}

#[test]
fn the_two_halves_are_alike() {
    let [development, held_back] = HALVES.map(case::read);
    assert!(development.len() + held_back.len() >= 300);
    let spread = |cases: &[Conversation]| {
        let mut spread: BTreeMap<(String, &str, &str), usize> = BTreeMap::new();
        for case in cases {
            let style = if case.is_foreign() { "foreign" } else { &*case.style };
            *spread.entry((case.kind.clone(), style, case.house)).or_default() += 1;
        }
        spread.into_iter().map(|((kind, style, house), count)| (format!("{kind} {style} {house}"), count)).collect()
    };
    let (one, other): (BTreeMap<String, usize>, BTreeMap<String, usize>) = (spread(&development), spread(&held_back));
    assert_eq!(one.len(), KINDS.len() * 4 * 2, "every kind, in every style, in both households");
    for (cell, count) in &one {
        let apart = count.abs_diff(other.get(cell).copied().unwrap_or_default());
        assert!(apart <= 1, "{cell}: {apart}");
    }
}

#[test]
fn held_back_conversations_and_the_household_they_are_about_are_as_they_were_written() {
    assert_eq!(case::digest(), case::DIGEST, "held-back conversations are not edited, as `gold/README.md` says");
}
