//! Searches: whether the note that is meant is among the first three.

use household::demo;
use serde::Deserialize;
use serde_json::json;

use crate::figures::Figure;
use crate::sets::{self, PARTS, bound};
use crate::tools::TestTools;

pub fn measure() -> Vec<Figure> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let home = folder.path().join("home");
    demo::write(&home).expect("the sample");
    let tools = TestTools::of(demo::options(&home), &home);
    PARTS
        .iter()
        .map(|part| {
            let cases = cases(part);
            let misses: Vec<String> = cases.iter().filter_map(|(query, path)| miss(&tools, query, path)).collect();
            let (right, of) = (cases.len() - misses.len(), cases.len());
            Figure { set: "search", part, measure: "in the first three", right, of, bound: bound(part, 0.95), misses }
        })
        .collect()
}

/// Queries and the paths that are right for them.
pub fn cases(part: &str) -> Vec<(String, String)> {
    sets::unseen(part, all_cases, |(query, _)| query.to_lowercase())
}

fn all_cases(part: &str) -> Vec<(String, String)> {
    #[derive(Deserialize)]
    struct File {
        cases: Vec<(String, String)>,
    }
    sets::toml::<File>(&sets::file("searches", part, "toml")).cases
}

fn miss(tools: &TestTools, query: &str, path: &str) -> Option<String> {
    let answer =
        tools.call("notes_search", &json!({ "query": query })).unwrap_or_else(|error| panic!("{query}: {error}"));
    let found: Vec<&str> = answer["results"]
        .as_array()
        .unwrap_or_else(|| panic!("there are results: {answer}"))
        .iter()
        .take(3)
        .filter_map(|result| result["path"].as_str())
        .collect();
    let right = path.split('|').any(|path| found.iter().any(|found| found.ends_with(path)));
    (!right).then(|| format!("{query}: {path} is not among {found:?}"))
}
