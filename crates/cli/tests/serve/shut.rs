//! What an agent's own commands find of the server: nothing.

use std::os::unix::fs::PermissionsExt;

use testkit::scenes::{call, calls, command, says, scene};
use testkit::world::until;

use crate::{Served, world};

// T23: behind its walls there is no token to read and no way to the server. Without walls a command is asked about itself.
#[test]
fn a_command_cannot_reach_the_server_and_decide_what_a_person_is_asked() {
    let write = call("write_file", r#"path = "new.txt", content = "written""#);
    let world = world(&[scene("go", &[calls(&[write]), says("done")])]);
    let mut served = Served::open(&world, None);
    served.start("go");
    let question = until("a question", || {
        let (_, all) = served.ask("GET", "/approvals", "").expect("an answer");
        all.get(0).cloned()
    });
    let (port, id) = (served.addr.rsplit(':').next().expect("a port"), question["id"].as_str().expect("an id"));
    let decide = format!("/api/v1/approvals/{}/decision", id.replace('/', "%2F"));
    let attack = format!(
        "cat ../state/server.token; bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo came in && printf \"POST {decide} HTTP/1.1\" >&3'; \
         bash -c 'exec 3<>/dev/tcp/::1/{port} && echo came in'; echo tried"
    );
    world.rewrite(&[scene("attack", &[calls(&[command(&attack)]), says("over")])]);
    let walls = tool::Sandbox::probe(&[]).is_in_force();
    if walls {
        // Nothing asks in this mode: whatever the command may do, it does.
        let attacked = world.launch(world.task("attack", &["--jsonl"])).done();
        assert!(attacked.out.contains("tried\\n"), "{}", attacked.out);
        assert!(!attacked.out.contains(&served.token), "the token is out");
        assert!(!attacked.out.contains("came in\\n"), "{}", attacked.out);
    } else {
        // No walls: the very command is put to a person, who is not there.
        testkit::skip::without_sandbox("bubblewrap");
        let model = format!("scripted/{}", world.path("../script.toml").display());
        let attacked =
            world.call(&["run", "attack", "--model", &model, "--mode", "auto", "--jsonl", "--approvals", "deny"]);
        assert!(!attacked.out.contains(&served.token) && !attacked.out.contains("came in\\n"), "{}", attacked.out);
    }
    let (_, still) = served.ask("GET", &format!("/approvals/{}", id.replace('/', "%2F")), "").expect("an answer");
    assert_eq!(still["status"], "pending", "{still}");
    assert!(!world.path("new.txt").exists());
    served.running.kill();
}

// T3
#[test]
fn the_token_is_this_starts_alone_and_is_told_to_nobody() {
    let world = world(&[]);
    let mut first = Served::open(&world, None);
    let mode = std::fs::metadata(world.path("../state/server.token")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(first.token.len() >= 32, "at least 128 bits");
    let kept = std::fs::read_to_string(world.path("../state/server.token")).expect("a file");
    assert_eq!(kept, format!("{}\n", first.token), "nothing else is kept there");
    assert!(!first.running.said().contains(&first.token), "{}", first.running.said());
    first.running.kill();
    let mut second = Served::open(&world, None);
    assert_ne!(first.token, second.token);
    assert_eq!(second.ask("GET", "/threads", "").expect("an answer").0, 200);
    let own = std::mem::replace(&mut second.token, first.token);
    assert_eq!(second.ask("GET", "/threads", "").expect("an answer").0, 401, "it is another start's");
    assert!(!second.running.said().contains(&own), "{}", second.running.said());
    second.running.kill();
}

// T5
#[test]
fn a_window_that_others_could_reach_is_not_opened_without_a_password() {
    let world = world(&[]);
    for addr in ["0.0.0.0:0", "[::]:0"] {
        let refused = world.call(&["serve", "--addr", addr]);
        assert_eq!(refused.code, Some(3), "{addr}: {}", refused.err);
        assert!(refused.err.contains("MAJORDOMO_PASSWORD"), "{}", refused.err);
    }
    assert!(!world.path("../state/server.token").exists());
}

// T45
#[test]
fn no_file_is_made_where_a_planted_link_leads_and_whatever_is_made_is_private() {
    for planted in ["server.token", "server.lock", "enter.html", "majordomo.db", "rules.toml"] {
        let world = world(&[]);
        let (target, link) = (world.path("../target"), world.path("../state").join(planted));
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        let mut running = world.start(&["serve", "--addr", "127.0.0.1:0", "--demo"]);
        let is_open = until("a server or a refusal", || {
            let is_open = running.said().contains("listens on http://");
            (is_open || running.has_ended()).then_some(is_open)
        });
        if is_open {
            running.kill();
        }
        let said = running.done();
        assert!(!target.exists(), "{planted}: {}", said.err);
        let is_link = std::fs::symlink_metadata(&link).is_ok_and(|link| link.file_type().is_symlink());
        // Two of them are not written by this command.
        let is_written = !["enter.html", "rules.toml"].contains(&planted);
        assert!(!is_open || !is_link || !is_written, "{planted} is neither refused nor replaced");
        assert!(is_open || said.err.contains(planted), "{planted}: the refusal names it: {}", said.err);
    }
}

// T45
#[test]
fn a_careless_umask_opens_nothing_to_others() {
    let world = world(&[]);
    std::fs::remove_dir_all(world.path("../state")).expect("it is made anew");
    let inside = world.command(&["serve", "--addr", "127.0.0.1:0", "--demo"]);
    let mut careless = std::process::Command::new("sh");
    careless.args(["-c", "umask 0; exec \"$0\" \"$@\""]).arg(inside.get_program()).args(inside.get_args());
    careless.env_clear().envs(inside.get_envs().filter_map(|(name, value)| Some((name, value?))));
    careless.current_dir(inside.get_current_dir().expect("a folder"));
    let mut running = world.launch(careless);
    until("the server", || running.said().contains("listens on http://").then_some(()));
    let mut folders = vec![world.path("../state")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let mode = std::fs::metadata(&folder).expect("a folder").permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
            // What lies in a private folder is as private as that: the sample household is files for other programs, too.
            if kind.is_dir() && !path.ends_with("demo") {
                folders.push(path);
            } else if kind.is_file() {
                seen += 1;
                let mode = entry.metadata().expect("a file").permissions().mode() & 0o777;
                assert_eq!(mode, 0o600, "{}", path.display());
            }
        }
    }
    assert!(seen >= 3, "a database, a token and a lock");
    running.kill();
}
