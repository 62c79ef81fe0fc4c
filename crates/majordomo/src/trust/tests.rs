use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::*;

/// A folder with projects in it, and one for state.
struct World(TempDir);

impl World {
    fn new() -> Self {
        Self(TempDir::new().expect("a folder"))
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn data(&self) -> PathBuf {
        self.path("state")
    }

    fn read(&self, project: &str) -> Project {
        Project::read_at(&self.path(project), || folders(&self.data())).expect("a project")
    }

    fn standing(&self, project: &str) -> Standing {
        self.read(project).standing
    }

    fn answer(&self, project: &str, said: Answer) {
        answer(&self.data(), &self.read(project), said).expect("kept");
    }
}

const CONFIG: &str = "p/.majordomo/config.toml";
const AGENT: &str = "p/.majordomo/agents/a.md";

#[test]
fn what_was_said_about_folders_is_looked_up_only_for_a_project_that_brings_something_along() {
    let world = World::new();
    world.write("p/README.md", "no matter");
    let unasked = || -> Result<Vec<Folder>, Error> { panic!("nothing is to be judged") };
    assert_eq!(Project::read_at(&world.path("p"), unasked).expect("a project").standing, Standing::Empty);
    world.write(AGENT, "one");
    let unreadable = || Err(Error::NoDataFolder);
    assert!(Project::read_at(&world.path("p"), unreadable).is_err(), "nothing is trusted without looking");
}

#[test]
fn on_a_store_of_many_machines_trust_is_for_the_folder_of_one() {
    let world = World::new();
    world.write(CONFIG, "mode = \"plan\"");
    let project = world.read("p");
    let place = |machine: &str| {
        let address = store::Address::parse("postgres://ana@db/house").expect("an address");
        let machine = store::Machine { name: machine.into(), shares_folders: false };
        StatePlace { folder: world.data(), store: store::Location::Postgres(address.on_machine(machine)) }
    };
    let judged = ProjectJudgement {
        path: project.root.display().to_string().into(),
        digest: project.digest().expect("it can be read").into(),
        trusted: true,
        machine: place("one").machine(),
    };
    let mut state = InstallationState::default();
    state.apply(&InstallationEvent::ProjectJudged(judged));
    let standing = |state: &InstallationState, machine| {
        let read = Project::read_at(&world.path("p"), || known(state, &place(machine)));
        read.expect("a project").standing
    };
    assert_eq!((standing(&state, "one"), standing(&state, "two")), (Standing::Trusted, Standing::Unknown));
    let path = project.root.display().to_string().into();
    state.apply(&InstallationEvent::ProjectForgotten { path, machine: place("two").machine() });
    assert_eq!(standing(&state, "one"), Standing::Trusted, "of the other machine's");
}

// T48
#[test]
fn trust_is_for_one_folder_with_one_content() {
    let world = World::new();
    world.write("p/README.md", "no matter");
    assert_eq!(world.standing("p"), Standing::Empty);
    world.write(CONFIG, "agent = 'a'");
    world.write(AGENT, "one");
    assert_eq!(world.standing("p"), Standing::Unknown);
    world.answer("p", Answer::Trusted);
    assert_eq!(world.standing("p"), Standing::Trusted);

    for (path, other, same) in [(CONFIG, "agent = 'b'", "agent = 'a'"), (AGENT, "two", "one")] {
        world.write(path, other);
        assert_eq!(world.standing("p"), Standing::Changed, "{path}");
        world.write(path, same);
        assert_eq!(world.standing("p"), Standing::Trusted, "{path}");
    }
    world.write("p/.majordomo/agents/b.md", "three");
    assert_eq!(world.standing("p"), Standing::Changed, "one more agent");
    fs::remove_file(world.path("p/.majordomo/agents/b.md")).expect("removed");
    fs::rename(world.path(AGENT), world.path("p/.majordomo/agents/c.md")).expect("renamed");
    assert_eq!(world.standing("p"), Standing::Changed, "the same agent under another name");
    fs::rename(world.path("p/.majordomo/agents/c.md"), world.path(AGENT)).expect("renamed");

    world.write("p/README.md", "no matter at all");
    world.write("p/.majordomo/agents/README.md", "no agent");
    assert_eq!(world.standing("p"), Standing::Trusted);
}

// T48: a folder that claims to be another one.
#[test]
fn a_copy_a_worktree_and_a_link_in_its_place_are_strangers() {
    let world = World::new();
    world.write(CONFIG, "agent = 'a'");
    world.answer("p", Answer::Trusted);
    for stranger in ["copy", "worktree"] {
        world.write(&format!("{stranger}/.majordomo/config.toml"), "agent = 'a'");
    }
    world.write("worktree/.git", &format!("gitdir: {}", world.path("p/.git/worktrees/w").display()));
    assert_eq!(world.standing("copy"), Standing::Unknown);
    assert_eq!(world.standing("worktree"), Standing::Unknown);

    symlink(world.path("p"), world.path("alias")).expect("a link");
    assert_eq!(world.standing("alias"), Standing::Trusted, "it is the very folder");
    fs::rename(world.path("p"), world.path("moved")).expect("moved");
    symlink(world.path("copy"), world.path("p")).expect("a link");
    assert_eq!(world.standing("p"), Standing::Unknown);
    assert_eq!(world.standing("moved"), Standing::Unknown);
}

#[test]
fn what_cannot_be_read_cannot_be_trusted() {
    let world = World::new();
    world.write("secret.md", "not theirs");
    world.write(CONFIG, "agent = 'a'");
    world.write(AGENT, "one");
    world.answer("p", Answer::Trusted);
    symlink(world.path("secret.md"), world.path("p/.majordomo/agents/b.md")).expect("a link");
    assert_eq!(world.standing("p"), Standing::Changed);
    let error = answer(&world.data(), &world.read("p"), Answer::Trusted).expect_err("refused").to_string();
    assert!(error.contains("cannot be trusted") && error.ends_with("it lies outside the project"), "{error}");
}

#[test]
fn a_no_is_remembered_for_this_content_and_an_answer_can_be_forgotten() {
    let world = World::new();
    world.write(CONFIG, "agent = 'a'");
    world.answer("p", Answer::Declined);
    assert_eq!(world.standing("p"), Standing::Declined);
    world.write(CONFIG, "agent = 'b'");
    assert_eq!(world.standing("p"), Standing::Changed);
    world.answer("p", Answer::Trusted);
    let kept = folders(&world.data()).expect("kept");
    assert_eq!(kept.iter().map(|folder| folder.answer).collect::<Vec<_>>(), [Answer::Trusted], "one answer a folder");
    let root = world.read("p").root;
    assert!(forget(&world.data(), &root).expect("forgotten"));
    assert!(!forget(&world.data(), &root).expect("nothing to forget"));
    assert_eq!(world.standing("p"), Standing::Unknown);
}

#[test]
fn what_an_earlier_version_kept_in_a_file_counts_and_is_taken_over_once() {
    let world = World::new();
    world.write(CONFIG, "agent = 'a'");
    world.write("q/.majordomo/config.toml", "agent = 'a'");
    let digest = world.read("p").digest().expect("a digest");
    let kept = |path: &str, answer: &str| {
        let path = world.path(path).canonicalize().expect("a folder");
        format!("[[folder]]\npath = {:?}\ndigest = \"{digest}\"\nanswer = \"{answer}\"\n", path.display().to_string())
    };
    world.write("state/trust.toml", &format!("{}{}", kept("p", "trusted"), kept("q", "declined")));
    assert_eq!((world.standing("p"), world.standing("q")), (Standing::Trusted, Standing::Declined), "before");
    take_over(&world.data()).expect("taken over");
    assert_eq!((world.standing("p"), world.standing("q")), (Standing::Trusted, Standing::Declined), "after");
    assert!(!world.data().join(EARLIER_FILE).exists());
    world.answer("q", Answer::Trusted);
    take_over(&world.data()).expect("nothing to do");
    assert_eq!(world.standing("q"), Standing::Trusted, "an answer since then is not undone");
    assert!(forget(&world.data(), &world.read("p").root).expect("forgotten"));
    assert_eq!(world.standing("p"), Standing::Unknown);
}

#[test]
fn a_newer_answer_wins_over_the_earlier_file_and_what_is_forgotten_does_not_come_back_from_it() {
    let world = World::new();
    world.write(CONFIG, "agent = 'a'");
    let root = world.read("p").root;
    let digest = world.read("p").digest().expect("a digest");
    let earlier =
        format!("[[folder]]\npath = {:?}\ndigest = \"{digest}\"\nanswer = \"declined\"\n", root.display().to_string());
    world.write("state/trust.toml", &earlier);
    world.answer("p", Answer::Trusted);
    assert_eq!(world.standing("p"), Standing::Trusted);
    assert!(forget(&world.data(), &root).expect("forgotten"));
    assert_eq!(world.standing("p"), Standing::Unknown);
}

#[test]
fn answers_are_private_and_a_broken_earlier_file_is_an_error() {
    let world = World::new();
    world.write(CONFIG, "agent = 'a'");
    world.answer("p", Answer::Trusted);
    for entry in fs::read_dir(world.data()).expect("a folder").flatten() {
        assert_eq!(entry.metadata().expect("a file").permissions().mode() & 0o777, 0o600, "{entry:?}");
    }
    fs::write(world.data().join(EARLIER_FILE), "[[folder]]\npath = 3").expect("a file");
    let error = folders(&world.data()).expect_err("broken").to_string();
    assert!(error.contains("trust.toml:2: "), "{error}");
}
