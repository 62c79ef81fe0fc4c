//! Hooks: commands of the user that are run when something happens, in the shape that Claude Code gave them: JSON on stdin, an exit code or JSON
//! back. They are read from `hooks.json` of the user, from files that `hooks.files` names, and from `.majordomo/hooks.json` of a trusted project.
//!
//! A hook can refuse and it can tell; it can never allow. It runs after modes, rules and the person have let a call pass, so that
//! `permissionDecision: allow` changes nothing. A hook is the person's own program: it runs outside the sandbox, with a few variables and none
//! of the keys, and everything that it started in its process group ends at its time limit. Files of the project that its command names are
//! protected, since an agent that could write them could leave the sandbox. Deliberately absent: hooks that change arguments (an
//! approval is bound to them).

mod transcript;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use agent::permission::matches;
use agent::policy::STARTING_VERBS;
use agent::{Json, ThreadId};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use regex::{Regex, RegexBuilder};
use runtime::{HookKind, HookMoment, HookOutcome, StopHooks};
use serde::Deserialize;
use serde_json::{Value, json};
use store::Store;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use self::transcript::Transcripts;
use crate::config::{Config, Surroundings, clause, likeness, nearest, read_own};
use crate::named::{self, Places};
use crate::trust::File;

/// The moments, by the names that Claude Code gave them.
pub const EVENTS: [&str; 9] = [
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "Notification",
    "SessionStart",
    "SessionEnd",
];

/// The seconds that a hook may take where its file says nothing.
const TIMEOUT_S: u64 = 60;
/// The most seconds that a hook may take.
const MOST_TIMEOUT_S: u64 = 600;
/// The most bytes that are read of what a hook says.
const MOST_OUTPUT: u64 = 64 * 1024;
/// The exit code that refuses.
const REFUSES: i32 = 2;
/// The exit codes by which a shell says that the command could not be run: it is not there, or no program.
const NOT_RUN: [i32; 2] = [126, 127];
/// The most memory of a matcher that is a regular expression.
const MOST_MATCHER_BYTES: usize = 256 * 1024;
/// The variables that a hook gets.
const VARIABLES: [&str; 8] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "SHELL", "TERM"];

/// Our tools by the names that hooks of Claude Code know them by.
const NAMES: [(&str, &str); 13] = [
    ("read_file", "Read"),
    ("write_file", "Write"),
    ("edit_file", "Edit"),
    ("list_dir", "LS"),
    ("find_files", "Glob"),
    ("search_files", "Grep"),
    ("run_command", "Bash"),
    ("todo", "TodoWrite"),
    ("ask_user", "AskUserQuestion"),
    ("web_fetch", "WebFetch"),
    ("web_search", "WebSearch"),
    ("skill", "Skill"),
    ("spawn_agent", "Task"),
];

/// The hooks of a process. Cheap to clone.
#[derive(Clone, Default)]
pub struct Hooks {
    hooks: Arc<[Hook]>,
    env: Arc<[(String, String)]>,
    root: Arc<PathBuf>,
    /// Writes the conversation for a hook; none where nothing is kept.
    transcripts: Option<Arc<Transcripts>>,
}

/// One command for one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// One of [`EVENTS`].
    pub event: &'static str,
    /// Which tools or agents it is for: names with `|` between them, `.*` for any text; empty for all. Anything more is a regular expression that
    /// is searched in the name.
    pub matcher: String,
    /// The command, for a shell.
    pub command: String,
    /// How long it may take.
    pub timeout: Duration,
    /// The file that it is written in.
    pub file: PathBuf,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    matcher: Option<String>,
    #[serde(default)]
    hooks: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    command: String,
    timeout: Option<u64>,
}

/// All hooks that count, and what a person should know about their files.
pub fn load(surroundings: &Surroundings, config: &Config) -> (Hooks, Vec<String>) {
    let (mut hooks, mut warnings) = (Vec::new(), Vec::new());
    let own = surroundings.user_folder().map(|folder| folder.join("hooks.json"));
    for path in own.into_iter().chain(config.hooks.files.iter().map(|file| whole(file, surroundings))) {
        match read_own(&path) {
            Ok(None) => {}
            Ok(Some(text)) => add(&mut hooks, &mut warnings, &path, &text),
            Err(error) => warnings.push(format!("{}: cannot be read: {error}", path.display())),
        }
    }
    if let Some(file) = config.project.hooks.as_ref().filter(|_| config.project.is_trusted()) {
        match &file.text {
            Ok(text) => add(&mut hooks, &mut warnings, &file.path, text),
            Err(why) => warnings.push(format!("{}: cannot be read: {why}", file.path.display())),
        }
    }
    if let Ok(root) = surroundings.cwd.canonicalize() {
        // The user's own hooks may name files of the project, too; they are run in the folder at work.
        let places = Places { named: &config.project.root, from: &root, project: &root };
        let run = hooks.iter().flat_map(|hook: &Hook| named::in_line(&hook.command, &places));
        // Files of hooks may lie there themselves.
        let listed = config.hooks.files.iter().filter_map(|file| whole(file, surroundings).canonicalize().ok());
        let listed = listed.filter_map(|file| Some(file.strip_prefix(&root).ok()?.to_owned()));
        tool::protect(&root, run.chain(listed));
    }
    let env = VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), surroundings.env.get(*name)?.clone())));
    let root = Arc::new(config.project.root.clone());
    (Hooks { hooks: hooks.into(), env: env.collect(), root, transcripts: None }, warnings)
}

/// The commands of a file of a project, in lines for a person: exactly what would be run.
pub fn of_text(file: &File) -> Vec<String> {
    let (mut hooks, mut warnings) = (Vec::new(), Vec::new());
    match &file.text {
        Ok(text) => add(&mut hooks, &mut warnings, &file.path, text),
        Err(why) => warnings.push(format!("cannot be read: {why}")),
    }
    let line = |hook: &Hook| {
        let matcher = if hook.matcher.is_empty() { "*" } else { &hook.matcher };
        format!("{} ({matcher}): {}", hook.event, hook.command)
    };
    hooks.iter().map(line).chain(warnings).collect()
}

/// The files of a project that the commands of its hooks name, as digests.
pub(crate) fn named_files(project: &Path, file: &File) -> Vec<File> {
    let (mut hooks, mut warnings) = (Vec::new(), Vec::new());
    if let Ok(text) = &file.text {
        add(&mut hooks, &mut warnings, &file.path, text);
    }
    let places = Places { named: project, from: project, project };
    let files: std::collections::BTreeSet<PathBuf> =
        hooks.iter().flat_map(|hook| named::in_line(&hook.command, &places)).collect();
    named::digests(project, files)
}

/// The hooks of a file: its key `hooks`, as in the settings of Claude Code. Other keys of such a file are not looked at.
fn add(hooks: &mut Vec<Hook>, warnings: &mut Vec<String>, path: &Path, text: &str) {
    let mut warn = |what: String| warnings.push(format!("{}: {what}", path.display()));
    let whole: Value = match serde_json::from_str(text) {
        Ok(whole) => whole,
        Err(error) => return warn(format!("line {}: this is not valid JSON, so no hook of it is run", error.line())),
    };
    let Some(events) = whole.get("hooks").and_then(Value::as_object) else { return };
    for (event, groups) in events {
        let Some(known) = EVENTS.into_iter().find(|known| known == event) else {
            let meant = clause(nearest(&EVENTS, |known| likeness(event, known)));
            warn(format!("hooks.{event} is not known{meant}"));
            continue;
        };
        let groups: Vec<Group> = match Vec::<Group>::deserialize(groups) {
            Ok(groups) => groups,
            Err(_) => {
                warn(format!("hooks.{event} expects a list of {{matcher, hooks}}"));
                continue;
            }
        };
        for Group { matcher, hooks: entries } in groups {
            let matcher = matcher.unwrap_or_default();
            if !is_simple(&matcher)
                && let Err(error) = expression(&matcher)
            {
                let why = error.to_string().lines().last().unwrap_or_default().to_owned();
                warn(format!(
                    "hooks.{event}: the matcher '{matcher}' is no regular expression, so its hooks are not run: {why}"
                ));
                continue;
            }
            for Entry { kind, command, timeout } in entries {
                if kind != "command" || command.trim().is_empty() {
                    warn(format!(
                        "hooks.{event}: only hooks of type \"command\" with a command are run, not \"{kind}\""
                    ));
                    continue;
                }
                let timeout = Duration::from_secs(timeout.unwrap_or(TIMEOUT_S).clamp(1, MOST_TIMEOUT_S));
                hooks.push(Hook { event: known, matcher: matcher.clone(), command, timeout, file: path.to_owned() });
            }
        }
    }
}

fn whole(file: &str, surroundings: &Surroundings) -> PathBuf {
    match (file.strip_prefix("~/"), &surroundings.home) {
        (Some(below), Some(home)) => home.join(below),
        _ => surroundings.cwd.join(file),
    }
}

/// Whether a matcher is names with `|` between them and `.*` in them.
fn is_simple(matcher: &str) -> bool {
    matcher == "*" || matcher.replace(".*", "").chars().all(|c| c.is_alphanumeric() || "_|- ".contains(c))
}

/// A matcher that is more than names.
fn expression(matcher: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(matcher).size_limit(MOST_MATCHER_BYTES).build()
}

impl Hook {
    fn is_for(&self, names: &[&str]) -> bool {
        let matcher = self.matcher.trim();
        if !is_simple(matcher) {
            // It was read when its file was.
            return expression(matcher).is_ok_and(|wanted| names.iter().any(|name| wanted.is_match(name)));
        }
        matcher.is_empty()
            || matcher == "*"
            || matcher
                .split('|')
                .map(|name| name.trim().replace(".*", "*"))
                .any(|pattern| names.iter().any(|name| matches(&pattern, name)))
    }
}

impl Hooks {
    /// The hooks, in the order in which they are run.
    pub fn all(&self) -> &[Hook] {
        &self.hooks
    }

    /// The hooks that are run once modes, rules and the person have let a call pass, in their order: each can refuse it. Of a call that starts
    /// sub-agents they are run for each of these, by the name of its agent, which may be decided in the call.
    pub fn of_call(&self, tool: &str, input: &Json) -> Vec<&Hook> {
        if STARTING_VERBS.contains(&tool) {
            return self.hooks.iter().filter(|hook| hook.event == "SubagentStart").collect();
        }
        let names = describe(&mut json!({}), tool, input);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.hooks.iter().filter(|hook| hook.event == "PreToolUse" && hook.is_for(&names)).collect()
    }

    /// The same, with the conversation of the thread at hand in a file for each hook.
    pub(crate) fn with_transcripts(self, store: Arc<dyn Store>, data: &Path) -> Self {
        Self { transcripts: Some(Arc::new(Transcripts::new(store, data))), ..self }
    }

    /// Which threads have hooks that hear of the end of a run before it ends.
    pub(crate) fn stop_hooks(&self) -> StopHooks {
        let has = |event: &str| self.hooks.iter().any(|hook| hook.event == event);
        StopHooks { roots: has("Stop"), sub_agents: has("SubagentStop") }
    }

    /// Runs the hooks for a moment of a thread; none where there are none.
    pub(crate) fn at(&self, moment: &HookMoment) -> Option<BoxFuture<'static, HookOutcome>> {
        if self.hooks.is_empty() {
            return None;
        }
        let is_root = moment.thread.is_root();
        let event = match &moment.kind {
            HookKind::BeforeTool { .. } => "PreToolUse",
            HookKind::AfterTool { .. } => "PostToolUse",
            HookKind::ChildStarts { .. } => "SubagentStart",
            HookKind::RunEnded { .. } if is_root => "Stop",
            HookKind::RunEnded { .. } => "SubagentStop",
            HookKind::PersonAsked { .. } => "Notification",
        };
        let mut message = json!({
            "session_id": moment.thread.root().to_string(),
            "transcript_path": "",
            "cwd": &*moment.workspace,
            "permission_mode": moment.mode.as_str(),
            "hook_event_name": event,
            "agent_id": moment.thread.to_string(),
            "agent_type": &*moment.agent,
        });
        let (mut names, mut is_approved) = (vec![moment.agent.to_string()], false);
        match &moment.kind {
            HookKind::BeforeTool { call, tool, input, is_approved: approved } => {
                is_approved = *approved;
                names = describe(&mut message, tool, input);
                message["tool_use_id"] = call.to_string().into();
            }
            HookKind::AfterTool { call, tool, input, result } => {
                names = describe(&mut message, tool, input);
                message["tool_use_id"] = call.to_string().into();
                message["tool_response"] = (&**result).into();
            }
            HookKind::ChildStarts { task } => message["prompt"] = (&**task).into(),
            HookKind::RunEnded { report, was_sent_back } => {
                message["last_assistant_message"] = (&**report).into();
                message["stop_hook_active"] = (*was_sent_back).into();
            }
            HookKind::PersonAsked { question } => message["message"] = (&**question).into(),
        }
        self.run(event, &names, message, &moment.workspace, is_approved, Some(moment.thread.clone()))
    }

    /// Runs the hooks for a moment that belongs to no thread yet: a message of the user, the beginning and the end of a session.
    pub(crate) async fn outside(&self, event: &'static str, field: (&str, &str), workspace: &Path) -> HookOutcome {
        let mut message =
            json!({ "session_id": "", "transcript_path": "", "cwd": workspace, "hook_event_name": event });
        message[field.0] = field.1.into();
        match self.run(event, &[field.1.to_owned()], message, &workspace.to_string_lossy(), true, None) {
            Some(run) => run.await,
            None => HookOutcome::default(),
        }
    }

    fn run(
        &self,
        event: &'static str,
        names: &[String],
        mut message: Value,
        workspace: &str,
        is_approved: bool,
        thread: Option<ThreadId>,
    ) -> Option<BoxFuture<'static, HookOutcome>> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let chosen = |hook: &&Hook| hook.event == event && (is_about_session(event) || hook.is_for(&names));
        let hooks: Vec<Hook> = self.hooks.iter().filter(chosen).cloned().collect();
        if hooks.is_empty() {
            return None;
        }
        let (env, root, workspace) = (self.env.clone(), self.root.clone(), PathBuf::from(workspace));
        let transcripts = self.transcripts.clone();
        Some(
            async move {
                let written = match &transcripts {
                    Some(transcripts) => transcripts.write(thread.as_ref()).await.map(Some),
                    None => Ok(None),
                };
                let written = written.unwrap_or_else(|error| {
                    tracing::warn!("hooks are run without the conversation, which could not be written: {error}");
                    None
                });
                if let Some(written) = &written {
                    message["transcript_path"] = written.path().to_string_lossy().as_ref().into();
                }
                let message = message.to_string();
                let mut outcome = HookOutcome::default();
                for hook in hooks {
                    let said = said(&hook, &env, &root, &workspace, &message, is_approved).await;
                    let told = [outcome.told.take(), said.told].into_iter().flatten().collect::<Vec<_>>().join("\n");
                    outcome.told = (!told.is_empty()).then(|| told.into());
                    if said.refused.is_some() {
                        outcome.refused = said.refused;
                        break;
                    }
                }
                outcome
            }
            .boxed(),
        )
    }
}

/// Whether every hook of an event is run, whatever its matcher says.
fn is_about_session(event: &str) -> bool {
    matches!(event, "UserPromptSubmit" | "Stop" | "SessionStart" | "SessionEnd" | "Notification")
}

/// Adds a call to a message, under the names that hooks of Claude Code know; all names by which matchers may mean the tool.
fn describe(message: &mut Value, tool: &str, input: &Json) -> Vec<String> {
    let (name, arguments) = named(tool, Some(input));
    message["tool_name"] = name.as_str().into();
    message["tool_input"] = arguments;
    message["majordomo_tool"] = tool.into();
    vec![name, tool.to_owned()]
}

/// A call under the names that hooks of Claude Code know.
fn named(tool: &str, input: Option<&Json>) -> (String, Value) {
    let known = NAMES.iter().find(|(ours, _)| *ours == tool).map(|(_, theirs)| *theirs);
    // A tool of an MCP server.
    let of_server = tool.split_once("__").map(|_| format!("mcp__{tool}"));
    let name = known.map(str::to_owned).or(of_server).unwrap_or_else(|| tool.to_owned());
    let mut arguments: Value = input.and_then(|input| serde_json::from_str(input.text()).ok()).unwrap_or_default();
    if let Some(path) = arguments.get("path").cloned() {
        arguments["file_path"] = path;
    }
    (name, arguments)
}

/// Runs one hook, and reads what it said.
async fn said(
    hook: &Hook,
    env: &[(String, String)],
    root: &Path,
    workspace: &Path,
    message: &str,
    is_approved: bool,
) -> HookOutcome {
    let ran = tokio::time::timeout(hook.timeout, ran(hook, env, root, workspace, message)).await;
    let name = hook.command.chars().take(80).collect::<String>();
    let (code, out, err) = match ran {
        Ok(Ok(ran)) => ran,
        Ok(Err(error)) => {
            tracing::warn!("the hook '{name}' could not be run: {error}");
            return HookOutcome { refused: unguarded(hook, &format!("it could not be run: {error}")), told: None };
        }
        Err(_) => {
            let seconds = hook.timeout.as_secs();
            tracing::warn!("the hook '{name}' did not end within {seconds} s and was ended");
            return HookOutcome { refused: unguarded(hook, &format!("it did not end within {seconds} s")), told: None };
        }
    };
    let short = |text: &str| -> Arc<str> { text.trim().chars().take(2_000).collect::<String>().into() };
    match code {
        Some(REFUSES) => {
            let reason = if err.trim().is_empty() { "it gave no reason".into() } else { short(&err) };
            HookOutcome { refused: Some(reason), told: None }
        }
        Some(0) => answered(hook, out.trim(), is_approved, short),
        code => {
            tracing::warn!("the hook '{name}' failed with {code:?}: {}", short(&err));
            let refused = match code {
                None => unguarded(hook, "it was ended by a signal"),
                Some(code) if NOT_RUN.contains(&code) => {
                    unguarded(hook, &format!("its command could not be run (exit code {code}): {}", short(&err)))
                }
                Some(_) => None,
            };
            HookOutcome { refused, told: None }
        }
    }
}

/// Why a call is not made whose hook has not looked at it: a guard that does not answer has not agreed.
fn unguarded(hook: &Hook, why: &str) -> Option<Arc<str>> {
    (hook.event == "PreToolUse").then(|| why.into())
}

/// What the output of a hook means that succeeded.
fn answered(hook: &Hook, out: &str, is_approved: bool, short: impl Fn(&str) -> Arc<str>) -> HookOutcome {
    let Ok(Value::Object(answer)) = serde_json::from_str::<Value>(out) else {
        // Plain output is told to a model only where it belongs to what the user says.
        let is_told = matches!(hook.event, "UserPromptSubmit" | "SessionStart") && !out.is_empty();
        return HookOutcome { refused: None, told: is_told.then(|| short(out)) };
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(&short);
    let specific = answer.get("hookSpecificOutput");
    let of = |key: &str| specific.and_then(|output| output.get(key));
    let reason = || {
        let given = text(of("permissionDecisionReason")).or_else(|| text(answer.get("reason")));
        given.or_else(|| text(answer.get("stopReason"))).unwrap_or_else(|| "it gave no reason".into())
    };
    let decision = of("permissionDecision").or(answer.get("decision")).and_then(Value::as_str);
    let stops = answer.get("continue").and_then(Value::as_bool) == Some(false);
    let refused = match decision {
        Some("deny" | "block") => Some(reason()),
        // The person has decided on this very call already.
        Some("ask") if is_approved => None,
        Some("ask") => {
            Some(format!("it wants a person to decide, and nothing else asks about this call: {}", reason()).into())
        }
        // Of the end of a run it says that the agent may end.
        _ if stops && !matches!(hook.event, "Stop" | "SubagentStop") => Some(reason()),
        // To allow is what the modes, the rules and the person have done before; a hook adds nothing to it.
        _ => None,
    };
    HookOutcome { refused, told: text(of("additionalContext")) }
}

/// Ends the process group of a hook when it is dropped.
struct ProcessGroup(Child);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let group = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

async fn ran(
    hook: &Hook,
    env: &[(String, String)],
    root: &Path,
    workspace: &Path,
    message: &str,
) -> std::io::Result<(Option<i32>, String, String)> {
    let cwd = if workspace.is_dir() { workspace } else { root };
    let mut command = Command::new("sh");
    command.arg("-c").arg(&hook.command).current_dir(cwd).env_clear();
    command.envs(env.iter().map(|(name, value)| (name, value)));
    // What the name of a program means must not depend on what an agent has put into the workspace.
    if let Some((_, path)) = env.iter().find(|(name, _)| name == "PATH") {
        command.env("PATH", tool::search_path(path, &[root, workspace]));
    }
    command.env("CLAUDE_PROJECT_DIR", root).env("MAJORDOMO_PROJECT_DIR", root);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut group = ProcessGroup(command.spawn()?);
    let (stdin, stdout, stderr) = (group.0.stdin.take(), group.0.stdout.take(), group.0.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A hook need not read what it is told.
            let _ = stdin.write_all(message.as_bytes()).await;
        }
    };
    let ((), out, err) = futures_util::join!(write, text_of(stdout), text_of(stderr));
    let status = group.0.wait().await?;
    Ok((status.code(), out, err))
}

/// The beginning of what a pipe holds; the rest is read and dropped, so that the writer does not wait.
async fn text_of(pipe: Option<impl tokio::io::AsyncRead + Unpin>) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let mut bytes = Vec::new();
    let _ = (&mut pipe).take(MOST_OUTPUT).read_to_end(&mut bytes).await;
    let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&bytes).into_owned()
}
