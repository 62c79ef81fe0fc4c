//! The sandbox of a command: which kind works on this machine, and what it allows.
//!
//! The workspace and a passing folder of its own can be written, everything else only read, and secrets not even that;
//! there is no network unless a call asks for it and a person agrees; no other process can be looked into; processes,
//! memory and file sizes are bounded. [Bubblewrap](bubblewrap) builds this sandbox where it works, which is found out by
//! running it; elsewhere a process [confines itself](ruleset). Both add a [filter] of system calls.
//!
//! A sandbox needs a guard, which starts a command in it as it is told ([ordered](mod@ordered)); a host without one has none. A sandbox that is in
//! force and fails for one command fails that command: nothing is ever run without a sandbox because building one failed.
//!
//! Left to others: whether a command may run where no sandbox is in force, and who agrees to a network (the rules).
//! Deliberately absent: lists of hosts that may be reached, since a filter by name is a promise that names do not keep.

mod bubblewrap;
mod filter;
mod kept;
mod limits;
mod ordered;
pub(crate) mod plan;
mod ruleset;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub(crate) use limits::Group;
pub(crate) use ordered::ordered;
use plan::{Access, MadeOf, Network, Plan};

use crate::secrets;
use crate::watch::Look;
use crate::workspace::Workspace;

/// The sandbox of the commands of a process, and what is known about them.
///
/// Making one costs nothing. What works on this machine is found out once, when it is first asked for or needed, which
/// takes some milliseconds. The default is to have no sandbox.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    wanted: Option<Arc<Wanted>>,
}

#[derive(Debug)]
struct Wanted {
    /// What is ours and secret.
    secret: Vec<PathBuf>,
    kinds: Kinds,
    found: OnceLock<Found>,
}

/// Which kinds are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kinds {
    Any,
    Bubblewrap,
    Landlock,
}

/// What works on this machine.
#[derive(Debug)]
struct Found {
    made_of: Option<MadeOf>,
    facts: Vec<Fact>,
}

/// One thing that a sandbox does or fails to do, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is about.
    pub name: &'static str,
    /// Whether it is in force.
    pub in_force: bool,
    /// How it is done, or why it is not.
    pub how: String,
    /// What a person can do about it; none where nothing needs to be done.
    pub advice: Option<&'static str>,
}

/// Made anew for every command; what holds one of these cannot be given to it as it is.
const NO_WORKSPACES: [&str; 3] = ["/dev", "/proc", "/sys"];

const INSTALL: &str = "install bubblewrap (Debian, Ubuntu: apt install bubblewrap); where it is installed and refused, \
                       allow it user namespaces (an AppArmor profile for bwrap, or kernel.apparmor_restrict_unprivileged_userns=0)";
const DELEGATE: &str = "run in a session or service to which systemd delegates the pids and memory controllers";

impl Sandbox {
    /// A sandbox of what works on this machine. `secret` are folders and files of ours that no command may read.
    pub fn probe(secret: &[PathBuf]) -> Self {
        Self::of(secret, Kinds::Any)
    }

    /// The same by bubblewrap alone.
    pub fn probe_bubblewrap(secret: &[PathBuf]) -> Self {
        Self::of(secret, Kinds::Bubblewrap)
    }

    /// The same by Landlock alone, for machines on which bubblewrap is not wanted.
    pub fn probe_landlock(secret: &[PathBuf]) -> Self {
        Self::of(secret, Kinds::Landlock)
    }

    /// Whether commands run in a sandbox.
    pub fn is_in_force(&self) -> bool {
        self.made_of().is_some()
    }

    /// What holds and what does not.
    pub fn describe(&self) -> Vec<Fact> {
        match &self.wanted {
            Some(wanted) => wanted.found().facts.clone(),
            None => vec![Fact {
                name: "sandbox",
                in_force: false,
                how: "none is wanted (sandbox.kind)".to_owned(),
                advice: Some("set sandbox.kind to auto, or give the command host a sandbox and a guard"),
            }],
        }
    }

    /// Why commands run without a sandbox, for their results; none where they do not, or where nobody wanted any.
    pub(crate) fn apology(&self) -> Option<String> {
        let found = self.wanted.as_ref()?.found();
        match found.made_of {
            Some(_) => None,
            None => found.facts.first().map(|kind| kind.how.clone()),
        }
    }

    /// The plan of the sandbox for one command in this workspace; none if no sandbox is in force. `look` is what is protected there, in
    /// which is noted what the sandbox keeps as it is.
    pub(crate) fn plan(&self, workspace: &Workspace, wanted: &mut Confinement<'_>) -> Result<Option<Plan>, String> {
        let root = workspace.root();
        let (Some(wanted_secrets), Some(made_of)) = (self.wanted.as_ref(), self.made_of()) else { return Ok(None) };
        if NO_WORKSPACES.iter().any(|place| Path::new(place).starts_with(root)) {
            return Err(format!("{} cannot be a workspace in a sandbox", root.display()));
        }
        if let MadeOf::Bubblewrap(program) = made_of
            && program.starts_with(root)
        {
            return Err("bubblewrap is in the workspace, where a command could change it".to_owned());
        }
        let mut hidden = secrets::existing(&wanted_secrets.secret, |name| std::env::var_os(name));
        if hidden.iter().any(|hidden| hidden == root) {
            return Err("the workspace is itself a secret folder, which no command may read".to_owned());
        }
        let unreadable = workspace.unreadable().found()?;
        let mut pinned = pinned(root, &unreadable);
        hidden.extend(unreadable);
        let (access, mut kept) = (wanted.access(), Vec::new());
        if let (Writing::Workspace { look, consented }, MadeOf::Bubblewrap(_)) = (&mut wanted.writing, made_of) {
            let mounts = kept::mounts(root, look, consented);
            pinned.extend(mounts.pinned);
            pinned.sort();
            kept = mounts.kept;
        }
        let network = wanted.network;
        let (made_of, workspace) = (made_of.clone(), root.to_owned());
        Ok(Some(Plan { made_of, workspace, access, pinned, hidden, kept, network, cache: None }))
    }

    fn of(secret: &[PathBuf], kinds: Kinds) -> Self {
        Self { wanted: Some(Arc::new(Wanted { secret: secret.to_vec(), kinds, found: OnceLock::new() })) }
    }

    fn made_of(&self) -> Option<&MadeOf> {
        self.wanted.as_ref()?.found().made_of.as_ref()
    }
}

/// The folders on the way to what is hidden: one that could be renamed would take its content to another name.
fn pinned(root: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let above = hidden.iter().flat_map(|hidden| hidden.ancestors().skip(1).take_while(|folder| *folder != root));
    above.map(Path::to_owned).collect::<BTreeSet<PathBuf>>().into_iter().collect()
}

/// What the sandbox of one command should allow.
pub(crate) struct Confinement<'a> {
    pub network: Network,
    pub writing: Writing<'a>,
}

/// What a command may write.
pub(crate) enum Writing<'a> {
    /// Nothing.
    Nothing,
    /// The workspace, but for the protected places that are not consented to.
    Workspace { look: &'a mut Look, consented: &'a [Arc<str>] },
}

impl Confinement<'_> {
    fn access(&self) -> Access {
        match self.writing {
            Writing::Nothing => Access::ReadOnly,
            Writing::Workspace { .. } => Access::Workspace,
        }
    }
}

impl Wanted {
    fn found(&self) -> &Found {
        self.found.get_or_init(|| {
            let wrapped = match self.kinds {
                Kinds::Any | Kinds::Bubblewrap => bubblewrap::probe(),
                Kinds::Landlock => Err("bubblewrap is not wanted (sandbox.kind)".to_owned()),
            };
            let confined = match self.kinds {
                Kinds::Bubblewrap => Err("Landlock is not wanted (sandbox.kind)".to_owned()),
                Kinds::Any | Kinds::Landlock if wrapped.is_err() => guard::probe_landlock(),
                Kinds::Any | Kinds::Landlock => Ok(()),
            };
            let holds = limits::Group::new().holds;
            let facts = facts(wrapped.as_ref(), confined.as_ref(), holds);
            let made_of = wrapped.map(MadeOf::Bubblewrap).ok().or_else(|| confined.ok().map(|()| MadeOf::Landlock));
            Found { made_of, facts }
        })
    }
}

fn facts(wrapped: Result<&PathBuf, &String>, confined: Result<&(), &String>, holds: limits::Holds) -> Vec<Fact> {
    let (is_wrapped, is_sandboxed) = (wrapped.is_ok(), wrapped.is_ok() || confined.is_ok());
    let kind = match (wrapped, confined) {
        (Ok(program), _) => format!("namespaces, built by {}", program.display()),
        (Err(why), Ok(())) => format!("Landlock and seccomp ({why})"),
        (Err(why), Err(why_not)) => format!("{why}; {why_not}"),
    };
    // Root's processes are not counted by the namespace.
    let is_counted = holds.processes || (is_wrapped && !rustix::process::getuid().is_root());
    let fact = |name, in_force: bool, yes: String, no: &str, advice| Fact {
        name,
        in_force: in_force && is_sandboxed,
        how: match (in_force, is_sandboxed) {
            (true, true) => yes,
            (false, true) => no.to_owned(),
            (_, false) => "no sandbox is in force".to_owned(),
        },
        advice: (!(in_force && is_sandboxed)).then_some(if is_sandboxed { advice } else { INSTALL }),
    };
    let always = |name, yes: &str| fact(name, true, yes.to_owned(), "", INSTALL);
    let gib = |bytes: u64| format!("at most {} GiB", bytes >> 30);
    let no_group = "no control group can be made here";
    vec![
        Fact { name: "sandbox", in_force: is_sandboxed, how: kind, advice: (!is_sandboxed).then_some(INSTALL) },
        always("read-only commands", "nothing can be written but a scratch folder of the command's own"),
        always("files", "the workspace and temporary files can be written, secrets cannot be read"),
        fact(
            "protected paths",
            is_wrapped,
            "read-only; what a command creates there is found afterwards and moved away".to_owned(),
            "Landlock cannot keep them read-only; what a command changes there is found afterwards and put back",
            INSTALL,
        ),
        fact(
            "permissions, owners and times",
            is_wrapped,
            "those of files outside the workspace stay as they are".to_owned(),
            "Landlock does not know them; a command that may write can change those of any file of yours, and not its content",
            INSTALL,
        ),
        always("network", "off unless a call asks for it; sockets of local services never"),
        fact("number of processes", is_counted, format!("at most {}", limits::PROCESSES), no_group, DELEGATE),
        always("memory of a process", &gib(limits::PROCESS_MEMORY)),
        fact("memory of all together", holds.memory, gib(limits::memory_most()), no_group, DELEGATE),
        always("size of a file", &gib(limits::FILE_BYTES)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    // T38
    #[test]
    fn where_nothing_works_it_is_said_with_the_reasons_and_what_to_do() {
        let (why, why_not) = ("bubblewrap is not installed".to_owned(), "Landlock is not enabled".to_owned());
        let facts = facts(Err(&why), Err(&why_not), limits::Holds::default());
        assert!(facts.iter().all(|fact| !fact.in_force && fact.advice.is_some()), "{facts:?}");
        assert_eq!(facts[0].how, "bubblewrap is not installed; Landlock is not enabled");
    }

    #[test]
    fn without_bubblewrap_it_is_said_what_landlock_cannot_do() {
        let why = "bubblewrap is not installed".to_owned();
        let facts = facts(Err(&why), Ok(&()), limits::Holds { processes: true, memory: true });
        let missing: Vec<_> = facts.iter().filter(|fact| !fact.in_force).map(|fact| fact.name).collect();
        assert_eq!(missing, ["protected paths", "permissions, owners and times"]);
    }

    #[test]
    fn a_sandbox_that_nobody_wanted_is_not_in_force_and_no_reason_to_apologise() {
        let none = Sandbox::default();
        assert!(!none.is_in_force() && none.apology().is_none());
        assert!(!none.describe()[0].in_force);
        let mut nothing = Confinement { network: Network::Off, writing: Writing::Nothing };
        assert!(none.plan(&Workspace::open("/").unwrap(), &mut nothing).unwrap().is_none());
    }
}
