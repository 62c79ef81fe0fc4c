//! Commands in a sandbox, with real processes: what they can reach, what they cannot, and that nothing of them stays.
//!
//! Every kind of sandbox that works on this machine is tried; where one does not, it is asserted that this is said.

use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::tools::ToolResult;
use agent::{CallId, Json, ThreadId};
use majordomo_tool::{CommandHost, Guard, Registry, Sandbox, ToolContext, Workspace};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

#[path = "../../testkit/src/skip.rs"]
mod skip;

/// Until a test gives up waiting for something that must come.
const PATIENCE: Duration = Duration::from_secs(20);
/// What must appear nowhere.
const CANARY: &str = "canary-4711";

/// The kinds of sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Best,
    Kernel,
}

impl Kind {
    fn sandbox(self, secret: &[PathBuf]) -> Sandbox {
        match self {
            Self::Best => Sandbox::probe(secret),
            Self::Kernel => Sandbox::probe_landlock(secret),
        }
    }

    /// Whether it works here; where it does not, the test says that it showed nothing of it.
    fn is_in_force(self) -> bool {
        let is_in_force = self.sandbox(&[]).is_in_force();
        if !is_in_force {
            // As root, with bubblewrap installed, the best one must work.
            skip::without_sandbox(if self == Self::Best { "bubblewrap" } else { "landlock" });
        }
        is_in_force
    }

    /// Whether this kind keeps files in the workspace as they are.
    fn keeps_files(self) -> bool {
        holds(&self.sandbox(&[]), "protected paths")
    }
}

/// The kinds that work here.
fn kinds() -> Vec<Kind> {
    let all = [Kind::Best, Kind::Kernel];
    for kind in all {
        let sandbox = kind.sandbox(&[]);
        let fact = &sandbox.describe()[0];
        assert_eq!(fact.in_force, sandbox.is_in_force());
        assert!(fact.in_force || (!fact.how.is_empty() && fact.advice.is_some()), "T38: {fact:?}");
    }
    all.into_iter().filter(|kind| kind.is_in_force()).collect()
}

fn holds(sandbox: &Sandbox, name: &str) -> bool {
    let facts = sandbox.describe();
    facts.iter().find(|fact| fact.name == name).unwrap_or_else(|| panic!("{name}: {facts:?}")).in_force
}

/// A workspace and a place beside it.
struct TestWorkspace {
    context: ToolContext,
    folder: tempfile::TempDir,
}

impl TestWorkspace {
    fn new() -> Self {
        Self::in_folder(&std::env::temp_dir())
    }

    /// In the home folder, which the sandbox does not replace by an empty one.
    fn at_home() -> Self {
        Self::in_folder(&std::env::home_dir().unwrap())
    }

    fn in_folder(folder: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("sandbox-test-").tempdir_in(folder).unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Self { context: context(&folder.path().join("work")), folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    async fn run(&self, kind: Kind, command: &str) -> ToolResult {
        self.call(kind, &[], json!({"command": command, "timeout_s": 60})).await
    }

    /// Runs a script of which the command says nothing, so that nothing in it was consented to.
    async fn attack(&self, kind: Kind, script: &str) -> ToolResult {
        self.write("attack.sh", script);
        self.run(kind, "bash attack.sh").await
    }

    async fn call(&self, kind: Kind, secret: &[PathBuf], input: serde_json::Value) -> ToolResult {
        run(CommandHost { guard: guard(), sandbox: kind.sandbox(secret) }, &self.context, &input).await
    }
}

fn context(folder: &Path) -> ToolContext {
    ToolContext::new(Arc::new(Workspace::open(folder).unwrap()), ThreadId::new("20260115-k3f9"), CallId::new("tu_1"))
}

fn guard() -> Guard {
    Guard::Embedded
}

async fn run(host: CommandHost, context: &ToolContext, input: &serde_json::Value) -> ToolResult {
    Registry::standard(host).get("run_command").unwrap().run(&Json::of(input), context).await
}

/// Whether this machine has a program.
fn has(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
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

// ---- what still works ----

#[tokio::test]
async fn ordinary_work_goes_on_in_a_sandbox() {
    for kind in kinds() {
        for room in [TestWorkspace::new(), TestWorkspace::at_home()] {
            let result = room.run(kind, "echo out; echo err >&2; cat; ls > list; pwd; exit 3").await;
            let here = room.path("").canonicalize().unwrap();
            assert!(
                result.content.starts_with(&format!("out\nerr\n{}\n[exit code 3, ", here.display())),
                "{kind:?} {}",
                result.content
            );
            let written = fs::metadata(room.path("list")).unwrap();
            assert_eq!(written.uid(), fs::metadata(room.path("")).unwrap().uid(), "a file belongs to its user");
            let open = room.run(kind, "ls /proc/self/fd").await.content;
            assert!(open.starts_with("0\n1\n2\n3\n["), "nothing of ours is left open: {kind:?} {open}");
            let signalled = room.run(kind, "kill -9 $$").await.content;
            assert!(signalled.contains("signal 9"), "{kind:?} {signalled}");
            let passing =
                "echo passing > $TMPDIR/x && cat $TMPDIR/x && dd if=/dev/urandom of=/dev/null count=1 2>/dev/null";
            let result = room.run(kind, passing).await;
            assert!(!result.is_error && result.content.starts_with("passing\n"), "{kind:?} {}", result.content);
        }
    }
}

#[tokio::test]
async fn tools_of_the_trade_work_in_a_sandbox() {
    let trade = [
        ("git", "git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m c && git status"),
        ("cargo", "cargo --version"),
        (
            "python3",
            "python3 -c 'import tempfile, subprocess; tempfile.TemporaryFile(); subprocess.check_call([\"true\"])'",
        ),
    ];
    for (_, command) in trade.into_iter().filter(|(program, _)| has(program)) {
        for kind in kinds() {
            for room in [TestWorkspace::new(), TestWorkspace::at_home()] {
                let result = room.run(kind, command).await;
                assert!(!result.is_error, "{kind:?} {command}: {}", result.content);
            }
        }
    }
}

// T34, T34b
#[tokio::test]
async fn no_argument_takes_the_sandbox_away() {
    for kind in kinds() {
        let room = TestWorkspace::at_home();
        let target = room.outside("written");
        let command = format!("echo x > {}", target.display());
        let relaxed = json!({"command": command, "sandbox": false, "disable_sandbox": true, "mode": "dangerous"});
        let result = room.call(kind, &[], relaxed).await;
        assert!(result.is_error && !target.exists(), "{kind:?} {}", result.content);
        assert!(result.content.contains("[ignored: "), "{}", result.content);
        let result = room.call(kind, &[], json!({"command": "pwd", "cwd": ".."})).await;
        assert!(result.is_error && result.content.starts_with("the command was not run"), "{}", result.content);
    }
}

// ---- files ----

#[tokio::test]
async fn only_the_workspace_can_be_written() {
    for kind in kinds() {
        for room in [TestWorkspace::new(), TestWorkspace::at_home()] {
            let outside = room.outside("file");
            fs::write(&outside, "before").unwrap();
            let command = format!(
                "echo after > {0}; : > {0}; rm -f {0}; mv {0} here; ln {0} linked && echo after > linked; chmod 777 {0}; \
                 touch {1}; mkdir {1}; ln -s {0} soft && echo after > soft; touch /etc/{2} /usr/bin/{2} /dev/{2}; \
                 echo ended",
                outside.display(),
                room.outside("new").display(),
                CANARY,
            );
            let result = room.run(kind, &command).await;
            assert!(result.content.contains("ended"), "{kind:?} {}", result.content);
            assert_eq!(fs::read_to_string(&outside).unwrap(), "before", "{kind:?} {}", result.content);
            assert!(!room.outside("new").exists(), "{kind:?}");
            assert!(["/etc", "/usr/bin", "/dev"].iter().all(|place| !Path::new(place).join(CANARY).exists()));
        }
    }
}

// T43
#[tokio::test]
async fn secrets_cannot_be_read_by_any_name() {
    for kind in kinds() {
        let room = TestWorkspace::at_home();
        let (state, key) = (room.outside("state"), room.outside("server.token"));
        fs::create_dir(&state).unwrap();
        fs::write(state.join("majordomo.db"), CANARY).unwrap();
        fs::write(&key, CANARY).unwrap();
        std::os::unix::fs::symlink(&state, room.path("link")).unwrap();
        std::os::unix::fs::symlink(&key, room.path("linked-key")).unwrap();
        let command = format!(
            "cat {0}/majordomo.db {1} link/majordomo.db linked-key; cp -r {0} copy; chmod 700 copy; cat copy/*; tar c {0} | cat; \
             cat /proc/self/root{1}; ln {1} hard; cat hard; dd if={1}; grep -r {2} {3}; umount {0}; cat {0}/*; echo ended",
            state.display(),
            key.display(),
            &CANARY[..3],
            room.outside("").display(),
        );
        let result = room.call(kind, &[state.clone(), key.clone()], json!({"command": command})).await;
        assert!(result.content.contains("ended"), "{kind:?} {}", result.content);
        assert!(!result.content.contains(CANARY), "{kind:?} {}", result.content);
        let result = room.run(kind, &format!("cat {}", key.display())).await;
        assert!(result.content.contains(CANARY), "what is not secret can be read: {}", result.content);
    }
}

// T43
#[tokio::test]
async fn a_workspace_inside_a_secret_folder_is_reached_and_nothing_beside_it() {
    for kind in kinds() {
        let room = TestWorkspace::at_home();
        fs::write(room.outside("majordomo.db"), CANARY).unwrap();
        room.write("mine", "mine");
        let command = json!({"command": "cat mine ../majordomo.db; echo x > written"});
        let result = room.call(kind, &[room.outside("")], command).await;
        assert!(result.content.contains("mine") && !result.content.contains(CANARY), "{kind:?} {}", result.content);
        assert!(room.path("written").exists(), "{kind:?} {}", result.content);
    }
}

// T43
#[tokio::test]
async fn keys_in_the_home_folder_cannot_be_read() {
    for kind in kinds() {
        let room = TestWorkspace::at_home();
        let home = room.outside("home");
        for name in [".ssh/id_ed25519", ".aws/credentials", ".config/gh/hosts.yml", ".netrc", ".cargo/credentials.toml"]
        {
            fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
            fs::write(home.join(name), CANARY).unwrap();
        }
        fs::write(home.join("notes"), "plain").unwrap();
        let look =
            "cat ~/.ssh/* ~/.aws/* ~/.config/gh/* ~/.netrc ~/.cargo/* ~/notes; cat /etc/shadow; echo; echo ended";
        let output = other_process(&room, kind, look).env("HOME", &home).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("plain") && said.contains("ended"), "{kind:?} {said}");
        assert!(!said.contains(CANARY) && !said.contains("root:"), "{kind:?} {said}");
    }
}

// T43
#[tokio::test]
async fn what_a_rule_forbids_to_read_is_hidden_in_the_workspace_or_no_command_runs() {
    for kind in kinds() {
        let room = TestWorkspace::at_home();
        for name in ["keys/one", "keys/deep/two", "app/.env"] {
            room.write(name, CANARY);
        }
        room.write("app/plain", "plain");
        let patterns = ["keys/*", "*.env"].map(Arc::from).to_vec();
        let context =
            ToolContext { workspace: Arc::new(room.context.workspace.without(patterns)), ..room.context.clone() };
        let command = "cat app/plain; cat keys/one keys/deep/two app/.env; mv keys k; mv app a; ln app/.env hard; \
                       cat k/one a/.env hard; cp -r . ../copy; tar c . | cat; git diff --no-index /dev/null app/.env; \
                       umount app/.env; cat app/.env; echo ended";
        let host = CommandHost { guard: guard(), sandbox: kind.sandbox(&[]) };
        let result = run(host, &context, &json!({"command": command, "timeout_s": 60})).await;
        assert!(!result.content.contains(CANARY), "{kind:?} {}", result.content);
        if kind.keeps_files() {
            assert!(
                result.content.contains("plain") && result.content.contains("ended"),
                "{kind:?} {}",
                result.content
            );
        } else {
            assert!(result.is_error && result.content.contains("cannot be hidden"), "{kind:?} {}", result.content);
        }
        for name in ["keys/one", "keys/deep/two", "app/.env"] {
            assert_eq!(fs::read_to_string(room.path(name)).unwrap(), CANARY, "{kind:?}: it stays where it was");
        }
        let bare = run(CommandHost::default(), &context, &json!({"command": "cat keys/one"})).await;
        assert!(bare.is_error && bare.content.contains("without a sandbox it cannot be hidden"), "{}", bare.content);
    }
}

// T19, T66, T68
#[tokio::test]
async fn protected_paths_stay_as_they_are() {
    for kind in kinds() {
        let room = TestWorkspace::new();
        for name in [".git/config", "deep/er/.git/config", "deep/er/.git/hooks/pre-commit", ".bashrc"] {
            room.write(name, "before");
        }
        let attack = r#"
            for r in .git deep/er/.git; do
                mkdir -p $r/hooks; echo after > $r/hooks/pre-commit; chmod +x $r/hooks/pre-commit
                echo 'fsmonitor = after' > $r/config; cp $r/config $r/copy; mv $r/copy $r/config
                rm -rf $r/hooks; mv $r/hooks $r/h; echo /elsewhere > $r/commondir; echo x > $r/info
            done
            echo after > .bashrc; mv .bashrc x; mkdir -p .majordomo/agents; echo after > .majordomo/agents/a.md
            mkdir -p a/.vscode b/.cargo; echo after > a/.vscode/tasks.json; echo after > b/.cargo/config.toml; echo after > .envrc
            ln -s /bin/sh .gitattributes; tar cf x.tar .envrc; rm -f .envrc; tar xf x.tar; echo ended
        "#;
        let result = room.attack(kind, attack).await;
        assert!(result.content.contains("ended") && result.is_error, "{kind:?} {}", result.content);
        for name in [".git/config", "deep/er/.git/config", ".bashrc"] {
            assert_eq!(fs::read_to_string(room.path(name)).unwrap(), "before", "{kind:?} {name}: {}", result.content);
        }
        for name in [
            ".git/hooks/pre-commit",
            ".git/commondir",
            ".majordomo/agents/a.md",
            "a/.vscode/tasks.json",
            "b/.cargo/config.toml",
            ".envrc",
            ".gitattributes",
        ] {
            assert!(fs::symlink_metadata(room.path(name)).is_err(), "{kind:?} {name}: {}", result.content);
        }
        for name in [".git/commondir", "a/.vscode/tasks.json", ".envrc"] {
            let line = result.content.lines().find(|line| line.starts_with(&format!("[{name} was created")));
            let moved =
                line.and_then(|line| line.split("moved to ").nth(1)).unwrap_or_else(|| panic!("{}", result.content));
            assert!(Path::new(moved.trim_end_matches(']')).exists(), "what was there is kept: {moved}");
        }
        if kind.keeps_files() {
            assert_eq!(fs::read_to_string(room.path("deep/er/.git/hooks/pre-commit")).unwrap(), "before");
            assert!(!room.path(".majordomo").exists(), "nothing is left of what it was kept away with");
            assert!(!room.path(".git/hooks").exists());
        }
        room.run(kind, "mkdir -p .git/objects && echo x > .git/objects/x").await;
        assert!(room.path(".git/objects/x").exists(), "the rest of a repository is written as ever");
    }
}

// T22, T23, T24: what is typed at a terminal of the user is an approval, or a password, and what is shown there is believed.
#[tokio::test]
async fn no_terminal_of_the_user_is_read_or_written() {
    use std::io::{Read, Write};
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let _program_of_the_user =
        fs::OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(&name).unwrap();
    let mut terminal = fs::File::from(terminal);
    for kind in kinds() {
        let room = TestWorkspace::new();
        terminal.write_all(b"hunter2\n").unwrap();
        let script = format!(
            "echo spoofed > {name}; echo spoofed > /dev/tty; timeout 1 head -c 7 {name}; timeout 1 head -c 7 < /dev/tty; \
             python3 -c 'import os; ours, theirs = os.openpty(); os.write(ours, b\"x\"); print(\"a terminal of its own\")'; echo ended"
        );
        let content = room.attack(kind, &script).await.content;
        assert!(content.contains("ended") && !content.contains("hunter2"), "{kind:?} {content}");
        // Landlock cannot tell a new terminal from those that were there.
        assert_eq!(content.contains("a terminal of its own"), kind.keeps_files(), "{kind:?} {content}");
        let mut shown = [0; 1000];
        let length = terminal.read(&mut shown).unwrap();
        let shown = String::from_utf8_lossy(&shown[..length]).into_owned();
        assert!(
            shown.contains("hunter2") && !shown.contains("spoofed"),
            "the terminal shows what is typed: {kind:?} {shown}"
        );
    }
}

// T42, T68: a mount keeps a name, and not what another name of the same file leads to.
#[tokio::test]
async fn a_protected_file_is_not_written_by_another_name_that_it_has() {
    for kind in kinds() {
        let room = TestWorkspace::new();
        let names = [".git/config", ".git/hooks/pre-commit", ".envrc", ".vscode/tasks.json"];
        for (number, name) in names.iter().enumerate() {
            room.write(name, "before");
            fs::hard_link(room.path(name), room.path(&format!("other{number}"))).unwrap();
        }
        let result = room.attack(kind, "for f in other*; do echo after >> $f; done; echo ended").await;
        assert!(result.content.contains("ended") && result.is_error, "{kind:?} {}", result.content);
        for name in names {
            assert_eq!(fs::read_to_string(room.path(name)).unwrap(), "before", "{kind:?} {name}: {}", result.content);
        }
    }
}

// T66
#[tokio::test]
async fn a_repository_can_be_neither_replaced_nor_redirected() {
    for kind in kinds() {
        let room = TestWorkspace::new();
        room.write(".git/config", "[core]\n");
        room.write(".git/HEAD", "ref: refs/heads/main");
        room.write(".git/objects/x", "mine");
        room.write(".git/refs/heads/x", "");
        let plant = r#"
            for r in sub/.git moved/.git; do
                mkdir -p $r/hooks $r/objects $r/refs; echo x > $r/HEAD
                printf '#!/bin/sh\ntrue\n' > $r/hooks/pre-commit; chmod +x $r/hooks/pre-commit
                printf '[core]\n\tfsmonitor = ./evil\n' > $r/config
            done
            mv .git old; mv moved/.git .git; echo 'gitdir: /elsewhere' > moved/.git
        "#;
        let result = room.attack(kind, plant).await;
        for name in ["sub/.git/hooks/pre-commit", "sub/.git/config", ".git/hooks/pre-commit", "moved/.git"] {
            let there = fs::symlink_metadata(room.path(name));
            assert!(
                there.is_err() || name == "moved/.git" && there.unwrap().is_dir(),
                "{kind:?} {name}: {}",
                result.content
            );
        }
        assert_eq!(fs::read_to_string(room.path(".git/config")).unwrap(), "[core]\n", "{kind:?} {}", result.content);
        assert_eq!(fs::read_to_string(room.path(".git/objects/x")).unwrap(), "mine", "{kind:?} {}", result.content);
    }
}

// T63, T65
#[tokio::test]
async fn a_command_that_only_looks_can_change_nothing_at_all() {
    for kind in kinds() {
        for room in [TestWorkspace::new(), TestWorkspace::at_home()] {
            room.write("file", "before");
            // What the reading of the command says is not what decides: a hostile reader is in the same sandbox.
            room.write(".git/config", "[core]\n\tfsmonitor = ./evil.sh\n\trepositoryformatversion = 0\n[diff \"x\"]\n\ttextconv = ./evil.sh\n");
            room.write(".git/HEAD", "ref: refs/heads/main\n");
            room.write(".git/objects/x", "");
            room.write(".git/refs/x", "");
            room.write(".gitattributes", "* diff=x\n");
            room.write(
                "evil.sh",
                "#!/bin/sh\necho x > made; rm -f file; chmod 777 file; touch -d 2001-01-01 file; ln file hard; mkdir d; mv file f; \
                 setfattr -n user.x -v y file; chattr +i file; echo x > \"$HOME/made-4711\"; echo x > \"$TMPDIR/scratch\" && echo scratched\n",
            );
            fs::set_permissions(room.path("evil.sh"), PermissionsExt::from_mode(0o755)).unwrap();
            let before = tree(&room.path(""));
            for look in ["git status", "git diff --no-index file evil.sh", "git log", "cargo --version", "ls; cat file"]
            {
                room.run(kind, look).await;
                assert_eq!(tree(&room.path("")), before, "{kind:?} {look}");
            }
            assert!(!std::env::home_dir().unwrap().join("made-4711").exists());
        }
    }
}

/// Every file with what can be known about it.
fn tree(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let there = fs::symlink_metadata(entry.path()).unwrap();
            let about = (there.ino(), there.mode(), there.len(), there.mtime(), there.mtime_nsec(), there.nlink());
            found.push(format!("{} {about:?}", entry.path().display()));
            if there.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

// ---- network ----

// T35
#[tokio::test]
async fn nothing_can_be_reached_without_a_network() {
    for kind in kinds() {
        let room = TestWorkspace::at_home();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let unix = UnixListener::bind(room.path("socket")).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        unix.set_nonblocking(true).unwrap();
        let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        let mut reach = format!(
            "echo x > /dev/tcp/127.0.0.1/{tcp_port}; echo x > /dev/udp/127.0.0.1/{udp_port}; \
             getent ahosts nowhere.invalid && echo reached; "
        );
        // In a script, where the text of the command does not show that it wants a network.
        let far = "echo x > /dev/tcp/192.0.2.1/80; ";
        if has("python3") {
            room.write("reach.py", &PYTHON.replace("TCP", &tcp_port.to_string()).replace("UDP", &udp_port.to_string()));
            reach.push_str("python3 reach.py; ");
        }
        room.write("reach.sh", &reach);
        room.write("far.sh", &format!("{far}{reach}"));
        let result = room.run(kind, "bash far.sh; echo ended").await;
        assert!(result.content.contains("ended") && !result.content.contains("reached"), "{kind:?} {}", result.content);
        assert_eq!(tcp.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "{kind:?} {}", result.content);
        assert_eq!(udp.recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock, "{kind:?} {}", result.content);
        assert_eq!(unix.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "{kind:?} {}", result.content);

        let asked = json!({"command": "bash reach.sh; echo ended", "network": true});
        let result = room.call(kind, &[], asked).await;
        assert!(result.content.contains("ended") && tcp.accept().is_ok(), "{kind:?} {}", result.content);
        assert!(udp.recv(&mut [0; 2]).is_ok(), "{kind:?} {}", result.content);
        assert_eq!(unix.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "local services stay out of reach");
    }
}

// T36: there is no list of hosts to be deceived, the network is there or it is not; so no spelling of an address helps.
#[tokio::test]
async fn no_spelling_of_an_address_reaches_it_without_a_network() {
    for kind in kinds() {
        let room = TestWorkspace::at_home();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        let port = tcp.local_addr().unwrap().port();
        let spellings = [
            "localhost",
            "localhost.",
            "LOCALHOST",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "127.1",
            "0",
            "::ffff:127.0.0.1",
            "allowed.example@127.0.0.1",
            "127.0.0.1%00.allowed.example",
        ];
        let attempts: String = spellings.iter().map(|host| format!("echo x > /dev/tcp/{host}/{port}; ")).collect();
        room.write("reach.sh", &attempts);
        let result = room.run(kind, "bash reach.sh; echo ended").await;
        assert!(result.content.contains("ended"), "{kind:?} {}", result.content);
        assert_eq!(tcp.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "{kind:?} {}", result.content);
    }
}

/// Every kind of socket, one after the other.
const PYTHON: &str = r#"
import socket
def attempt(family, kind, where):
    try:
        s = socket.socket(family, kind)
        s.settimeout(2)
        s.connect(where)
        s.send(b"x")
    except OSError as error:
        print(family, error)
attempt(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", TCP))
attempt(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", UDP))
attempt(socket.AF_UNIX, socket.SOCK_STREAM, "socket")
attempt(socket.AF_UNIX, socket.SOCK_STREAM, "\0abstract")
a, b = socket.socketpair()
a.send(b"x")
assert b.recv(1) == b"x"
"#;

// ---- other processes ----

// T32, T37
#[tokio::test]
async fn no_key_of_ours_is_seen_anywhere() {
    for kind in kinds() {
        let room = TestWorkspace::new();
        room.write("planted.sh", "echo canary-4711\n");
        room.write("bin/git", "#!/bin/sh\necho canary-4711\n");
        fs::set_permissions(room.path("bin/git"), fs::Permissions::from_mode(0o755)).unwrap();
        let look = "env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'; git --version; echo looked";
        let mut runtime = other_process(&room, kind, look);
        for name in ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "NODE_OPTIONS", "PYTHONSTARTUP"] {
            runtime.env(name, CANARY);
        }
        let path = format!("{}:.:/usr/bin:/bin", room.path("bin").display());
        runtime.env("BASH_ENV", room.path("planted.sh")).env("GIT_SSH_COMMAND", CANARY).env("PATH", path);
        let output = runtime.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("looked") && said.contains("TERM=dumb"), "{kind:?} {said}");
        assert!(!said.contains(CANARY), "{kind:?} {said}");
    }
}

// T37
#[tokio::test]
async fn other_processes_cannot_be_looked_into_or_ended() {
    for kind in kinds() {
        let room = TestWorkspace::new();
        let us = std::process::id();
        let command = format!(
            "cat /proc/{us}/environ && echo reached; cat /proc/{us}/fd/0 && echo reached; readlink /proc/{us}/exe && \
             echo reached; cat /proc/{us}/root/etc/hostname && echo reached; kill -0 {us} && echo reached; head -c 1 /proc/{us}/mem && echo reached; ulimit -c; echo ended"
        );
        let result = room.run(kind, &command).await;
        assert!(result.content.contains("\n0\nended"), "no core dumps: {kind:?} {}", result.content);
        assert!(!result.content.contains("reached"), "{kind:?} {}", result.content);
        if has("python3") {
            let trace = "import ctypes; print(ctypes.CDLL(None).ptrace(0, 0, 0, 0))";
            let result = room.run(kind, &format!("python3 -c '{trace}'")).await;
            assert!(result.content.starts_with("-1\n"), "{kind:?} {}", result.content);
        }
    }
}

// T32: namespaces give powers to try on the kernel. The calls are made by their numbers, so that no library stands between.
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn a_command_makes_no_user_namespace() {
    let calls = r#"
        my $new_user = 0x10000000;
        my ($unshare, $clone, $clone3) = (272, 56, 435);
        sub tried { my ($name, $done) = @_; exit 0 if $done == 0; print "$name ", ($done == -1 ? $!+0 : "done"), "\n"; }
        tried("unshare", syscall($unshare, $new_user) || 1);
        tried("clone", syscall($clone, $new_user | 17, 0, 0, 0, 0));
        my $arguments = pack("Q8", $new_user, 0, 0, 0, 17, 0, 0, 0);
        tried("clone3", syscall($clone3, $arguments, 64));
        print defined(my $child = fork) ? "fork works\n" : "no fork\n"; exit 0 if $child == 0;
    "#;
    let room = TestWorkspace::new();
    for kind in kinds() {
        room.write("calls.pl", calls);
        let content = room.run(kind, "perl calls.pl; unshare -r true || echo refused").await.content;
        let (refused, missing) = (libc::EPERM, libc::ENOSYS);
        let wanted = [format!("unshare {refused}"), format!("clone {refused}"), format!("clone3 {missing}")];
        for wanted in wanted.iter().map(String::as_str).chain(["fork works", "refused"]) {
            assert!(content.contains(wanted), "{kind:?}: {wanted}: {content}");
        }
    }
}

// ---- limits ----

// T39
#[tokio::test]
async fn memory_files_and_descriptors_are_bounded() {
    for kind in kinds() {
        let room = TestWorkspace::new();
        let result =
            room.run(kind, "ulimit -d; ulimit -f; ulimit -n; truncate -s 5G big; stat -c %s big; echo ended").await;
        let mut lines = result.content.lines();
        let mut number = || lines.next().and_then(|line| line.parse::<u64>().ok()).unwrap_or(u64::MAX);
        assert!(number() <= 4 << 20 && number() <= 4 << 20 && number() <= 8192, "{kind:?} {}", result.content);
        assert!(fs::metadata(room.path("big")).is_ok_and(|big| big.len() <= 4 << 30), "{kind:?} {}", result.content);
        if has("python3") {
            let result = room.run(kind, "python3 -c 'bytearray(5 << 30)'").await;
            assert!(result.is_error && result.content.contains("MemoryError"), "{kind:?} {}", result.content);
        }
    }
}

// T39
#[tokio::test]
async fn a_family_grows_only_so_far() {
    for kind in kinds() {
        let room = TestWorkspace::new();
        if !holds(&kind.sandbox(&[]), "number of processes") {
            let facts = kind.sandbox(&[]).describe();
            assert!(facts.iter().any(|fact| fact.name == "number of processes" && fact.advice.is_some()), "{facts:?}");
            continue;
        }
        // Looked at from outside: thousands of real processes would slow down every other test that looks at the clock.
        let word = word(kind, "grows");
        let command = format!("export CLINGS={word}; sleep 300; true");
        let (_, most) = tokio::join!(room.run(kind, &command), async {
            let most = until("a limit", || carriers(&word).iter().find_map(|process| most_processes(process))).await;
            room.context.stop.cancel();
            most
        });
        assert_eq!(most, 2048, "{kind:?}");
    }
}

/// How many processes a process and its family may be: by a control group of ours, or by the limit that it carries.
fn most_processes(process: &Path) -> Option<u64> {
    let groups = fs::read_to_string(process.join("cgroup")).ok()?;
    let places = groups.lines().filter_map(|line| line.rsplit_once(':')).map(|(_, place)| place);
    let files = places.filter(|place| place.contains("/majordomo-")).flat_map(|place| {
        ["", "/pids", "/unified"].map(|tree| PathBuf::from(format!("/sys/fs/cgroup{tree}{place}/pids.max")))
    });
    let by_group = files.filter_map(|file| fs::read_to_string(file).ok()).find_map(|most| most.trim().parse().ok());
    let limits = fs::read_to_string(process.join("limits")).ok()?;
    let own =
        limits.lines().find_map(|line| line.strip_prefix("Max processes")?.split_whitespace().next()?.parse().ok());
    by_group.or(own.filter(|own| *own == 2048))
}

// T39
#[tokio::test]
async fn output_without_end_is_ended_in_a_sandbox() {
    for kind in kinds() {
        let result = TestWorkspace::new().run(kind, "yes").await;
        assert!(result.is_error && result.content.contains("it printed without end"), "{kind:?} {}", result.content);
    }
}

// ---- fail closed ----

// T38
#[tokio::test]
async fn a_command_whose_sandbox_cannot_be_built_is_not_run() {
    for kind in kinds() {
        let room = TestWorkspace::at_home();
        fs::rename(room.path(""), room.outside("elsewhere")).unwrap();
        let result = room.run(kind, "echo ran > canary").await;
        assert!(result.is_error && result.content.contains("the sandbox"), "{kind:?} {}", result.content);
        assert!(!room.outside("elsewhere/canary").exists(), "{kind:?} {}", result.content);

        let room = TestWorkspace::at_home();
        let result = room.call(kind, &[room.path("").canonicalize().unwrap()], json!({"command": "true"})).await;
        assert!(result.is_error && result.content.contains("is itself a secret folder"), "{kind:?} {}", result.content);
        let machine = context(Path::new("/"));
        let host = CommandHost { guard: guard(), sandbox: kind.sandbox(&[]) };
        let result = run(host, &machine, &json!({"command": "true"})).await;
        assert!(
            result.is_error && result.content.contains("cannot be a workspace in a sandbox"),
            "{kind:?} {}",
            result.content
        );

        let bare = CommandHost { guard: Guard::None, sandbox: kind.sandbox(&[]) };
        assert!(!bare.is_confining());
        let result = run(bare, &room.context, &json!({"command": "true"})).await;
        assert!(
            result.content.ends_with("[not sandboxed: no guard is there to build a sandbox]"),
            "{}",
            result.content
        );
    }
}

// T38
#[tokio::test]
async fn secrets_in_the_workspace_are_hidden_or_nothing_is_run() {
    for kind in kinds() {
        let room = TestWorkspace::at_home();
        room.write("secret/key", CANARY);
        let secret = room.path("secret").canonicalize().unwrap();
        let result = room.call(kind, &[secret], json!({"command": "echo ran; cat secret/key"})).await;
        assert!(!result.content.contains(CANARY), "{kind:?} {}", result.content);
        assert_eq!(result.content.contains("ran\n"), kind.keeps_files(), "{kind:?} {}", result.content);
        assert!(result.is_error);
    }
}

// ---- the end ----

/// Every way to stay behind: a session of its own, a double fork, no hang-up, no sink for TERM, a hand on the pipe.
fn clinging(word: &str) -> String {
    format!(
        r#"
export CLINGS={word}
echo printed
setsid sh -c 'echo x >> here; exec sleep 300' &
(setsid sh -c 'echo x >> here; sleep 300; true' &) &
nohup sh -c 'echo x >> here; exec sleep 300' > /dev/null 2>&1 &
sh -c 'trap "" TERM HUP INT; echo x >> here; while :; do sleep 1; done' &
(sh -c 'echo x >> here; exec sleep 300' &)
"#
    )
}
const CLINGERS: usize = 5;

fn are_here(room: &TestWorkspace) -> Option<()> {
    let here = fs::read_to_string(room.path("here")).ok()?;
    (here.lines().count() == CLINGERS).then_some(())
}

/// How many processes carry this word.
fn clingers(word: &str) -> usize {
    carriers(word).len()
}

/// The processes that carry this word in their environment, however they are numbered in their namespace.
fn carriers(word: &str) -> Vec<PathBuf> {
    let variable = format!("CLINGS={word}");
    let carries = |path: &PathBuf| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
    };
    fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()).filter(carries).collect()
}

/// A word that no other test has.
fn word(kind: Kind, test: &str) -> String {
    format!("{}-{kind:?}-{test}", std::process::id())
}

// T40
#[tokio::test]
async fn nothing_stays_in_a_sandbox_when_a_command_ends() {
    for kind in kinds() {
        let (room, word) = (TestWorkspace::new(), word(kind, "ends"));
        let waits = format!("{} until [ $(wc -l < here) = {CLINGERS} ]; do sleep 0.01; done", clinging(&word));
        let result = room.run(kind, &waits).await;
        assert_eq!(clingers(&word), 0, "{kind:?} {}", result.content);
        assert!(result.content.starts_with("printed\n") && !result.is_error, "{kind:?} {}", result.content);
        let quiet = room.run(kind, "true").await.content;
        assert!(!quiet.contains("background"), "the sandbox itself is not reported: {kind:?} {quiet}");
    }
}

// T40, F29
#[tokio::test]
async fn nothing_stays_in_a_sandbox_when_a_command_is_stopped() {
    for kind in kinds() {
        let (room, word) = (TestWorkspace::new(), word(kind, "stopped"));
        let command = format!("{} sleep 300", clinging(&word));
        let (result, ()) = tokio::join!(room.run(kind, &command), async {
            until("all processes", || are_here(&room)).await;
            until("their words", || (clingers(&word) >= CLINGERS).then_some(())).await;
            room.context.stop.cancel();
        });
        assert_eq!(clingers(&word), 0, "{kind:?} {}", result.content);
        assert!(result.content.starts_with("printed\n[stopped after"), "{kind:?} {}", result.content);
    }
}

// T40, F29
#[tokio::test]
async fn nothing_stays_in_a_sandbox_when_nobody_waits_any_more() {
    for kind in kinds() {
        let (room, word) = (TestWorkspace::new(), word(kind, "dropped"));
        let command = format!("{} sleep 300", clinging(&word));
        tokio::select! {
            result = room.run(kind, &command) => panic!("it ended by itself: {}", result.content),
            () = until("all processes", || are_here(&room)) => {}
        }
        until("their end", || (clingers(&word) == 0).then_some(())).await;
    }
}

#[tokio::test]
async fn a_command_is_asked_to_end_before_it_is_killed() {
    async fn is_asked(kind: Kind) -> bool {
        let room = TestWorkspace::new();
        let command = "trap 'echo tidied > tidied; exit' TERM; echo x > ready; while :; do sleep 0.01; done";
        tokio::join!(room.run(kind, command), async {
            until("the command", || room.path("ready").exists().then_some(())).await;
            room.context.stop.cancel();
        });
        room.path("tidied").exists()
    }
    for kind in kinds() {
        // It has a moment to heed it, and on a machine that has other work a moment may be too short.
        let mut asked = false;
        for _ in 0..5 {
            asked = asked || is_asked(kind).await;
        }
        assert!(asked, "{kind:?}");
    }
}

// T40, F30
#[tokio::test]
async fn nothing_stays_in_a_sandbox_when_the_runtime_is_killed() {
    for kind in kinds() {
        let (room, word) = (TestWorkspace::new(), word(kind, "killed"));
        let command = format!("{} sleep 300", clinging(&word));
        let mut runtime = other_process(&room, kind, &command).stdout(Stdio::null()).spawn().unwrap();
        until("all processes", || are_here(&room)).await;
        runtime.kill().unwrap();
        runtime.wait().unwrap();
        until("their end", || (clingers(&word) == 0).then_some(())).await;
    }
}

/// Runs a command in a process of its own that can be killed, and whose environment can be set.
fn other_process(room: &TestWorkspace, kind: Kind, command: &str) -> Command {
    let mut other = Command::new(std::env::current_exe().unwrap());
    other.args(["--exact", "part_of_other_tests", "--ignored", "--nocapture"]);
    other.env("TEST_FOLDER", room.path("")).env("TEST_COMMAND", command).env("TEST_KIND", format!("{kind:?}"));
    other.stdin(Stdio::null());
    other
}

#[tokio::test]
#[ignore = "run by other tests, in a process of its own"]
async fn part_of_other_tests() {
    let (Ok(folder), Ok(command)) = (std::env::var("TEST_FOLDER"), std::env::var("TEST_COMMAND")) else { return };
    let kind = if std::env::var("TEST_KIND").is_ok_and(|kind| kind == "Kernel") { Kind::Kernel } else { Kind::Best };
    let host = CommandHost { guard: guard(), sandbox: kind.sandbox(&[]) };
    println!("{}", run(host, &context(Path::new(&folder)), &json!({"command": command})).await.content);
}

// T66: a mount protects a name, and its folder could be renamed with the mount in it.
#[tokio::test]
async fn folders_on_the_way_to_what_settings_name_are_not_renamed() {
    for kind in kinds().into_iter().filter(|kind| kind.keeps_files()) {
        let room = TestWorkspace::new();
        room.write(".git/HEAD", "ref: refs/heads/main\n");
        room.write(".git/config", "[core]\n\thooksPath = conf/deep/hooks\n");
        room.write("conf/deep/hooks/pre-commit", "exit 0\n");
        let script = "mv conf gone; mv conf/deep conf/gone; echo more > conf/deep/note; ls conf/deep";
        let result = room.attack(kind, script).await;
        assert!(result.content.contains("Device or resource busy"), "{}", result.content);
        assert!(result.content.contains("note"), "its other files can be written: {}", result.content);
        assert!(room.path("conf/deep/hooks/pre-commit").exists() && !room.path("gone").exists());
    }
}

// Root owns the settings of the machine in every namespace.
#[tokio::test]
async fn settings_of_the_machine_cannot_be_written() {
    for kind in kinds() {
        let room = TestWorkspace::new();
        let write = "for name in hostname domainname; do echo x > /proc/sys/kernel/$name && echo written; done; \
                     test -e /proc/sysrq-trigger && test -w /proc/sysrq-trigger && echo written; cat /proc/sys/kernel/ostype";
        let result = room.attack(kind, write).await;
        assert!(
            result.content.contains("Linux") && !result.content.contains("written"),
            "{kind:?}: {}",
            result.content
        );
    }
}
