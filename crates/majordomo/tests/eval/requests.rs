//! Requests: whether the rules engine classifies them correctly.

use household::{Household, demo};
use rules_engine::{Context, classify};
use serde::Deserialize;

use crate::figures::Figure;
use crate::sets::{self, PARTS, bound};

pub fn measure() -> Vec<Figure> {
    let context = at_the_sample();
    PARTS
        .iter()
        .map(|part| {
            let cases = cases(part);
            let misses: Vec<String> = cases.iter().filter_map(|case| case.miss(&context)).collect();
            let (right, of) = (cases.len() - misses.len(), cases.len());
            Figure { set: "requests", part, measure: "intent", right, of, bound: bound(part, 0.95), misses }
        })
        .collect()
}

pub fn cases(part: &str) -> Vec<Case> {
    sets::unseen(part, all_cases, |case| case.words.to_lowercase())
}

fn all_cases(part: &str) -> Vec<Case> {
    #[derive(Deserialize)]
    struct File {
        cases: Vec<(String, String, String)>,
    }
    let cases = sets::toml::<File>(&sets::file("utterances", part, "toml")).cases;
    cases.into_iter().map(|(label, language, words)| Case { label, language, words }).collect()
}

/// What was said, and what it asks for.
pub struct Case {
    pub label: String,
    pub language: String,
    pub words: String,
}

impl Case {
    fn miss(&self, context: &Context) -> Option<String> {
        let found = classify(&self.words, context).names().join("+");
        let found = found.replace("delegate_", "").replace("clarify", "ask");
        (!sets::is_one_of(&self.label, &found)).then(|| format!("{}: {} was taken for {found}", self.words, self.label))
    }
}

/// The requests are made in the sample household.
fn at_the_sample() -> Context {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let home = folder.path().join("home");
    demo::write(&home).expect("the sample");
    let household = Household::open(demo::options(&home)).expect("a household");
    Context::new(household.now(), household.people())
}
