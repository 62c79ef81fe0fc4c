//! Commands with real processes: what they print, what they see, and that nothing of them stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agent::tools::ToolResult;
use agent::{CallId, Json, ThreadId};
use majordomo_tool::{CommandHost, Guard, Registry, ToolContext, Workspace};
use serde_json::json;

#[path = "../../testkit/src/skip.rs"]
#[expect(dead_code, reason = "no test here depends on a sandbox")]
mod skip;

/// What T40, F29 and F30 allow between the end of a command and the end of everything it has started.
const GONE_WITHIN: Duration = Duration::from_secs(2);
/// Attempts at it: on a machine that has other work one of them may be held up, and not all of them.
const ATTEMPTS: usize = 3;
/// Until a test gives up waiting for something that must come.
const PATIENCE: Duration = Duration::from_secs(20);

struct TestWorkspace {
    context: ToolContext,
    folder: tempfile::TempDir,
}

impl TestWorkspace {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { context: context(folder.path()), folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn run(&self, guard: Guard, input: serde_json::Value) -> ToolResult {
        run(guard, &self.context, &input).await
    }
}

fn context(folder: &Path) -> ToolContext {
    ToolContext::new(Arc::new(Workspace::open(folder).unwrap()), ThreadId::new("20260115-k3f9"), CallId::new("tu_1"))
}

async fn run(guard: Guard, context: &ToolContext, input: &serde_json::Value) -> ToolResult {
    let registry = Registry::standard(CommandHost { guard, ..CommandHost::default() });
    registry.get("run_command").unwrap().run(&Json::of(input), context).await
}

fn guard() -> Guard {
    Guard::Embedded
}

fn both() -> [Guard; 2] {
    [guard(), Guard::None]
}

/// Polls until something is there.
async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether all processes of a command are gone in time, in the best of a few attempts. Each of them says how long it took, and fails
/// by itself where one is left.
async fn gone_in_time(mut attempt: impl AsyncFnMut() -> Duration) {
    let mut took = Vec::new();
    for _ in 0..ATTEMPTS {
        took.push(attempt().await);
        if took.iter().any(|took| *took < GONE_WITHIN) {
            return;
        }
    }
    panic!("they were gone too late: {took:?}");
}

/// The process numbers that a script has written down, once there are so many.
fn pids(file: &Path, wanted: usize) -> Option<Vec<u32>> {
    let pids: Vec<u32> = fs::read_to_string(file).ok()?.lines().map(|line| line.parse().unwrap()).collect();
    (pids.len() == wanted).then_some(pids)
}

/// Whether a process runs; one that has ended and was not noticed does not.
fn alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

fn without_time(content: &str) -> String {
    let (said, end) = content.rsplit_once(", ").unwrap();
    assert!(end.ends_with(" s]"), "{content}");
    format!("{said}]")
}

/// Every way to stay behind: a session of its own, a double fork, no hang-up, no sink for TERM, a hand on the pipe.
const CLINGING: &str = r#"
echo printed
setsid sh -c 'echo $$ >> pids; exec sleep 300' &
(setsid sh -c 'echo $$ >> pids; sleep 300; true' &) &
nohup sh -c 'echo $$ >> pids; exec sleep 300' > /dev/null 2>&1 &
sh -c 'trap "" TERM HUP INT; echo $$ >> pids; while :; do sleep 1; done' &
(sh -c 'echo $$ >> pids; exec sleep 300' &)
"#;
const CLINGERS: usize = 5;

#[tokio::test]
async fn output_and_exit_code_are_told_in_the_order_they_came() {
    for guard in both() {
        let room = TestWorkspace::new();
        let result = room.run(guard.clone(), json!({"command": "echo out; echo err >&2; echo out again"})).await;
        assert_eq!(without_time(&result.content), "out\nerr\nout again\n[exit code 0]");
        assert!(!result.is_error);
        let result = room.run(guard.clone(), json!({"command": "printf half; exit 3"})).await;
        assert_eq!(without_time(&result.content), "half\n[exit code 3]");
        assert!(result.is_error);
        let result = room.run(guard, json!({"command": "kill -9 $$"})).await;
        assert_eq!(without_time(&result.content), "[ended by signal 9]");
    }
}

#[tokio::test]
async fn a_command_has_no_input_and_runs_where_it_is_told() {
    let room = TestWorkspace::new();
    fs::create_dir(room.path("sub")).unwrap();
    for guard in both() {
        let result = room.run(guard.clone(), json!({"command": "cat; pwd", "cwd": "sub"})).await;
        let sub = room.path("sub").canonicalize().unwrap();
        assert_eq!(without_time(&result.content), format!("{}\n[exit code 0]", sub.display()));
        let result = room.run(guard, json!({"command": "cat < /dev/tty", "timeout_s": 5})).await;
        assert!(result.is_error);
    }
    let session = |stat: &str| stat.rsplit_once(") ").unwrap().1.split(' ').nth(3).unwrap().to_owned();
    let theirs = room.run(guard(), json!({"command": "cat /proc/self/stat"})).await.content;
    let ours = fs::read_to_string("/proc/self/stat").unwrap();
    assert_ne!(session(&theirs), session(&ours), "a guarded command has a session, and so no terminal, of its own");
    let result = room.run(guard(), json!({"command": "true", "sandbox": "off"})).await;
    assert!(result.content.ends_with("[ignored: sandbox]"), "T34b: {}", result.content);
}

// F20, T31
#[tokio::test]
async fn a_command_that_cannot_be_run_is_told() {
    let room = TestWorkspace::new();
    let said = async |input| room.run(guard(), input).await.content.to_string();
    assert!(said(json!({"command": ["ls"]})).await.contains(r#"Call it like this: run_command {"command""#));
    assert!(said(json!({"command": "a\0b"})).await.contains("it holds a NUL"));
    assert!(said(json!({"command": "x".repeat(1 << 20)})).await.contains("it is too long"));
    assert!(said(json!({"command": "ls", "cwd": "none"})).await.contains("there is no 'none'"));
    let nowhere = Guard::Program("/nowhere/guard".into());
    assert!(room.run(nowhere, json!({"command": "ls"})).await.content.starts_with("the command could not be started"));
}

// F19, INV-9
#[tokio::test]
async fn long_output_keeps_its_beginning_and_its_end() {
    let room = TestWorkspace::new();
    let result = room.run(guard(), json!({"command": "seq 1 100000"})).await;
    assert!(result.content.starts_with("1\n2\n3\n"));
    assert!(without_time(&result.content).ends_with("99999\n100000\n[exit code 0]"));
    assert!(result.content.contains(" bytes left out …") && result.content.len() < 34 * 1024);
}

// T39
#[tokio::test]
async fn output_without_end_is_ended() {
    let room = TestWorkspace::new();
    let result = room.run(guard(), json!({"command": "yes", "timeout_s": 60})).await;
    assert!(result.is_error && result.content.contains("it printed without end"), "{}", result.content);
}

#[tokio::test]
async fn those_who_watch_see_it_while_it_runs() {
    let mut room = TestWorkspace::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    room.context.progress = Some(Arc::new(move |text: &str| sink.lock().unwrap().push(text.to_owned())));
    let go = room.path("go");
    let command = json!({"command": "echo first; until [ -e go ]; do sleep 0.01; done"});
    let (result, ()) = tokio::join!(room.run(guard(), command), async {
        until("the first line", || seen.lock().unwrap().contains(&"first".to_owned()).then_some(())).await;
        fs::write(go, "").unwrap();
    });
    assert!(!result.is_error, "{}", result.content);
}

// T40
#[tokio::test]
async fn nothing_stays_when_a_command_ends() {
    for guard in both() {
        let room = TestWorkspace::new();
        let waits = format!("{CLINGING} until [ $(wc -l < pids) = {CLINGERS} ]; do sleep 0.01; done");
        let result = room.run(guard, json!({"command": waits})).await;
        let pids = pids(&room.path("pids"), CLINGERS).unwrap();
        assert!(!pids.into_iter().any(alive), "{}", result.content);
        assert!(result.content.contains("printed\n") && !result.is_error, "{}", result.content);
        assert!(result.content.contains("still running in the background ended with it]"), "{}", result.content);
    }
}

// T40, F29
#[tokio::test]
async fn nothing_stays_when_a_command_is_stopped() {
    for guard in both() {
        gone_in_time(async || {
            let room = TestWorkspace::new();
            let command = json!({"command": format!("{CLINGING} sleep 300")});
            let (result, (pids, stopped)) = tokio::join!(room.run(guard.clone(), command), async {
                let pids = until("all processes", || pids(&room.path("pids"), CLINGERS)).await;
                room.context.stop.cancel();
                (pids, Instant::now())
            });
            // That it is stopped is said once it is true.
            assert!(!pids.into_iter().any(alive), "{}", result.content);
            assert!(result.is_error && result.content.starts_with("printed\n[stopped after"), "{}", result.content);
            stopped.elapsed()
        })
        .await;
    }
}

// T40, F29
#[tokio::test]
async fn nothing_stays_when_time_is_up() {
    for guard in both() {
        gone_in_time(async || {
            let room = TestWorkspace::new();
            let begun = Instant::now();
            let command = json!({"command": format!("{CLINGING} sleep 300"), "timeout_s": 6});
            let result = room.run(guard.clone(), command).await;
            let took = begun.elapsed();
            let pids = pids(&room.path("pids"), CLINGERS).unwrap();
            assert!(!pids.into_iter().any(alive), "{}", result.content);
            assert!(
                result.is_error && result.content.starts_with("printed\n[timed out after 6 s"),
                "{}",
                result.content
            );
            took.saturating_sub(Duration::from_secs(6))
        })
        .await;
    }
}

// T40
#[tokio::test]
async fn nothing_stays_when_nobody_waits_any_more() {
    for guard in both() {
        gone_in_time(async || {
            let room = TestWorkspace::new();
            let command = json!({"command": format!("{CLINGING} sleep 300")});
            let pids = tokio::select! {
                result = room.run(guard.clone(), command) => panic!("it ended by itself: {}", result.content),
                pids = until("all processes", || pids(&room.path("pids"), CLINGERS)) => pids,
            };
            let dropped = Instant::now();
            until("their end", || (!pids.iter().any(|pid| alive(*pid))).then_some(())).await;
            dropped.elapsed()
        })
        .await;
    }
}

// T40
#[tokio::test]
async fn nothing_stays_when_a_command_kills_its_guard() {
    let room = TestWorkspace::new();
    let command =
        format!("{CLINGING} until [ $(wc -l < pids) = {CLINGERS} ]; do sleep 0.01; done; kill -9 $PPID; sleep 300");
    let result = room.run(guard(), json!({"command": command})).await;
    let pids = pids(&room.path("pids"), CLINGERS).unwrap();
    assert!(!pids.into_iter().any(alive), "{}", result.content);
    assert!(result.is_error && result.content.contains("exit code unknown"), "{}", result.content);
}

// T40, F29
#[tokio::test]
async fn a_guard_that_is_held_still_does_not_hold_a_stop() {
    gone_in_time(async || {
        let room = TestWorkspace::new();
        let command = json!({"command": "echo $$ >> pids; kill -STOP $PPID; echo held > held; sleep 300"});
        let (result, (pids, stopped)) = tokio::join!(room.run(guard(), command), async {
            until("the guard to be held", || room.path("held").exists().then_some(())).await;
            room.context.stop.cancel();
            (pids(&room.path("pids"), 1).unwrap(), Instant::now())
        });
        assert!(!pids.into_iter().any(alive), "{}", result.content);
        stopped.elapsed()
    })
    .await;
}

/// The parent of a process, and how it was started.
fn parent_and_arguments(pid: u32) -> Option<(u32, String)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
    let arguments = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
    Some((parent, arguments.replace('\0', " ")))
}

/// The fork server of this process.
fn fork_server() -> u32 {
    let all = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_ours = |pid: &u32| {
        // A guard is its clone, and so has the same arguments. Those of this test have ended or have no children of ours.
        parent_and_arguments(*pid)
            .is_some_and(|(parent, how)| parent == std::process::id() && how.contains("fork-server"))
    };
    all.filter(is_ours).min().expect("a command was run")
}

// T40
#[tokio::test]
async fn a_guard_is_a_child_of_the_runtime_and_shares_nothing_with_the_fork_server() {
    let room = TestWorkspace::new();
    let look = "cut -d ' ' -f 4 /proc/$PPID/stat; for fd in /proc/$PPID/fd/* /proc/self/fd/*; do readlink $fd; done";
    let first = room.run(guard(), json!({"command": look})).await.content;
    assert!(first.lines().any(|line| line == std::process::id().to_string()), "{first}");
    let line = fs::read_link(format!("/proc/{}/fd/0", fork_server())).unwrap();
    assert!(!first.contains(line.to_str().unwrap()), "the fork server's own line {line:?} is open in {first}");
    let server = fork_server();
    let second = room.run(guard(), json!({"command": look})).await.content;
    assert_eq!(fork_server(), server, "one is started and makes all guards");
    let sockets = |said: &str| said.lines().filter(|line| line.starts_with("socket:")).count();
    assert_eq!(sockets(&second), sockets(&first), "nothing of the first is open in the second: {second}");
}

// T40
#[tokio::test]
async fn a_fork_server_that_is_killed_is_started_again_and_its_guards_go_on() {
    let room = TestWorkspace::new();
    let command = "echo begun > begun; until [ -e more ]; do sleep 0.01; done; echo ended";
    let (result, ()) = tokio::join!(room.run(guard(), json!({"command": command})), async {
        until("the command to begin", || room.path("begun").exists().then_some(())).await;
        let server = fork_server();
        assert!(Command::new("kill").args(["-9", &server.to_string()]).status().unwrap().success());
        until("it to end", || parent_and_arguments(server).is_none_or(|(_, how)| how.is_empty()).then_some(())).await;
        let next = run(guard(), &context(room.folder.path()), &json!({"command": "echo next"})).await;
        assert!(!next.is_error && next.content.contains("next"), "{}", next.content);
        fs::write(room.path("more"), "").unwrap();
    });
    assert!(!result.is_error && result.content.contains("ended"), "{}", result.content);
}

// T39, T40
#[tokio::test]
async fn a_family_that_forks_on_and_on_dies_out() {
    let room = TestWorkspace::new();
    // Each process begets the next and dies: a chain that is never where it was seen.
    let chain = r#"echo 'echo $$ >> chain; sh next.sh & exit' > next.sh; setsid sh next.sh & sleep 300"#;
    let links = || {
        let chain = fs::read_to_string(room.path("chain")).unwrap_or_default();
        chain.lines().filter_map(|line| line.parse().ok()).collect::<Vec<u32>>()
    };
    let (result, ()) = tokio::join!(room.run(guard(), json!({"command": chain})), async {
        until("a chain", || (links().len() > 50).then_some(())).await;
        room.context.stop.cancel();
    });
    assert!(
        result.content.contains("[stopped after") && !result.content.contains("may still run"),
        "{}",
        result.content
    );
    let length = links().len();
    assert!(!links().into_iter().any(alive) && links().len() == length, "it goes on");
}

/// Runs a command in a process of its own that can be killed, and whose environment can be set.
fn other_process(room: &TestWorkspace, command: &str) -> Command {
    let mut other = Command::new(std::env::current_exe().unwrap());
    other.args(["--exact", "part_of_other_tests", "--ignored", "--nocapture"]);
    other.env("TEST_FOLDER", room.folder.path()).env("TEST_COMMAND", command).stdin(Stdio::null());
    other
}

#[tokio::test]
#[ignore = "run by other tests, in a process of its own"]
async fn part_of_other_tests() {
    let (Ok(folder), Ok(command)) = (std::env::var("TEST_FOLDER"), std::env::var("TEST_COMMAND")) else { return };
    let result = run(guard(), &context(Path::new(&folder)), &json!({"command": command})).await;
    println!("{}", result.content);
}

// T40, F30
#[tokio::test]
async fn nothing_stays_when_the_runtime_is_killed() {
    gone_in_time(async || {
        let room = TestWorkspace::new();
        let mut runtime = other_process(&room, &format!("{CLINGING} sleep 300")).stdout(Stdio::null()).spawn().unwrap();
        let pids = until("all processes", || pids(&room.path("pids"), CLINGERS)).await;
        assert!(pids.iter().all(|pid| alive(*pid)));
        runtime.kill().unwrap();
        let killed = Instant::now();
        runtime.wait().unwrap();
        until("their end", || (!pids.iter().any(|pid| alive(*pid))).then_some(())).await;
        killed.elapsed()
    })
    .await;
}

// T39
#[tokio::test]
async fn a_command_that_fills_the_disk_is_ended() {
    let room = TestWorkspace::new();
    let small = ["-rm", "sh", "-c", "mount -t tmpfs -o size=64m none \"$TEST_FOLDER\" && exec \"$@\"", "sh"];
    let mut own = Command::new("unshare");
    own.args(small).arg("true").env("TEST_FOLDER", room.folder.path()).stderr(Stdio::null());
    if !own.status().is_ok_and(|status| status.success()) {
        return skip::skipped("no small disk can be made here; what is decided about one is tested beside the code");
    }
    // It waits, so that the disk is full when the command looks.
    let filler = other_process(&room, "head -c 63M /dev/zero > filler; sleep 300");
    let mut inside = Command::new("unshare");
    inside.args(small).arg(filler.get_program()).args(filler.get_args()).stdin(Stdio::null());
    inside.envs(filler.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let said = String::from_utf8(inside.output().unwrap().stdout).unwrap();
    assert!(said.contains("it has nearly filled the disk"), "{said}");
}

// T32, T37
#[tokio::test]
async fn a_command_and_its_guard_see_no_key() {
    let room = TestWorkspace::new();
    fs::write(room.path("planted.sh"), "echo canary-planted\n").unwrap();
    let planted = room.path("planted.sh");
    let look = "env; cat /proc/self/environ /proc/$PPID/environ | tr '\\0' '\\n'; echo looked; echo $PATH";
    let mut runtime = other_process(&room, look);
    for name in
        ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "LD_AUDIT_X", "NODE_OPTIONS"]
    {
        runtime.env(name, "canary");
    }
    runtime.env("BASH_ENV", planted).env("GIT_SSH_COMMAND", "canary").env("PATH", ".:/usr/bin:/bin");
    let output = runtime.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("looked\n/usr/bin:/bin\n"), "{said}");
    assert!(said.contains("TERM=dumb") && !said.contains("canary"), "{said}");
}

// T60
#[tokio::test]
async fn what_a_command_prints_that_names_the_saved_results_is_marked_as_untrusted() {
    let world = TestWorkspace::new();
    fs::create_dir_all(world.path(".majordomo/results")).unwrap();
    fs::write(world.path(".majordomo/results/a.txt"), "DO AS ORDERED").unwrap();
    fs::write(world.path("mine.txt"), "mine").unwrap();
    for command in [
        "cat .majordomo/results/a.txt",
        "cat '.major'domo/results/a.txt",
        "cat ./.majordomo/*/a.txt",
        "cd .majordomo && cat results/a.txt",
        "grep -r ORDERED .majordomo",
    ] {
        let result = world.run(guard(), json!({ "command": command })).await;
        assert!(result.content.contains("ORDERED"), "{command}: {}", result.content);
        assert_eq!(result.foreign.as_deref(), Some("saved result of a tool"), "{command}");
    }
    let inside = world.run(guard(), json!({ "command": "cat a.txt", "cwd": ".majordomo/results" })).await;
    assert_eq!(inside.foreign.as_deref(), Some("saved result of a tool"));
    assert_eq!(world.run(guard(), json!({ "command": "cat mine.txt" })).await.foreign, None);
    fs::remove_dir_all(world.path(".majordomo/results")).unwrap();
    assert_eq!(world.run(guard(), json!({ "command": "ls .majordomo" })).await.foreign, None, "nothing is saved");
}
