//! A run that is killed while a command has its hands in a protected place: what it left there is put in order before the
//! resumed run does anything.

use std::fs;

use testkit::scenes::{calls, command, says, scene};
use testkit::world::World;

use crate::site::KINDS;

// T68, F30
#[test]
fn what_a_killed_run_left_in_protected_places_is_put_in_order_when_it_is_resumed() {
    for kind in KINDS {
        let plant = "printf 'echo evil > .envrc; mkdir -p .vscode; echo evil > .vscode/tasks.json; echo x > .mcp.json; \
                     echo x >> begun; until [ -e go ]; do sleep 0.02; done\n' > s.sh; bash s.sh";
        let look = "ls -a";
        let scenes = [scene("Go", &[calls(&[command(plant)]), calls(&[command(look)]), says("Done.")])];
        let world = World::new(env!("CARGO_BIN_EXE_majordomo"), &scenes);
        fs::write(world.path(".mcp.json"), "mine").expect("a file");
        let sandbox = format!("sandbox.kind={kind}");
        let mode = if kind == "off" { "dangerous" } else { "auto" };
        let mut running = world.launch(world.task_in(mode, "Go", &["--set", &sandbox]));
        world.until_lines("begun", 1);
        running.kill();
        world.assert_commands_gone();
        assert!(world.path(".envrc").exists(), "{kind}: the attack works until here");
        let root = world.root();
        let resumed = world.call(&["thread", "resume", root.as_str(), "--set", &sandbox]);
        assert_eq!(resumed.code, Some(0), "{resumed:?}");
        assert!(resumed.err.contains(".envrc was created in a protected place"), "the user is told: {}", resumed.err);
        assert!(!world.path(".envrc").exists() && !world.path(".vscode/tasks.json").exists(), "{kind}");
        assert_eq!(fs::read_to_string(world.path(".mcp.json")).expect("a file"), "mine", "{kind}");
        let shown = world.call(&["thread", "show", root.as_str(), "--jsonl"]).out;
        assert!(shown.contains("protected files were put in order"), "{kind}: it is in the log: {shown}");
        let moved = world.state_files().into_iter().filter(|path| path.contains("/protected/moved/")).count();
        assert!(moved >= 2, "{kind}: nothing is deleted");
    }
}
