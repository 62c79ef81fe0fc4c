//! Killed without a warning and resumed: what was under way in which state, and what became of it.
//! That every other moment is as good is the business of the crash matrix (`crash`).

use testkit::scenes::{calls, command, never_answers, says, scene, spawn, waits_for_go};
use testkit::world::{count, events, report_of};

use crate::world;

/// One child that has finished, one inside a command, one that waits for its model.
fn three_children(third: String) -> [String; 4] {
    let early = [calls(&[command("echo early >> effects")]), says("early is done")];
    let inside = [calls(&[command("echo inside >> effects; sleep 300")]), says("the command was cut off")];
    let tasks = ["finish early", "stay inside a command", "wait for the model"].map(spawn);
    [
        scene("the whole", &[calls(&tasks), says("all three are back")]),
        scene("finish early", &early),
        scene("stay inside", &inside),
        scene("wait for the model", &[third]),
    ]
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_was_and_does_nothing_twice() {
    // F1, F3, F30: promise 7.
    let world = world(&three_children(never_answers()));
    let mut run = world.run("the whole", &[]);
    let root = world.root();
    let [early, inside, asking] = [1, 2, 3].map(|number| root.child(number));
    world.until_lines("effects", 2);
    let before = world.until_logged("one report and one request", |log| {
        count(log, &early, "reported") == 1
            && count(log, &root, "child_reported") == 1
            && count(log, &asking, "turn_started") == 1
    });
    run.kill();
    world.assert_commands_gone();
    let listed = world.call(&["thread", "ls", "--json"]);
    assert!(listed.answer(0).contains(r#""state":"interrupted""#), "{}", listed.out);

    world.rewrite(&three_children(says("the model came back")));
    let resumed = world.call(&["thread", "resume", root.as_str()]);
    assert_eq!(resumed.answer(0), "all three are back");
    let mut effects = world.lines("effects");
    effects.sort();
    assert_eq!(effects, ["early", "inside"], "no command runs twice");
    let log = world.log();
    assert_eq!(log[..before.len()], before, "what was written stays as it was");
    assert_eq!(events(&log, &early).count(), events(&before, &early).count(), "who had finished was left alone");
    assert_eq!(count(&log, &asking, "call_repeated"), 1);
    assert_eq!(&*report_of(&log, &asking).text, "the model came back");
    assert_eq!(&*report_of(&log, &inside).text, "the command was cut off");
    let shown = world.call(&["thread", "show", inside.as_str()]);
    assert!(shown.answer(0).contains("interrupted, outcome unknown"), "{}", shown.out);
    world.assert_at_rest(&root);

    let again = world.call(&["thread", "resume", root.as_str()]);
    assert_eq!(again.answer(0), "all three are back");
    assert!(again.err.contains("already finished"), "{}", again.err);
    assert_eq!(world.log(), log, "a second resume writes nothing");
}

#[test]
fn a_run_that_is_killed_again_while_it_is_resumed_is_resumed_again() {
    // F1
    let world = world(&[
        scene("the whole", &[calls(&[spawn("stay inside")]), says("at last")]),
        scene("stay inside", &[calls(&[waits_for_go("first")]), calls(&[waits_for_go("second")]), says("done")]),
    ]);
    let mut run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    run.kill();
    let mut resumed = world.start(&["thread", "resume", root.as_str()]);
    world.until_lines("begun", 2);
    resumed.kill();
    world.assert_commands_gone();
    let again = world.call(&["thread", "resume", root.as_str()]);
    assert_eq!(again.answer(0), "at last");
    assert_eq!(world.lines("begun"), ["first", "second"]);
    assert_eq!(world.row(&root).epoch, 3, "each takeover raises the epoch");
    assert_eq!(count(&world.log(), &root, "reopened"), 2);
    world.assert_at_rest(&root);
}

#[test]
fn a_family_keeps_what_it_was_given_whatever_the_settings_have_become() {
    // INV-4: depth, budget, mode and rules of starting are written down when a thread is created, and passed down from there.
    let scenes = [
        scene("the whole", &[calls(&[spawn("the part")]), says("over")]),
        scene("the part", &[calls(&[waits_for_go("part")]), calls(&[spawn("too deep")]), says("as deep as it goes")]),
        scene("too deep", &[says("deeper")]),
        scene("go deeper", &[calls(&[spawn("first level")]), says("over")]),
        scene("first level", &[calls(&[spawn("too deep")]), says("below")]),
    ];
    let world = world(&scenes);
    let mut run = world.run("the whole", &["--max-depth", "1", "--max-tool-calls", "7"]);
    let root = world.root();
    world.until_lines("begun", 1);
    run.kill();
    run.done();
    let folder = world.path("../home/.config/majordomo");
    std::fs::create_dir_all(&folder).expect("a folder");
    let settings = "[policy]\nmax_depth = 5\nmax_children = 100\napproval = \"always\"\n[grant]\ntool_calls = 1000\n";
    std::fs::write(folder.join("config.toml"), settings).expect("a file");
    world.call(&["thread", "resume", root.as_str()]).answer(0);
    let log = world.log();
    let given = |record: &store::Record| match &*record.event {
        agent::Event::ThreadCreated(created) => {
            Some((created.policy.max_depth, created.policy.approval, created.grant.depth, created.path.len()))
        }
        _ => None,
    };
    let given: Vec<_> = log.iter().filter_map(given).collect();
    let by_risk = agent::policy::StartApproval::ByRisk;
    assert_eq!(given, [(1, by_risk, 1, 1), (1, by_risk, 0, 2)], "each is created once, and its child below it");
    let child = format!("{root}.1");
    let shown = world.call(&["thread", "show", &child, "--jsonl"]);
    assert!(
        shown.answer(0).contains("Maximum sub-agent depth (1) exceeded"),
        "as deep as it was created: {}",
        shown.out
    );
    assert_eq!(world.rows().len(), 2);
    // A new run has the new settings.
    let deeper = world.launch(world.task("go deeper", &["--set", "policy.approval=never"])).done();
    assert_eq!(deeper.answer(0), "over");
    assert_eq!(world.rows().len(), 2 + 3);
}
