//! What the page's modules have to do grows with what comes in, not faster. Counted by the engine, not by a clock.

use crate::engine::Engine;

/// Four times as much to fold may take so many times the work.
const FAIR: u64 = 6;

#[test]
fn folding_and_looking_at_one_thread_takes_work_in_proportion_to_the_frames() {
    let engine = Engine::new();
    for kind in ["one thread", "many threads", "backwards", "open calls"] {
        let [less, more] = ["2000", "8000"].map(|frames| engine.work("busy", &[kind, frames]));
        assert!(less > 0, "{kind}: the work is too small to be counted");
        assert!(more <= less * FAIR, "{kind}: 2000 frames take {less}, 8000 take {more}");
    }
}

// F40: ten thousand agents are folded here, with the work counted. That a page shows them within two seconds is not asserted: with a clock, a
// busy machine would decide about it. The benchmark measures in a browser how long a conversation takes until it is drawn, with four
// sub-agents and five thousand events.
#[test]
fn ten_thousand_agents_take_work_in_proportion_to_their_number() {
    let engine = Engine::new();
    assert_eq!(engine.call("crowd", &["10000"]), "10000");
    let [less, more] = ["2500", "10000"].map(|agents| engine.work("crowd", &[agents]));
    assert!(less > 0 && more <= less * FAIR, "2500 agents take {less}, 10000 take {more}");
}

#[test]
fn the_drawing_code_is_told_which_threads_have_changed() {
    let changed = Engine::new().call("changes", &[]);
    assert_eq!(changed, r#"[["r"],["r","r.1"],["r.1"],["r.1"],["r","r.1"],[]]"#);
}
