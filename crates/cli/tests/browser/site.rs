//! The program with its server running, and what a person does on the page.

use std::net::SocketAddr;

use serde_json::Value;
use testkit::browser::{Browser, Page, Person};
use testkit::world::{Running, World, until};

/// Where one writes.
pub const INPUT: &str = "[data-testid=chat-input]";
/// What sends it.
pub const SEND: &str = "[data-testid=send-button]";
/// That an answer is complete, and everything that led to it was shown.
pub const COMPLETE: &str = "[data-testid=message-complete]";
/// A sub-agent in the conversation.
pub const GROUP: &str = "[data-testid^=subagent-group-]";
/// What opens and closes it.
pub const TOGGLE: &str = "[data-testid=group-toggle]";
/// Who it is.
pub const BADGE: &str = "[data-testid=subagent-badge]";
/// What is asked of a person.
pub const DIALOG: &str = "[data-testid=approval-dialog]";
/// How bad it could be.
pub const RISK: &str = "[data-testid=approval-risk]";
/// Yes.
pub const APPROVE: &str = "[data-testid=approve-button]";
/// No.
pub const REJECT: &str = "[data-testid=reject-button]";
/// Where an answer is typed.
pub const ANSWER: &str = "[data-testid=answer-text]";
/// Sends it.
pub const SEND_ANSWER: &str = "[data-testid=answer-button]";
/// An answer that the agent offers.
pub const CHOICE: &str = "[data-testid=answer-choice]";
/// Why not.
pub const REASON: &str = "[data-testid=reject-reason]";
/// Whether what is seen is what is so.
pub const CONNECTION: &str = "[data-testid=connection-state]";

/// Takes down who was shown as active, and when.
pub const RECORD_RAIL: &str = r#"
    window.rail = [];
    new MutationObserver(() => {
        const agents = [...document.querySelectorAll('[data-testid="agent-rail"] [data-agent]')];
        const now = agents.filter((node) => /active/.test(node.className)).map((node) => node.dataset.agent).join("+");
        if (now !== (rail.at(-1)?.[0] ?? "")) rail.push([now, performance.now()]);
    }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["class"] });
"#;

/// The program with its server running.
pub struct Site {
    pub world: World,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    serving: Running,
    pub addr: SocketAddr,
    link: String,
}

impl Site {
    /// A server whose agents speak by a script, with further arguments.
    pub fn scripted(scenes: &[String], arguments: &[&str]) -> Self {
        Self::prepared(scenes, arguments, |_| {})
    }

    /// The same in a world to which something was added before.
    pub fn prepared(scenes: &[String], arguments: &[&str], prepare: impl Fn(&World)) -> Self {
        let world = world(scenes);
        prepare(&world);
        let model = format!("scripted/{}", world.path("../script.toml").display());
        let own = ["--agent", "general", "--model", &model];
        Self::open(world, &[own.as_slice(), arguments].concat())
    }

    /// A server with the sample household, whose agents go by rules.
    pub fn demo() -> Self {
        Self::open(world(&[]), &["--demo"])
    }

    /// A server whose agents are answered by a model of a provider, which is known by these variables.
    pub fn modelled(model: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let own = ["--agent", "general", "--model", model];
        Self::with(world(&[]), &[own.as_slice(), arguments].concat(), variables)
    }

    fn open(world: World, arguments: &[&str]) -> Self {
        Self::with(world, arguments, Vec::new())
    }

    fn with(world: World, arguments: &[&str], variables: Vec<(String, String)>) -> Self {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let (serving, addr, link) = serve(&world, &arguments, &variables, "127.0.0.1:0");
        Self { world, arguments, variables, serving, addr, link }
    }

    /// Kills the program without warning.
    pub fn kill(&mut self) {
        self.serving.kill();
    }

    /// Starts the server again, at the same address.
    pub fn reopen(&mut self) {
        (self.serving, self.addr, self.link) =
            serve(&self.world, &self.arguments, &self.variables, &self.addr.to_string());
    }

    /// A page that was opened by the link.
    pub fn enter(&self, browser: &Browser) -> Page {
        self.enter_as(&browser.person(), "")
    }

    /// A page of this person, who came by the link, with the page's world changed by a script.
    pub fn enter_as(&self, person: &Person<'_>, script: &str) -> Page {
        let page = person.page_with(script, &self.link);
        page.wait_for(INPUT);
        // A page that is left earlier has not stored its secret yet.
        page.until("the page to be let in", "location.hash === '' && localStorage.length > 0");
        page
    }

    /// An address of the page.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }
}

fn world(scenes: &[String]) -> World {
    World::new(env!("CARGO_BIN_EXE_majordomo"), scenes)
}

fn serve(
    world: &World,
    arguments: &[String],
    variables: &[(String, String)],
    addr: &str,
) -> (Running, SocketAddr, String) {
    let mut command = world.command(&["serve", "--addr", addr]);
    command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
    let mut serving = world.launch(command);
    let link = until("a link", || {
        let said = serving.said();
        assert!(!serving.has_ended(), "{said}");
        said.lines().find_map(|line| line.strip_prefix("open ").map(str::to_owned))
    });
    let addr = link.split('/').nth(2).expect("an address").parse().expect("an address");
    (serving, addr, link)
}

/// Writes a message and sends it with the pointer.
#[track_caller]
pub fn say(page: &Page, text: &str) {
    page.fill(INPUT, text);
    page.click(SEND);
}

/// Says something and waits until it is answered.
#[track_caller]
pub fn ask(page: &Page, text: &str) {
    say(page, text);
    page.wait_for(COMPLETE);
}

/// Everything that tells one picture of a conversation from another, without what passes: who, what, in which order and state.
#[track_caller]
pub fn picture(page: &Page) -> Value {
    open_all(page);
    page.eval(&format!(
        r#"({{
            talk: {talk}.replaceAll(/[\d.,]+ (ms|s|min)\b/g, "…").replaceAll(/\d?\d:\d\d/g, "…"),
            groups: [...document.querySelectorAll("[data-testid^=subagent-group-]")].map((node) => node.dataset.testid),
            active: [...document.querySelectorAll("[data-agent].active")].map((node) => node.dataset.agent),
        }})"#,
        talk = Value::from(page.text("[role=log]")),
    ))
}

/// Opens every group and every call there is, one after the other.
#[track_caller]
pub fn open_all(page: &Page) {
    let (closed, open) = ("[role=log] button[aria-expanded=false]", "[role=log] button[aria-expanded=true]");
    while page.count(closed) > 0 {
        let before = page.count(open);
        page.click(closed);
        page.until("something to open", &format!("document.querySelectorAll('{open}').length > {before}"));
    }
}

/// Nothing in the console, and no request to any other server than ours.
#[track_caller]
pub fn assert_quiet(site: &Site, page: &Page) {
    assert_eq!(page.console_errors(), [], "the page complains");
    assert_only_here(site, page);
}

/// No request to any other server than ours.
#[track_caller]
pub fn assert_only_here(site: &Site, page: &Page) {
    let here = site.url("/");
    let elsewhere = |url: &str| !url.starts_with(&here) && !url.starts_with("data:") && !url.starts_with("about:");
    let away: Vec<String> =
        page.requests().into_iter().map(|request| request.url).filter(|url| elsewhere(url)).collect();
    assert!(away.is_empty(), "it asks elsewhere: {away:?}");
}
