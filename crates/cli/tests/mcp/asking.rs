//! What servers have besides tools: questions to a person in the middle of a call, resources, prompts, and a login.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use agent::Event;
use agent::approval::Approval;
use serde_json::Value;
use testkit::mcp_server::{LoginServer, browse};
use testkit::scenes::{call, calls, never_answers, says, scene};
use testkit::world::{World, until};

use crate::{configure, world};

const ALLOW: &str = "[[rules]]\ntool = \"kit__*\"\naction = \"allow\"\n";

/// The question that is open.
fn asked(world: &World) -> Approval {
    let records = world.until_logged("a question", |records| {
        records.iter().any(|record| matches!(&*record.event, Event::ApprovalRequested(_)))
    });
    let question = records.iter().find_map(|record| match &*record.event {
        Event::ApprovalRequested(question) => Some((**question).clone()),
        _ => None,
    });
    question.expect("it is asked")
}

// T54
#[test]
fn a_question_of_a_server_waits_with_the_approvals_and_its_answer_reaches_the_server() {
    let world = world(&[scene("Merge", &[calls(&[call("kit__ask_person", "")]), says("Merged.")])]);
    configure(&world, "kit", "polite,older", ALLOW);
    let running = world.launch(world.task_in("ask", "Merge", &["--jsonl", "--approvals", "wait"]));
    let question = asked(&world);
    let listed: Value = serde_json::from_str(world.call(&["approve", "ls", "--json"]).answer(0)).expect("JSON");
    assert_eq!((&listed[0]["kind"], &listed[0]["tool"]), (&"question".into(), &"kit__ask_person".into()), "{listed}");
    let text = listed[0].to_string();
    assert!(text.contains("MCP server kit asks (your answer is sent to it): Which branch?"), "{text}");
    world.call(&["approve", "answer", question.id.as_str(), "main"]).answer(0);
    let done = running.done();
    done.answer(0);
    assert!(done.out.contains(r#"Accept {\"branch\":\"main\"}"#), "{}", done.out);
    world.assert_commands_gone();
}

// T54
#[test]
fn without_a_person_a_question_of_a_server_is_declined_and_the_run_goes_on() {
    let world = world(&[scene("Merge", &[calls(&[call("kit__ask_person", "")]), says("I could not.")])]);
    configure(&world, "kit", "polite,older", ALLOW);
    let done = world.launch(world.task_in("ask", "Merge", &["--jsonl", "--approvals", "deny"])).done();
    done.answer(0);
    assert!(done.out.contains("Decline"), "{}", done.out);
}

// F41
#[test]
fn a_question_whose_process_was_killed_is_withdrawn_and_the_call_is_not_made_again() {
    let world = world(&[scene("Merge", &[calls(&[call("kit__ask_person", "")]), says("It is not known.")])]);
    configure(&world, "kit", "polite,older", ALLOW);
    let mut running = world.launch(world.task_in("ask", "Merge", &["--approvals", "wait"]));
    let question = asked(&world);
    running.kill();
    world.assert_commands_gone();
    let root = world.root();
    let resumed = world.call(&["thread", "resume", root.as_str(), "--approvals", "wait"]);
    resumed.answer(0);
    let late = world.call(&["approve", "answer", question.id.as_str(), "main"]);
    assert_ne!(late.code, Some(0), "{}", late.out);
    let started = world.log().iter().filter(|record| matches!(&*record.event, Event::ToolStarted { .. })).count();
    assert_eq!(started, 1, "the call is not made again");
    world.assert_at_rest(&root);
}

const SAMPLING: &str = "sampling = true\n";

/// The events about requests of servers to the model, in their order.
fn sampling(world: &World) -> Vec<Event> {
    let is_one = |event: &Event| matches!(event, Event::SamplingStarted(_) | Event::SamplingEnded(_));
    world.log().iter().map(|record| (*record.event).clone()).filter(is_one).collect()
}

// T54
#[test]
fn a_server_asks_the_model_with_a_persons_consent_and_the_agent_pays() {
    let asks = calls(&[call("kit__ask_model", "text = \"Sum it up\", max = 50")]);
    let scenes = [scene("Merge", &[asks, says("Merged.")]), scene("Sum it up", &[says("In short: yes.")])];
    let world = world(&scenes);
    configure(
        &world,
        "kit",
        "polite,older",
        &format!("{SAMPLING}[[rules]]\ntool = \"kit__ask_model\"\naction = \"allow\"\n"),
    );
    let running = world.launch(world.task_in("ask", "Merge", &["--jsonl", "--approvals", "wait"]));
    let question = asked(&world);
    let listed: Value = serde_json::from_str(world.call(&["approve", "ls", "--json"]).answer(0)).expect("JSON");
    assert_eq!(listed[0]["kind"], "approval", "{listed}");
    let text = listed[0].to_string();
    assert!(text.contains("kit__sampling/createMessage") && text.contains("It asks: Sum it up"), "{text}");
    let shown = world.call(&["approve", "show", question.id.as_str()]);
    assert!(shown.answer(0).contains("up to 50 tokens at this agent's expense"), "{}", shown.out);
    assert!(sampling(&world).is_empty(), "nothing is asked before a person allows it");
    world.call(&["approve", "yes", question.id.as_str(), "--always"]).answer(0);
    let done = running.done();
    done.answer(0);
    assert!(done.out.contains("the model answered: \\\"In short: yes.\\\""), "{}", done.out);
    let events = sampling(&world);
    let [Event::SamplingStarted(started), Event::SamplingEnded(ended)] = events.as_slice() else {
        panic!("one request: {events:?}")
    };
    assert!(started.claim.tokens >= 50 && &*ended.text == "In short: yes.", "{started:?} {ended:?}");
    let report = world.log().iter().find_map(|record| match &*record.event {
        Event::Reported(report) => Some(report.usage),
        _ => None,
    });
    assert_eq!(report.map(|used| used.requests), Some(3), "two turns and the request of the server");
    let root = world.root();
    let transcript = world.call(&["thread", "show", root.as_str()]);
    for words in [
        "MCP server kit asks the model (up to 50 tokens): Sum it up",
        "the model answers MCP server kit: In short: yes.",
    ] {
        assert!(transcript.answer(0).contains(words), "{}", transcript.out);
    }
    // What was allowed for always needs no person in another conversation.
    world.launch(world.task_in("ask", "Merge again", &["--approvals", "deny"])).done().answer(0);
    assert_eq!(sampling(&world).len(), 4);
    let usage = world.call(&["usage", "--json"]);
    assert!(usage.answer(0).contains("\"requests\":6") || usage.out.contains("\"requests\": 6"), "{}", usage.out);
    world.assert_commands_gone();
}

// T54
#[test]
fn a_server_reaches_no_model_without_the_users_own_setting_or_without_a_person() {
    let asks = calls(&[call("kit__ask_model", "text = \"Sum it up\"")]);
    let scenes = [scene("Merge", &[asks, says("I could not.")]), scene("Sum it up", &[says("leaked")])];
    for (setting, approvals, why) in [("", "wait", "no model"), (SAMPLING, "deny", "needs a person's consent")] {
        let world = world(&scenes);
        let rule = "[[rules]]\ntool = \"kit__ask_model\"\naction = \"allow\"\n";
        configure(&world, "kit", "polite,older", &format!("{setting}{rule}"));
        let done = world.launch(world.task_in("ask", "Merge", &["--jsonl", "--approvals", approvals])).done();
        assert!(done.out.contains(why) && !done.out.contains("leaked"), "{}", done.out);
        let started = sampling(&world).iter().filter(|event| matches!(event, Event::SamplingStarted(_))).count();
        assert_eq!(started, 0);
    }
}

// T54
#[test]
fn a_stop_ends_the_request_of_a_server_and_what_was_reserved_counts() {
    let asks = calls(&[call("kit__ask_model", "text = \"Sum it up\"")]);
    let scenes = [scene("Merge", &[asks, says("Stopped.")]), scene("Sum it up", &[never_answers()])];
    let world = world(&scenes);
    configure(&world, "kit", "polite,older", &format!("{SAMPLING}{ALLOW}"));
    let running = world.launch(world.task_in("ask", "Merge", &["--jsonl", "--approvals", "wait"]));
    world.until_logged("the request", |records| {
        records.iter().any(|record| matches!(&*record.event, Event::SamplingStarted(_)))
    });
    world.call(&["stop", world.root().as_str(), "--now"]).answer(0);
    running.done();
    let events = sampling(&world);
    let [Event::SamplingStarted(started), Event::SamplingEnded(ended)] = events.as_slice() else {
        panic!("one request: {events:?}")
    };
    assert!(ended.error.is_some() && ended.booked == started.claim, "{ended:?}");
    world.assert_commands_gone();
}

// F3, T54
#[test]
fn a_request_of_a_server_whose_process_was_killed_is_booked_and_neither_it_nor_the_call_is_made_again() {
    let asks = calls(&[call("kit__ask_model", "text = \"Sum it up\"")]);
    let scenes = [scene("Merge", &[asks, says("It is not known.")]), scene("Sum it up", &[never_answers()])];
    let world = world(&scenes);
    configure(&world, "kit", "polite,older", &format!("{SAMPLING}{ALLOW}"));
    let mut running = world.launch(world.task_in("ask", "Merge", &["--approvals", "wait"]));
    world.until_logged("the request", |records| {
        records.iter().any(|record| matches!(&*record.event, Event::SamplingStarted(_)))
    });
    running.kill();
    world.assert_commands_gone();
    let root = world.root();
    world.call(&["thread", "resume", root.as_str(), "--approvals", "wait"]).answer(0);
    let events = sampling(&world);
    let [Event::SamplingStarted(started), Event::SamplingEnded(ended)] = events.as_slice() else {
        panic!("one request: {events:?}")
    };
    assert!(ended.error.is_some() && ended.booked == started.claim, "{ended:?}");
    let calls = world.log().iter().filter(|record| matches!(&*record.event, Event::ToolStarted { .. })).count();
    assert_eq!(calls, 1, "the call is not made again");
    world.assert_at_rest(&root);
}

// T59, T60
#[test]
fn resources_and_prompts_are_used_by_name_and_count_as_untrusted() {
    let scenes = [scene("I chose this prompt", &[says("Reviewed.")]), scene("What is on", &[says("Lunch.")])];
    let world = world(&scenes);
    configure(&world, "kit", "polite", "");
    assert_eq!(world.call(&["mcp", "resources"]).answer(0).trim(), "@kit:note://today  today");
    assert!(world.call(&["mcp", "resources", "kit", "note://today"]).answer(0).contains("Lunch at noon"));
    assert_eq!(world.call(&["mcp", "resources", "kit", "note://none"]).code, Some(1));
    let prompts = world.call(&["mcp", "prompts", "kit"]);
    assert_eq!(prompts.answer(0).trim(), "/kit:review file=… [focus=…]  Reviews a file");

    world.launch(world.task_in("ask", "What is on today? @kit:note://today", &[])).done().answer(0);
    world.launch(world.task_in("ask", "/kit:review src/main.rs the loop", &[])).done().answer(0);
    let prompts: Vec<String> = (world.log().iter())
        .filter_map(|record| match &*record.event {
            Event::RunStarted { prompt, .. } => Some(prompt.to_string()),
            _ => None,
        })
        .collect();
    assert!(prompts[0].contains("Lunch at noon") && prompts[0].contains("MCP server kit, resource"), "{}", prompts[0]);
    assert!(prompts[1].contains(r#"Please review "src/main.rs" for "the loop""#), "{}", prompts[1]);
    let foreign = |record: &store::Record| match &*record.event {
        Event::Reported(report) => Some(report.foreign),
        _ => None,
    };
    assert_eq!(world.log().iter().filter_map(foreign).collect::<Vec<_>>(), [true, true]);
    let _ = fs::remove_dir_all(world.path(".majordomo"));
    world.launch(world.task_in("ask", "What is on? @kit:note://long", &[])).done().answer(0);
    let kept: Vec<_> = fs::read_dir(world.path(".majordomo/results")).expect("a folder").flatten().collect();
    let texts: Vec<String> = kept.iter().filter_map(|file| fs::read_to_string(file.path()).ok()).collect();
    assert!(texts.iter().any(|text| text.ends_with("line 19999\n")), "the whole is kept: {kept:?}");
    let wrong = world.launch(world.task_in("ask", "/kit:nope", &[])).done();
    assert!(wrong.code == Some(3) && wrong.err.contains("there are: review"), "{:?} {}", wrong.code, wrong.err);
    let missing = world.launch(world.task_in("ask", "/kit:review", &[])).done();
    assert!(missing.err.contains("needs file"), "{}", missing.err);
}

// T55
#[test]
fn a_person_logs_in_by_a_command_that_the_error_names() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let far = runtime.block_on(LoginServer::start());
    let world = world(&[scene("Say", &[calls(&[call("far__echo", "text = \"inside\"")]), says("Said.")])]);
    world.call(&["mcp", "add", "far", "--url", &far.url]).answer(0);
    let tried = world.call(&["mcp", "test", "far"]);
    assert!(tried.code == Some(1) && tried.out.contains("majordomo mcp login far"), "{}", tried.out);

    let running = world.start(&["mcp", "login", "far", "--no-browser"]);
    let address =
        until("the address", || running.printed().lines().find(|line| line.starts_with("http")).map(str::to_owned));
    let page = runtime.block_on(browse(&address));
    assert!(page.contains("You are logged in"), "{page}");
    assert!(running.done().answer(0).contains("logged in at far"));
    assert_eq!(far.refusals(), [""; 0]);
    assert!(world.call(&["mcp", "test", "far"]).answer(0).contains("far: works, 1 tools"));
    let rules = "\n[[rules]]\ntool = \"far__echo\"\naction = \"allow\"\n";
    let file = world.path("../home/.config/majordomo/config.toml");
    std::fs::write(&file, std::fs::read_to_string(&file).expect("a file") + rules).expect("a file");
    let done = world.launch(world.task_in("ask", "Say", &["--jsonl"])).done();
    done.answer(0);
    assert!(done.out.contains("inside"), "{}", done.out);
    assert!(!done.out.contains("access-"), "no token is shown");
    world.call(&["mcp", "login", "far", "--out"]).answer(0);
    assert_eq!(world.call(&["mcp", "test", "far"]).code, Some(1));
    assert_eq!(world.call(&["mcp", "login", "nowhere"]).code, Some(2));
}

// T55
#[test]
fn an_address_with_characters_of_a_shell_reaches_the_browser_as_one_argument() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let behind = "?x=$(touch${IFS}planted)&y=`touch${IFS}planted`;touch planted|touch planted&";
    let far = runtime.block_on(LoginServer::sending_to(behind));
    let world = world(&[]);
    let (bin, opened) = (world.path("../bin"), world.path("../opened"));
    fs::create_dir(&bin).expect("a folder");
    let browser = format!("#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" > {0}.part && mv {0}.part {0}\n", opened.display());
    fs::write(bin.join("xdg-open"), browser).expect("a browser");
    fs::set_permissions(bin.join("xdg-open"), PermissionsExt::from_mode(0o755)).expect("it can be started");
    world.call(&["mcp", "add", "far", "--url", &far.url]).answer(0);
    let mut command = world.command(&["mcp", "login", "far"]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", bin.display())).env("DISPLAY", ":0");
    let mut running = world.launch(command);
    let arguments = until("a browser", || fs::read_to_string(&opened).ok());
    let lines: Vec<&str> = arguments.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "1"), "{arguments}");
    assert!(lines[1].starts_with("http://127.0.0.1:") && lines[1].contains("touch$"), "{arguments}");
    running.kill();
    assert!(!world.path("planted").exists() && !world.path("../planted").exists());
}

#[test]
fn a_decision_about_a_servers_tool_is_explained_without_starting_the_server() {
    let world = world(&[scene("Count", &[calls(&[call("kit__count", "text = \"one\"")]), says("Counted.")])]);
    let rules = "[[rules]]\ntool = \"kit__count\"\npattern = '*\"text\":\"one\"*'\naction = \"allow\"\n[[rules]]\ntool = \"kit__*\"\npattern = '*secret*'\naction = \"deny\"\n";
    configure(&world, "kit", "", rules);
    world.launch(world.task_in("ask", "Count", &[])).done().answer(0);
    let root = world.root();
    let explain = |input: &str| {
        let said = world.call(&["explain", root.as_str(), "kit__count", input]);
        let verdict = said.answer(0).lines().find_map(|line| line.strip_prefix("verdict: ")).unwrap_or_default();
        assert!(said.out.contains("origin     MCP server kit"), "{}", said.out);
        verdict.split(',').next().unwrap_or_default().to_owned()
    };
    assert_eq!(explain(r#"{"text":"one"}"#), "allow");
    assert_eq!(explain(r#"{"text":"two"}"#), "ask");
    assert_eq!(explain(r#"{"text":"secret"}"#), "deny");
    assert_eq!(world.lines("counted.txt"), ["one"], "nothing was called");
}
