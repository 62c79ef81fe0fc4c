//! Git in the sandbox: what people do with it every day works without a question, and what would change a protected file asks
//! first, names it, and works once it is approved.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use agent::permission::{Action, Asked, Layer, judge};
use agent::tools::{Assessment, ToolResult};
use agent::{CallId, Json, Mode, ThreadId};
use majordomo_tool::{CommandHost, Guard, Registry, Sandbox, ToolContext, Workspace};
use serde_json::json;

#[path = "../../testkit/src/skip.rs"]
mod skip;

struct TestWorkspace {
    folder: tempfile::TempDir,
    registry: Registry,
    context: ToolContext,
}

impl TestWorkspace {
    fn all() -> Vec<Self> {
        let kinds = [("bubblewrap", Sandbox::probe_bubblewrap(&[])), ("landlock", Sandbox::probe_landlock(&[]))];
        let (in_force, missing): (Vec<_>, Vec<_>) = kinds.into_iter().partition(|(_, sandbox)| sandbox.is_in_force());
        missing.iter().for_each(|(kind, _)| skip::without_sandbox(kind));
        let rooms: Vec<Self> = in_force.into_iter().map(|(_, sandbox)| Self::with(sandbox)).collect();
        assert!(!rooms.is_empty(), "some sandbox works here");
        rooms
    }

    /// A repository with a branch that brings settings of an editor and one that does not.
    fn with(sandbox: Sandbox) -> Self {
        let folder = tempfile::tempdir().expect("a passing folder");
        let work = folder.path().join("work");
        fs::create_dir(&work).expect("a folder");
        let guard = Guard::Embedded;
        let registry = Registry::standard(CommandHost { guard, sandbox });
        let workspace = Arc::new(Workspace::open(&work).expect("a workspace"));
        let mut context = ToolContext::new(workspace, ThreadId::new("20260115-k3f9"), CallId::new("tu_1"));
        context.data = Some(folder.path().join("state"));
        let room = Self { folder, registry, context };
        for args in
            [&["init", "-q", "-b", "main"][..], &["config", "user.name", "Ann"], &["config", "user.email", "a@b"]]
        {
            room.git(args);
        }
        room.write("a.txt", "a\n");
        room.commit("one");
        room.git(&["switch", "-q", "-c", "settings"]);
        room.write(".vscode/settings.json", "{}\n");
        room.commit("settings");
        room.git(&["switch", "-q", "main"]);
        room.git(&["switch", "-q", "-c", "plain"]);
        room.write("b.txt", "b\n");
        room.commit("plain");
        room.git(&["switch", "-q", "main"]);
        room
    }

    fn work(&self) -> std::path::PathBuf {
        self.folder.path().join("work")
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    /// Git as the user runs it.
    fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.args(args).current_dir(self.work()).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(git.status().expect("git").success(), "{args:?}");
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn assess(&self, command: &str) -> Assessment {
        let info = self.registry.infos()["run_command"].clone();
        let workspace = self.work().canonicalize().expect("a folder").display().to_string();
        self.registry.assess(&workspace, &info, &Json::of(&json!({ "command": command })))
    }

    fn action(&self, command: &str) -> Action {
        let assessment = self.assess(command);
        let asked = Asked { tool: "run_command", assessment: &assessment, foreign: false, asks: None };
        judge(&[Layer { agent: "general".into(), mode: Mode::Auto }], &[], &[], &asked).action
    }

    async fn run(&self, command: &str, is_approved: bool) -> ToolResult {
        let tool = self.registry.get("run_command").expect("a tool").clone();
        let context = ToolContext { is_approved, ..self.context.clone() };
        tool.run(&Json::of(&json!({ "command": command })), &context).await
    }
}

// T66, T68
#[tokio::test]
async fn everyday_git_works_without_a_question() {
    for room in TestWorkspace::all() {
        for command in [
            "echo more >> a.txt && git add a.txt && git commit -m more",
            "git branch topic",
            "git switch topic",
            "git switch -c other",
            "git checkout -b third plain",
            "git merge topic -m merged",
            "git rebase main",
            "git tag v1",
            "echo x >> a.txt && git stash && git stash pop && git commit -am x",
            "git cherry-pick --allow-empty v1 || git cherry-pick --skip",
            "git branch -d topic",
            "git init -q new && git -C new config --get core.bare",
            "git worktree add wt && git -C wt status",
            "git reset --soft HEAD~1 && git commit -m again",
        ] {
            assert_eq!(room.action(command), Action::Allow, "{command}: {}", room.assess(command).effect);
            let result = room.run(command, false).await;
            assert!(!result.is_error, "{command}: {}", result.content);
        }
        assert!(room.work().join("new/.git/config").exists(), "a new repository stays");
        assert!(room.work().join("wt/.git").exists(), "a work tree too");
    }
}

#[tokio::test]
async fn hooks_and_filters_of_the_repository_run_where_a_command_may_write() {
    for room in TestWorkspace::all() {
        room.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
        room.write(".gitattributes", "*.up filter=up\n");
        room.write(".git/hooks/pre-commit", "#!/bin/sh\necho ran > hooked.txt\n");
        let hook = room.work().join(".git/hooks/pre-commit");
        fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
        room.commit("filters");
        fs::remove_file(room.work().join("hooked.txt")).expect("the user's own commit ran it too");
        let result =
            room.run("echo loud > x.up && git add x.up && git commit -m up && git show HEAD:x.up", false).await;
        assert!(result.content.contains("LOUD"), "the filter ran: {}", result.content);
        assert!(room.work().join("hooked.txt").exists(), "the hook ran: {}", result.content);
    }
}

#[tokio::test]
async fn a_git_command_that_would_change_a_protected_file_asks_names_it_and_works_once_approved() {
    let asks = [
        ("git switch settings", ".vscode/settings.json"),
        ("git checkout settings", ".vscode/settings.json"),
        ("git merge settings -m x", ".vscode/settings.json"),
        ("git cherry-pick settings", ".vscode/settings.json"),
        ("git rebase settings", ".vscode/settings.json"),
        ("git reset --hard settings", ".vscode/settings.json"),
        ("cd . && git switch settings", ".vscode/settings.json"),
    ];
    for (command, path) in asks {
        for room in TestWorkspace::all() {
            let assessment = room.assess(command);
            assert_eq!(room.action(command), Action::Ask, "{command}");
            assert!(assessment.effect.contains(path), "{command}: {}", assessment.effect);
            assert_eq!(assessment.protected, [".vscode".into()], "{command}");
            let result = room.run(command, true).await;
            assert!(!result.is_error, "{command}: {}", result.content);
            assert!(room.work().join(path).exists(), "{command}: {}", result.content);
        }
    }
    for room in TestWorkspace::all() {
        for command in ["git config user.name Eve", "git remote add x y", "git branch -u main plain"] {
            let assessment = room.assess(command);
            assert_eq!((room.action(command), &assessment.protected[..]), (Action::Ask, &[".git/config".into()][..]));
            let result = room.run(command, true).await;
            assert!(!result.is_error, "{command}: {}", result.content);
        }
        let config = fs::read_to_string(room.work().join(".git/config")).expect("settings");
        assert!(config.contains("Eve") && config.contains("[remote \"x\"]"), "{config}");
    }
}

#[tokio::test]
async fn deleting_a_folder_with_protected_files_in_it_names_them() {
    for room in TestWorkspace::all() {
        room.write("sub/.vscode/tasks.json", "{}");
        room.write("sub/x", "");
        let assessment = room.assess("rm -rf sub");
        assert!(assessment.effect.contains("sub/.vscode/tasks.json"), "{}", assessment.effect);
        let result = room.run("rm -rf sub", true).await;
        assert!(!result.is_error && !room.work().join("sub").exists(), "{}", result.content);
        assert!(!Path::new(&room.work().join("sub")).exists());
    }
}
