//! The file that a call names: under which names rules may speak of it, and where the path really leads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::Json;
use agent::tools::{Assessment, ToolInfo, ToolResult};
use futures_util::future::BoxFuture;

use crate::bench::Bench;
use crate::tool::Tool;
use crate::workspace::WorkPath;

/// The names under which models give a path.
const NAMES: [&str; 7] = ["path", "file", "file_path", "filename", "dir", "folder", "directory"];

/// A file as rules see it.
pub(crate) struct Named {
    /// As the call has it.
    pub given: String,
    /// The path from the workspace, and the one that it leads to through links where that is another.
    pub subjects: Vec<Arc<str>>,
    /// Other spellings, among them the whole path: a rule that forbids may mean any of them.
    pub also: Vec<Arc<str>>,
    /// Whether something is there.
    pub exists: bool,
    /// Where it really is or would be.
    pub leads_to: String,
}

/// The file or folder that a call's arguments name.
pub(crate) fn file(input: &Json, workspace: &Path) -> Option<Named> {
    let value = input.value();
    let given = NAMES.iter().find_map(|name| value[*name].as_str())?;
    let real_root = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    // What is refused as a path is refused when it is run; a rule sees it as it stands.
    let clean =
        WorkPath::parse(given, &[&real_root, workspace]).map_or_else(|_| given.to_owned(), |path| path.to_string());
    let (exists, leads_to) = leads_to(&workspace.join(given));
    let beneath = Path::new(&leads_to).strip_prefix(&real_root).ok().map(|path| path.display().to_string());
    let mut subjects: Vec<Arc<str>> = vec![clean.as_str().into()];
    subjects.extend(beneath.filter(|beneath| *beneath != clean && !beneath.is_empty()).map(Arc::from));
    let whole = workspace.join(&clean).display().to_string();
    let also = [given, &whole, &leads_to].into_iter().filter(|name| *name != clean).map(Arc::from).collect();
    Some(Named { given: given.to_owned(), subjects, also, exists, leads_to })
}

/// A tool that looks at the one file or folder that its arguments name.
pub(crate) struct Reads<T>(pub T);

impl<T: Tool> Tool for Reads<T> {
    fn info(&self) -> &ToolInfo {
        self.0.info()
    }

    fn assess(&self, input: &Json, workspace: &Path) -> Assessment {
        let plain = self.0.assess(input, workspace);
        let Some(Named { given, subjects, mut also, leads_to, .. }) = file(input, workspace) else { return plain };
        // A rule may speak of any of the arguments.
        also.extend(plain.subjects.iter().cloned());
        Assessment { effect: format!("looks at {given}").into(), subjects, also, digest: leads_to.into(), ..plain }
    }

    fn run<'a>(&'a self, input: &'a Json, bench: &'a Bench) -> BoxFuture<'a, ToolResult> {
        self.0.run(input, bench)
    }
}

/// Whether something is there, and the path with every link followed as far as it exists.
pub(crate) fn leads_to(path: &Path) -> (bool, String) {
    let mut rest = Vec::new();
    let mut known: PathBuf = path.to_owned();
    loop {
        if let Ok(real) = known.canonicalize() {
            let exists = rest.is_empty();
            let whole = rest.iter().rev().fold(real, |path: PathBuf, name| path.join(name));
            return (exists, whole.display().to_string());
        }
        match (known.file_name().map(std::ffi::OsStr::to_owned), known.parent()) {
            (Some(name), Some(parent)) => {
                rest.push(name);
                known = parent.to_owned();
            }
            _ => return (false, path.display().to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    // T43
    #[test]
    fn however_a_file_is_spelt_rules_see_its_path_from_the_workspace() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("keys")).unwrap();
        std::fs::write(folder.path().join("keys/one"), "x").unwrap();
        symlink("keys", folder.path().join("innocent")).unwrap();
        let named = |path: &str| file(&Json::of(&serde_json::json!({ "file_path": path })), folder.path()).unwrap();
        let whole = folder.path().join("keys/one").display().to_string();
        for path in ["keys/one", "./keys/one", "keys//./one", &whole] {
            let named = named(path);
            assert_eq!((&*named.subjects, named.exists), (&["keys/one".into()][..], true), "{path}");
            assert!(named.also.contains(&whole.as_str().into()), "{:?}", named.also);
        }
        assert_eq!(named("innocent/one").subjects, ["innocent/one".into(), "keys/one".into()]);
        assert_eq!(named("innocent/new").subjects, ["innocent/new".into(), "keys/new".into()]);
        assert_eq!(named("../elsewhere").subjects, ["../elsewhere".into()], "it is refused when it is run");
        assert!(file(&Json::of(&serde_json::json!({ "pattern": "x" })), folder.path()).is_none());
    }
}
