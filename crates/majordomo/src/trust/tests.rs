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
        Project::read_at(&self.path(project), &self.data()).expect("a project")
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
fn answers_are_private_and_a_broken_file_of_answers_is_an_error() {
    let world = World::new();
    world.write(CONFIG, "agent = 'a'");
    world.answer("p", Answer::Trusted);
    let file = world.data().join(FILE);
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    fs::write(&file, "[[folder]]\npath = 3").expect("a file");
    let error = Project::read_at(&world.path("p"), &world.data()).expect_err("broken").to_string();
    assert!(error.contains("trust.toml:2: "), "{error}");
}
