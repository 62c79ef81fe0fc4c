//! A long conversation on the page, in a real browser: how long until it is drawn, and until a group in it is opened or closed.
//!
//! The conversation is a scripted run of the program itself, the server is the program's own, and the browser is the one of the
//! tests. Times are taken by the page's clock, which begins when it is navigated to.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, ensure};
use testkit::browser::{Browser, Page};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

use crate::cold_start::{finish, majordomo};

/// Sub-agents, and how often each of them looks at something: four events each time.
const CHILDREN: usize = 4;
const LOOKS: usize = 310;
/// How often the page is opened, and a group on it opened and closed.
const ROUNDS: usize = 7;

const PROMPT: &str = "Have the library looked through.";
/// What is said last, and nowhere else.
const LAST: &str = "Nothing is missing from it.";

/// What the page takes its time for, in microseconds.
pub struct Drawn {
    /// The frames of the conversation.
    pub frames: u64,
    /// Elements of the page that are in a group once it is open.
    pub inside: u64,
    /// From navigating to a conversation to its last words on the screen.
    pub opened_us: Vec<u64>,
    /// From a click on a group to the next frame on the screen.
    pub toggled_us: Vec<u64>,
}

/// Lets a conversation be had, and opens it again and again.
pub async fn measure(data: &Path) -> anyhow::Result<Drawn> {
    std::fs::create_dir(data)?;
    let thread = talk(data).await?;
    let mut server = majordomo(data, &["serve", "--addr", "127.0.0.1:0"])?.stderr(Stdio::piped()).spawn()?;
    let link = link(&mut server).await?;
    let drawn = tokio::task::spawn_blocking(move || look(&link, &thread)).await?;
    // It ends with its value; what it kept is of no use.
    drop(server);
    drawn
}

/// Has the conversation; its thread.
async fn talk(data: &Path) -> anyhow::Result<String> {
    let script = data.join("script.toml");
    std::fs::write(&script, self::script())?;
    std::fs::write(data.join("catalogue.txt"), "A book, and where it stands.\n".repeat(LOOKS))?;
    let model = format!("scripted/{}", script.display());
    let args = ["run", PROMPT, "--quiet", "--agent", "general", "--mode", "auto", "--model", &model];
    let limits = ["--set", "policy.child.max_tool_calls=100000", "--set", "policy.child.max_tokens=1000000000"];
    finish(&mut majordomo(data, &[&args[..], &limits[..]].concat())?.spawn()?).await?;
    let listed = majordomo(data, &["thread", "ls", "--json"])?.stdout(Stdio::piped()).output().await?;
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout)?;
    Ok(listed[0]["id"].as_str().context("the conversation is not listed")?.to_owned())
}

fn script() -> String {
    let spawn = |child: usize| format!("{{ name = \"spawn_agent\", input = {{ task = \"Look at shelf {child}\" }} }}");
    let spawned: Vec<String> = (1..=CHILDREN).map(spawn).collect();
    let mut script = format!(
        "[[script]]\non = \"library\"\n[[script.reply]]\ncalls = [{}]\n[[script.reply]]\ntext = \"{LAST}\"\n\
         [[script]]\non = \"shelf\"\n",
        spawned.join(", ")
    );
    for line in 1..=LOOKS {
        script.push_str(&format!(
            "[[script.reply]]\ntext = \"Let me see what stands in place {line}.\"\ncalls = [{{ name = \"read_file\", input = \
             {{ path = \"catalogue.txt\", offset = {line}, limit = 1 }} }}]\n"
        ));
    }
    script.push_str("[[script.reply]]\ntext = \"Every book is in its place.\"\n");
    script
}

/// The link that the server prints for a browser.
async fn link(server: &mut Child) -> anyhow::Result<String> {
    let mut said = BufReader::new(server.stderr.take().context("the output of the server can be read")?).lines();
    while let Some(line) = said.next_line().await? {
        if let Some(link) = line.strip_prefix("open ") {
            return Ok(link.to_owned());
        }
    }
    anyhow::bail!("the server did not start")
}

fn look(link: &str, thread: &str) -> anyhow::Result<Drawn> {
    let browser = Browser::start();
    let page = browser.person().page_with(&watch_for(LAST), link);
    let (address, _) = link.split_once("/enter").context("the link has a path")?;
    let (mut inside, mut opened_us, mut toggled_us) = (0, Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        page.go("about:blank");
        page.go(&format!("{address}/t/{thread}"));
        page.until("the last words", "window.drawnAt");
        opened_us.push(micros(page.eval("window.drawnAt")));
        for is_open in [true, false] {
            toggled_us.push(micros(page.eval(TOGGLE)));
            let state: String = page.eval(&format!("{FIRST}.getAttribute('aria-expanded')"));
            ensure!(state == is_open.to_string(), "a click on the group did nothing: {state}");
            if is_open {
                inside = page.eval(INSIDE);
            }
        }
    }
    Ok(Drawn { frames: frames(&page, thread), inside, opened_us, toggled_us })
}

fn frames(page: &Page, thread: &str) -> u64 {
    let count = format!(
        "fetch('/api/v1/threads/{thread}/events', {{
            // As the page itself does.
            headers: {{ 'x-majordomo-page': localStorage.getItem('majordomo-page') }},
        }}).then(async (answer) => {{
            const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
            let text = '';
            while (!text.includes('\"type\":\"done\"')) text += (await reader.read()).value;
            await reader.cancel();
            return text.split('\\ndata: ').length - 1;
        }})"
    );
    page.eval(&count)
}

/// Notes when these words are on the screen: in the frame after the one in which they were found.
fn watch_for(words: &str) -> String {
    format!(
        "{{
            const look = () => {{
                if (document.body?.textContent.includes('{words}'))
                    requestAnimationFrame(() => setTimeout(() => (window.drawnAt = performance.now())));
                else requestAnimationFrame(look);
            }};
            requestAnimationFrame(look);
        }}"
    )
}

const FIRST: &str = "document.querySelector('[data-testid=group-toggle]')";

/// Clicks on the first group; how long until what that changes was drawn.
const TOGGLE: &str = "new Promise((done) => {
    const begun = performance.now();
    document.querySelector('[data-testid=group-toggle]').click();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
})";

const INSIDE: &str = "document.querySelector('[data-testid=group-toggle]').closest('[data-testid^=subagent-group]').querySelectorAll('*').length";

fn micros(ms: f64) -> u64 {
    (ms * 1000.0) as u64
}
