use std::fs;

use tempfile::TempDir;

use super::*;
use crate::trust::Answer;

struct World {
    folder: TempDir,
    surroundings: Surroundings,
}

impl World {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let (home, cwd) = (folder.path().join("home"), folder.path().join("project"));
        for path in [&home, &cwd] {
            fs::create_dir(path).expect("a folder");
        }
        Self { surroundings: Surroundings { cwd, home: Some(home), ..Surroundings::default() }, folder }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn trust(&self) {
        let project = Project::read(&self.surroundings, &self.data()).expect("a project");
        trust::answer(&self.data(), &project, Answer::Trusted).expect("trusted");
    }

    fn book(&self) -> Rulebook {
        Rulebook::open(&self.surroundings, &self.data(), None).expect("a book")
    }
}

const USER: &str = "home/.config/majordomo/config.toml";
const PROJECT: &str = "project/.majordomo/config.toml";

fn rule(action: &str, tool: &str) -> String {
    format!("[[rules]]\ntool = \"{tool}\"\naction = \"{action}\"\n")
}

fn shown(book: &Rulebook) -> Vec<String> {
    book.rules().iter().map(|rule| format!("{} {}", rule.action, rule.tool)).collect()
}

fn consent(pattern: &str) -> Rule {
    Rule {
        tool: "run_command".into(),
        pattern: Some(pattern.into()),
        agent: None,
        action: Action::Allow,
        origin: "an answer".into(),
    }
}

/// Consents for ever, as an interface does.
fn consents(world: &World, pattern: &str) -> Consent {
    let consent = super::consent(&consent(pattern), Time(7));
    kept::record(&world.data(), vec![InstallationEvent::ConsentGiven(consent.clone())]).expect("kept");
    consent
}

/// The rules of the folder for state, and the standing consents.
fn standing(world: &World) -> Vec<Rule> {
    let (consents, mut rules) = super::kept(&world.data()).expect("rules");
    rules.extend(consents.iter().map(rule_of));
    rules
}

#[test]
fn standing_consent_is_kept_once_and_read_back() {
    let world = World::new();
    let pattern = "echo \"a\\b\" '*'\n[[rules]]";
    let ids = ["git status*", pattern, "git status*"].map(|pattern| consents(&world, pattern).id);
    assert!(ids[0] == ids[2] && ids[0] != ids[1], "{ids:?}");
    let kept = standing(&world);
    let patterns: Vec<&str> = kept.iter().filter_map(|rule| rule.pattern.as_deref()).collect();
    assert_eq!(patterns, ["git status*", pattern]);
    let origin = format!("standing consent {}", ids[0]);
    assert!(kept[0].action == Action::Allow && *kept[0].origin == *origin, "{kept:?}");
}

#[test]
fn standing_consent_leaves_the_file_alone_that_a_person_writes() {
    let world = World::new();
    // What an earlier version wrote there stays in force.
    let by_hand = "# mine\n[[rules]]\ntool = \"memory\"\naction = \"deny\" # so\n\n\
                   [[rules]]\ntool = \"run_command\"\npattern = \"git status*\"\naction = \"allow\"\n";
    world.write("state/rules.toml", by_hand);
    consents(&world, "ls");
    assert_eq!(fs::read_to_string(world.data().join(FILE)).expect("a file"), by_hand);
    assert_eq!(standing(&world).len(), 3);
    let book = world.book();
    assert_eq!(shown(&book), ["deny memory", "allow run_command", "allow run_command"]);

    world.write("state/rules.toml", "[[rules]]\ntool = 3");
    assert_eq!(shown(&book), ["deny memory"], "what cannot be read may be a refusal");
}

#[tokio::test]
async fn with_an_open_store_a_consent_given_elsewhere_holds_and_is_taken_back() {
    let world = World::new();
    let location = store::Location::folder(world.data());
    let store = store::open(&location, &store::Options::default()).expect("a store");
    let installation = Current::open(&store).await.expect("what holds");
    let book = Rulebook::open(&world.surroundings, &world.data(), Some(installation)).expect("a book");
    assert!(shown(&book).is_empty());
    let until = async |expected: &[&str]| {
        let looking = async {
            while shown(&book) != expected {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), looking).await.expect("it holds");
    };
    let given = consents(&world, "ls");
    until(&["allow run_command"]).await;
    kept::record(&world.data(), vec![InstallationEvent::ConsentRevoked { id: given.id }]).expect("taken back");
    until(&[]).await;
}

// T13
#[test]
fn a_rule_that_is_tightened_reaches_the_next_caller() {
    let world = World::new();
    world.write(USER, &rule("allow", "run_command"));
    let book = world.book();
    assert_eq!(shown(&book), ["allow run_command"]);
    world.write(USER, &rule("deny", "run_command"));
    assert_eq!(shown(&book), ["deny run_command"]);
    world.write(PROJECT, &rule("ask", "write_file"));
    assert_eq!(shown(&book), ["deny run_command", "ask write_file"]);
    consents(&world, "ls");
    assert_eq!(shown(&book), ["deny run_command", "ask write_file", "allow run_command"]);
}

#[test]
fn what_has_not_changed_is_not_read_again() {
    let world = World::new();
    world.write(USER, &rule("deny", "run_command"));
    let book = world.book();
    assert!(Arc::ptr_eq(&book.rules(), &book.rules()));
}

// T13
#[test]
fn a_file_that_breaks_keeps_its_refusals_and_nothing_is_allowed_until_it_is_whole() {
    let world = World::new();
    world.write(USER, &format!("{}{}{}", rule("deny", "a"), rule("allow", "b"), rule("ask", "c")));
    consents(&world, "ls");
    let book = world.book();
    let strict = ["deny a", "ask c"];
    for broken in ["[[rules]", "[[rules]]\ntool = \"a\"\naction = \"perhaps\"", &"#".repeat(1 << 21)] {
        world.write(USER, broken);
        assert_eq!(shown(&book), strict, "{:.40}", broken);
        assert_eq!(book.page.lock().expect("a page").troubles.len(), 1);
    }
    fs::remove_file(world.folder.path().join(USER)).expect("removed");
    assert_eq!(shown(&book), strict, "gone");
    world.write(USER, &rule("ask", "d"));
    assert_eq!(shown(&book), ["ask d", "allow run_command"]);
    assert!(book.page.lock().expect("a page").troubles.is_empty());
}

// T48
#[test]
fn a_project_allows_only_as_long_as_it_is_what_was_trusted() {
    let world = World::new();
    world.write(PROJECT, &format!("{}{}", rule("allow", "a"), rule("deny", "b")));
    let book = world.book();
    assert_eq!(shown(&book), ["deny b"]);
    world.trust();
    assert_eq!(shown(&book), ["allow a", "deny b"]);
    world.write(PROJECT, &format!("{}{}{}", rule("allow", "a"), rule("deny", "b"), rule("allow", "c")));
    assert_eq!(shown(&book), ["deny b"]);
    assert!(book.page.lock().expect("a page").lapsed.is_some(), "and a person is told");
    world.trust();
    assert_eq!(shown(&book), ["allow a", "deny b", "allow c"]);
    assert!(book.page.lock().expect("a page").lapsed.is_none());
    let root = Project::read(&world.surroundings, &world.data()).expect("a project").root;
    trust::forget(&world.data(), &root).expect("forgotten");
    assert_eq!(shown(&book), ["deny b"]);
}

#[test]
fn a_project_that_appears_below_takes_no_refusal_away() {
    let mut world = World::new();
    world.write("project/.git/HEAD", "");
    world.write(PROJECT, &rule("deny", "a"));
    world.surroundings.cwd = world.folder.path().join("project/below");
    fs::create_dir(&world.surroundings.cwd).expect("a folder");
    let book = world.book();
    world.write("project/below/.majordomo/config.toml", "");
    consents(&world, "ls");
    assert_eq!(shown(&book), ["deny a", "allow run_command"]);
}

#[test]
fn a_book_does_not_open_on_rules_that_are_not_understood() {
    let world = World::new();
    world.write(PROJECT, &rule("forbid", "a"));
    let error = Rulebook::open(&world.surroundings, &world.data(), None).err().expect("an error").to_string();
    assert!(error.contains("rules.action expects one of allow, ask, deny"), "{error}");
}
