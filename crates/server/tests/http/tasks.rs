//! Tasks over HTTP: what one request changes, and with what a task can be made.

use agent::{ThreadId, Time};
use majordomo::tasks::board::{
    Actor, Assignee, BoardId, Command, NewAgent, NewTask, Reply, Request, StartedAgent, TaskId,
};
use serde_json::json;
use store::carry_out;

use crate::open::Open;

#[tokio::test(flavor = "multi_thread")]
async fn of_a_change_of_which_one_part_is_refused_nothing_is_done() {
    let open = Open::new().await;
    for title in ["Water", "Weed"] {
        assert_eq!(open.call("POST", "/tasks", Some(json!({ "title": title }))).await.0, 201);
    }
    assert_eq!(open.call("PATCH", "/tasks/t2", Some(json!({ "after": ["t1"] }))).await.0, 200);
    let before = open.get("/tasks/t1").await;
    // The last part cannot be done: t2 waits for t1. The circle is found before the assignee is looked at.
    let refused = [
        (json!({ "title": "Rain", "assign": "human", "status": "archived" }), 409, "t2 waits for t1"),
        (
            json!({ "title": "Rain", "due": "2026-02-01", "after": ["t2"], "assign": "human" }),
            422,
            "t1 cannot come after t2",
        ),
        (json!({ "title": "Rain", "due": "soon" }), 422, "'soon' is no day"),
        (json!({ "title": "Rain", "status": "done" }), 422, "'done' is no status"),
    ];
    for (change, code, why) in refused {
        let (status, problem) = open.call("PATCH", "/tasks/t1", Some(change.clone())).await;
        assert_eq!(status, code, "{change}: {problem}");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(why)), "{problem}");
        assert_eq!(open.get("/tasks/t1").await, before, "{change}");
    }
    let events = board_events(&open).await;
    let whole = json!({ "title": "Rain", "due": "2026-02-01T10:00:00Z", "assign": "human", "status": "in_progress" });
    let (status, task) = open.call("PATCH", "/tasks/t1", Some(whole)).await;
    assert_eq!(status, 200, "{task}");
    assert_eq!(
        (&task["title"], &task["assignee"], &task["status"], &task["due"]),
        (&json!("Rain"), &json!("human"), &json!("in_progress"), &json!(1_769_940_000_000_i64))
    );
    let written = &board_events(&open).await[events.len()..];
    assert_eq!(written.len(), 3, "{written:?}");
    assert!(written.iter().all(|at| *at == written[0]), "one commit: {written:?}");
    let (_, task) = open.call("PATCH", "/tasks/t1", Some(json!({ "due": "none" }))).await;
    assert_eq!(task["due"], json!(null));
    open.close().await;
}

// LACE-15, LACE-16, LACE-21 (missing agent)
#[tokio::test(flavor = "multi_thread")]
async fn the_agent_of_a_task_is_shown_and_where_there_is_none_that_is_said() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    assert_eq!(open.get(&format!("/threads/{thread}/agents")).await, json!([]));
    assert_eq!(open.get(&format!("/threads/{thread}")).await["current_task"], json!(null));
    for id in ["nobody", thread.as_str()] {
        let (status, problem) = open.call("GET", &format!("/threads/{id}/agent"), None).await;
        assert_eq!((status, &problem["detail"]), (404, &json!(format!("No agent found for thread {id}"))));
    }
    let child = begin_task(&open, &thread).await;
    let agents = open.get(&format!("/threads/{thread}/agents")).await;
    assert_eq!(
        (&agents[0]["thread_id"], &agents[0]["name"], &agents[0]["current_task"], &agents[0]["type"]),
        (&json!(child.as_str()), &json!("agent-1"), &json!("Water"), &json!("ephemeral"))
    );
    assert_eq!(open.get(&format!("/threads/{child}/agent")).await, agents[0]);
    assert_eq!(open.get(&format!("/threads/{child}")).await["current_task"]["id"], json!("t1"));
    open.close().await;
}

/// A task of a board of its own that a sub-agent of a thread works on, as if it had been made for it.
pub async fn begin_task(open: &Open, thread: &str) -> ThreadId {
    let (board, store) = (BoardId::new("elsewhere"), open.staff.store());
    let ask = async |by: Actor, command: Command| {
        let request = Request::new(by, None, board.as_str().into(), command);
        carry_out(&**store, &board, request, Time(1), false).await.expect("a store").expect("it is done")
    };
    let new = NewAgent { agent: None, model: Some("anthropic/claude-3-sonnet".into()) };
    let task = NewTask { assignee: Some(Assignee::New(new)), ..NewTask::titled("Water") };
    let root = ThreadId::new(thread);
    ask(Actor::Thread(root.clone()), Command::Add { tasks: vec![task] }).await;
    let take = Command::Take { room: 1, most: 1, labels: Vec::new(), fresh: Vec::new() };
    let Reply::Taken(taken) = ask(Actor::System, take).await else { panic!("it is taken") };
    let (task, delivery, child) = (TaskId::of(1), taken[0].id.clone(), root.child(1));
    let (name, provider, model) = ("agent-1".into(), "anthropic".into(), "claude-3-sonnet".into());
    let agent = Some(StartedAgent { name, provider, model, parent: root });
    let named = Command::Name { task: task.clone(), delivery: delivery.clone(), thread: child.clone(), agent };
    ask(Actor::System, named).await;
    ask(Actor::System, Command::Begun { task, delivery, thread: child.clone(), thread_n: 0 }).await;
    child
}

/// The moments of all events of the board: those of one commit have the same.
async fn board_events(open: &Open) -> Vec<i64> {
    let board: BoardId = open.staff.board();
    let records = open.staff.store().board_events(&board, 0, 1000).await.expect("events");
    records.iter().map(|record| record.at.0).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_made_over_http_with_all_that_the_command_line_can_say() {
    let open = Open::new().await;
    let new = json!({
        "title": "Ports", "checks": ["true"], "schema": { "type": "array" }, "due": "2026-01-31T17:00:00Z",
        "max_tool_calls": 5, "max_tokens": 9000, "max_cost": 0.25, "timeout_s": 60,
    });
    let (status, task) = open.call("POST", "/tasks", Some(new)).await;
    assert_eq!((status, &task["due"]), (201, &json!(1_769_878_800_000_i64)), "{task}");
    let kept = open.staff.store().task(&open.staff.board(), &TaskId::of(1)).await.expect("a store").expect("a task");
    assert_eq!(kept.checks.schema.as_ref().map(|schema| schema.value()), Some(json!({ "type": "array" })));
    let budget = kept.budget;
    assert_eq!(
        (budget.max_tool_calls, budget.max_tokens, budget.max_cost_microusd, budget.timeout_ms),
        (Some(5), Some(9000), Some(250_000), Some(60_000))
    );
    let shown = ["schema", "max_tool_calls", "max_tokens", "max_cost", "timeout_s"].map(|field| task[field].clone());
    assert_eq!(shown, [json!({ "type": "array" }), json!(5), json!(9000), json!(0.25), json!(60)], "{task}");

    // What is named is changed, and the rest stays.
    let change = json!({ "checks": ["make", "make test"], "max_tokens": 100, "max_cost": 1.5 });
    let (status, task) = open.call("PATCH", "/tasks/t1", Some(change)).await;
    assert_eq!(
        (status, &task["checks"], &task["max_cost"]),
        (200, &json!(["make", "make test"]), &json!(1.5)),
        "{task}"
    );
    let kept = open.staff.store().task(&open.staff.board(), &TaskId::of(1)).await.expect("a store").expect("a task");
    assert_eq!(kept.checks.schema.as_ref().map(|schema| schema.value()), Some(json!({ "type": "array" })));
    let budget = kept.budget;
    assert_eq!(
        (budget.max_tool_calls, budget.max_tokens, budget.max_cost_microusd, budget.timeout_ms),
        (Some(5), Some(100), Some(1_500_000), Some(60_000))
    );
    let (status, task) = open.call("PATCH", "/tasks/t1", Some(json!({ "checks": [] }))).await;
    assert_eq!((status, &task["checks"]), (200, &json!([])), "{task}");
    let (status, problem) = open.call("PATCH", "/tasks/t1", Some(json!({ "max_cost": -1 }))).await;
    assert_eq!(status, 422, "{problem}");

    let wrong = [
        (json!({ "title": "x", "schema": { "type": "nonsense" } }), "nonsense"),
        (json!({ "title": "x", "max_cost": 0 }), "max_cost is an amount of dollars above 0"),
        (json!({ "title": "x", "due": "tomorrow" }), "'tomorrow' is no day such as 2026-01-31"),
    ];
    for (new, why) in wrong {
        let (status, problem) = open.call("POST", "/tasks", Some(new)).await;
        assert_eq!(status, 422, "{problem}");
        assert!(problem.to_string().contains(why), "{problem}");
    }
    assert_eq!(open.get("/tasks").await.as_array().map(Vec::len), Some(1));
    open.close().await;
}
