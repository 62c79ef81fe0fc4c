//! Whole answers: a question to the butler of the sample household, without a language model, and what the answer says or which draft is
//! there afterwards.

use household::demo;
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::{Kept, Options, Staff};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::figures::Figure;
use crate::sets::{self, HELD};
use crate::tools::TestTools;

pub fn measure() -> Vec<Figure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    HELD.iter()
        .map(|part| {
            let cases = cases(part);
            let misses: Vec<String> = cases.iter().filter_map(|case| case.miss(&runtime)).collect();
            let (right, of) = (cases.len() - misses.len(), cases.len());
            Figure { set: "answers", part, measure: "right", right, of, bound: None, misses }
        })
        .collect()
}

pub fn cases(part: &str) -> Vec<Case> {
    #[derive(Deserialize)]
    struct File {
        case: Vec<Case>,
    }
    sets::toml::<File>(&sets::file("answers", part, "toml")).case
}

/// A question, and what is right.
#[derive(Deserialize)]
pub struct Case {
    ask: String,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    not: Vec<String>,
    to: Option<String>,
    #[serde(default)]
    draft: Vec<String>,
}

impl Case {
    fn miss(&self, runtime: &tokio::runtime::Runtime) -> Option<String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let answer = runtime.block_on(answer(&folder, &self.ask));
        let unsaid = self.says.iter().find(|words| !has(&answer, words)).map(|words| format!("does not say {words}"));
        let said = || self.not.iter().find(|words| has(&answer, words)).map(|words| format!("says {words}"));
        let wrong = unsaid.or_else(said).or_else(|| self.wrong_draft(&folder))?;
        Some(format!("{}: {wrong}: {}", self.ask, answer.replace('\n', " / ")))
    }

    /// What is wrong with the drafts that are there.
    fn wrong_draft(&self, folder: &TempDir) -> Option<String> {
        let to = self.to.as_ref()?;
        let home = folder.path().join("data/demo").join(demo::version());
        let tools = TestTools::of(demo::options(&home), &home);
        let all = tools.call("draft_show", &json!({})).expect("the drafts");
        let drafts = all["drafts"].as_array().expect("a list of drafts");
        let Some(draft) = drafts.iter().find(|draft| draft["to"].to_string().contains(to.as_str())) else {
            return Some(format!("no draft to {to}"));
        };
        let shown = tools.call("draft_show", &json!({ "id": id(draft) })).expect("a draft");
        let body = shown["body"].as_str().unwrap_or_default();
        let unsaid = self.draft.iter().find(|words| !has(body, words))?;
        Some(format!("the draft does not say {unsaid}: {}", body.replace('\n', " / ")))
    }
}

fn id(draft: &Value) -> &Value {
    ["draftId", "id"].iter().map(|name| &draft[*name]).find(|id| id.is_string()).expect("a draft has an id")
}

/// Whether a text holds one of several words, in capitals or not.
fn has(text: &str, words: &str) -> bool {
    let text = text.to_lowercase();
    words.split('|').any(|word| text.contains(&word.to_lowercase()))
}

/// What the butler says, in a sample household that is new.
async fn answer(folder: &TempDir, ask: &str) -> String {
    let surroundings = Surroundings {
        cwd: folder.path().to_owned(),
        home: Some(folder.path().join("home")),
        ..Surroundings::default()
    };
    let flags = Flags { demo: true, data: Some(folder.path().join("data").display().to_string()), ..Flags::default() };
    let config = Config::load(&surroundings, &flags).expect("a configuration");
    let options = Options { store: Kept::InMemory, ..Options::default() };
    let staff = Staff::open(&surroundings, config, options).await.expect("a staff");
    let report = staff.run(ask).await.expect("a report");
    staff.close().await;
    report.text.to_string()
}
