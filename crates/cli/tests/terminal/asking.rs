//! Questions to the person at the terminal while the tree is drawn there.

use testkit::scenes::{call, calls, says, scene, spawn};

use crate::seat::{Seat, Streams};
use crate::world;

#[test]
fn a_question_has_the_terminal_to_itself_until_it_is_answered() {
    for (columns, key, written) in [(60, "y\n", true), (120, "n\n\n", false)] {
        let world = world(&[
            scene("the whole", &[calls(&[spawn("write it"), spawn("look on")]), says("All is done.")]),
            scene(
                "write it",
                &[calls(&[call("write_file", "path = \"a.txt\", content = \"hello\"")]), says("written")],
            ),
            scene("look on", &[says("looked")]),
        ]);
        let mut seat = Seat::start(&world.careful_task("the whole", &[]), (columns, 40), Streams::All);
        let screen =
            seat.until("the question", |screen| screen.trim_end().ends_with('>') && screen.contains("write_file"));
        assert!(screen.contains("a.txt"), "{screen}");
        assert!(!screen.contains("●"), "the tree makes room: {screen}");
        assert!(seat.echoes(), "what is typed as an answer is seen");
        seat.press(key);
        let (code, _) = seat.done();
        let end = seat.transcript();
        assert_eq!(code, Some(0), "{end}");
        assert_eq!(world.path("a.txt").exists(), written, "{end}");
        assert_eq!(end.matches("All is done.").count(), 1, "{end}");
        assert!(end.contains("✓ general"), "{end}");
        assert!(seat.echoes());
    }
}
