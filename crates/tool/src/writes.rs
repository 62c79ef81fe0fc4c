//! What a tool that writes one file would do: which file, whether it is there, and whether it is protected.

use std::path::Path;
use std::sync::Arc;

use agent::Json;
use agent::tools::{Assessment, Risk, ToolInfo, ToolResult};
use futures_util::future::BoxFuture;

use crate::bench::Bench;
use crate::named::{self, Named};
use crate::protected;
use crate::tool::Tool;

/// A tool that writes the one file that its arguments name.
pub(crate) struct Writes<T>(pub T);

impl<T: Tool> Tool for Writes<T> {
    fn info(&self) -> &ToolInfo {
        self.0.info()
    }

    fn assess(&self, input: &Json, workspace: &Path) -> Assessment {
        let plain = self.0.assess(input, workspace);
        // A call that names no file fails before it does anything.
        let Some(Named { given: path, subjects, also, exists, leads_to }) = named::file(input, workspace) else {
            return plain;
        };
        let protected = [protected::place(&path), protected::place(&leads_to)];
        let protected: Vec<Arc<str>> = protected.into_iter().flatten().take(1).map(Arc::from).collect();
        let verb = if exists { "changes" } else { "creates" };
        Assessment {
            risk: if protected.is_empty() { plain.risk } else { Risk::High },
            effect: format!("{verb} the file {path}").into(),
            // A pattern says any text by a star: a path that has one cannot be said by a pattern.
            standing: (protected.is_empty() && subjects.len() == 1 && !path.contains('*')).then(|| subjects[0].clone()),
            subjects,
            also,
            protected,
            digest: leads_to.into(),
            ..plain
        }
    }

    fn run<'a>(&'a self, input: &'a Json, bench: &'a Bench) -> BoxFuture<'a, ToolResult> {
        self.0.run(input, bench)
    }

    fn clear(&self, input: &Json, bench: &Bench) {
        // A call that names no file in the workspace fails before it writes anything.
        let named = named::file(input, bench.workspace.root());
        if let Some(path) = named.and_then(|named| bench.workspace.path(&named.given).ok()) {
            bench.workspace.clear_beside(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::registry::Registry;
    use crate::{CommandHost, write_file};

    fn assess(workspace: &Path, path: &str) -> Assessment {
        let registry = Registry::standard(CommandHost::default());
        let input = Json::of(&serde_json::json!({ "path": path, "content": "x" }));
        registry.assess(&workspace.display().to_string(), write_file::tool().info(), &input)
    }

    #[test]
    fn a_write_is_told_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("there"), "x").unwrap();
        let there = assess(folder.path(), "./there");
        assert_eq!((&*there.effect, there.risk), ("changes the file ./there", Risk::Medium));
        assert_eq!((there.subjects, there.standing), (vec!["there".into()], Some("there".into())));
        assert_eq!(&*assess(folder.path(), "a/b").effect, "creates the file a/b");
        assert_eq!(assess(folder.path(), "a*b").standing, None);
    }

    // T19
    #[test]
    fn a_protected_place_is_named_also_behind_a_link_and_is_never_consented_to_for_good() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
        symlink(".git/hooks", folder.path().join("innocent")).unwrap();
        for path in [".git/hooks/pre-commit", "innocent/pre-commit", "sub/.git/hooks/x"] {
            let assessment = assess(folder.path(), path);
            assert_eq!(assessment.protected, [".git/hooks".into()], "{path}");
            assert_eq!((assessment.risk, assessment.standing), (Risk::High, None), "{path}");
        }
    }

    // T20
    #[test]
    fn another_file_behind_the_same_path_is_another_call() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["one", "two"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        symlink("one", folder.path().join("link")).unwrap();
        let before = assess(folder.path(), "link/file").digest;
        assert_eq!(before, assess(folder.path(), "link/file").digest);
        std::fs::remove_file(folder.path().join("link")).unwrap();
        symlink("two", folder.path().join("link")).unwrap();
        assert_ne!(before, assess(folder.path(), "link/file").digest);
        assert_ne!(before, assess(folder.path(), "one/file").digest);
    }
}
