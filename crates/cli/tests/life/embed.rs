//! The library without the command line: a program that embeds the library, keeps nothing on the disk, and has its report.

use agent::Outcome;
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::staff::{Options, Staff, Work};
use testkit::scenes::{calls, says, scene, spawn};

#[tokio::test]
async fn a_staff_in_memory_runs_to_its_report_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a passing folder");
    let script = folder.path().join("script.toml");
    let scenes =
        [scene("the whole", &[calls(&[spawn("a part")]), says("done")]), scene("a part", &[says("part done")])];
    std::fs::write(&script, scenes.concat()).expect("a script");
    let work = folder.path().join("work");
    std::fs::create_dir(&work).expect("a workspace");
    let surroundings =
        Surroundings { cwd: work.clone(), home: Some(folder.path().join("home")), ..Surroundings::default() };
    let flags = Flags { model: Some(format!("scripted/{}", script.display())), ..Flags::default() };
    let config = Config::load(&surroundings, &flags).expect("a configuration");
    let data = config.data.clone();
    let options = Options { in_memory: true, ..Options::default() };
    let staff = Staff::open(&surroundings, config, options).await.expect("a staff");

    let report = staff.run(Work::new("the whole")).await.expect("a report");
    assert_eq!((report.outcome, &*report.text, report.tree.children), (Outcome::Completed, "done", 1));
    staff.runtime().leave().await;
    assert!(!data.exists(), "nothing is kept");
    assert_eq!(std::fs::read_dir(&work).expect("a workspace").count(), 0);
}
