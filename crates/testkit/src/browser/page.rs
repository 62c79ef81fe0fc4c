//! One tab: what is read there, what a person does with it, and how long one waits for it.

use std::fs;
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::finding::{MISSED, everything, reading, seen, target};
use super::keys;
use super::notes::{Complaint, Notes, Request};
use super::wire::Wire;
use crate::world::PATIENCE;

/// Between two looks at a page that one waits for.
const PAUSE: Duration = Duration::from_millis(20);
/// As much of a page's text is told where a test fails.
const TOLD: usize = 6000;

/// A tab with a page.
pub struct Page {
    wire: Arc<Wire>,
    session: String,
    notes: Arc<Notes>,
}

impl Page {
    pub(super) fn open(wire: &Arc<Wire>, context: &str, script: &str, url: &str) -> Self {
        // A window of its own: a tab behind another one is drawn once a second.
        let blank = json!({"url": "about:blank", "browserContextId": context, "newWindow": true});
        let tab = wire.ask(None, "Target.createTarget", &blank).expect("a tab");
        let attach = json!({"targetId": tab["targetId"], "flatten": true});
        let attached = wire.ask(None, "Target.attachToTarget", &attach).expect("a session");
        let session = attached["sessionId"].as_str().expect("a name").to_owned();
        let page = Self { wire: wire.clone(), session, notes: Arc::default() };
        wire.attend(&page.session, page.notes.clone());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.ask(&format!("{domain}.enable"), &json!({}));
        }
        // Every tab is the one that is looked at, whichever was opened last.
        page.ask("Emulation.setFocusEmulationEnabled", &json!({"enabled": true}));
        page.resize(1280, 900);
        page.prefers("light");
        if !script.is_empty() {
            page.ask("Page.addScriptToEvaluateOnNewDocument", &json!({"source": script}));
        }
        page.go(url);
        page
    }

    /// Goes to an address and waits until everything there is loaded.
    #[track_caller]
    pub fn go(&self, url: &str) {
        let gone = self.ask("Page.navigate", &json!({"url": url}));
        assert!(gone["errorText"].is_null(), "{url}: {}", gone["errorText"]);
        self.until("the page to be loaded", "document.readyState === 'complete'");
    }

    /// Loads the page again.
    #[track_caller]
    pub fn reload(&self) {
        // Where the mark is found, the page from before is still there.
        self.eval::<Value>("void (window.isOld = true)");
        self.ask("Page.reload", &json!({}));
        self.until("the page to be loaded again", "!window.isOld && document.readyState === 'complete'");
    }

    /// Gives the page so much room.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Says which colours the person likes, `light` or `dark`, and that nothing should move.
    pub fn prefers(&self, colours: &str) {
        let features = json!([
            {"name": "prefers-color-scheme", "value": colours},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]);
        self.ask("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// What an expression comes to in the page; one that promises something is waited for.
    #[track_caller]
    pub fn eval<T: DeserializeOwned>(&self, script: &str) -> T {
        let value = self.value(script).unwrap_or_else(|error| panic!("{error}\nin {script}"));
        serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}\nin {script}"))
    }

    /// Waits until an expression holds in the page.
    #[track_caller]
    pub fn until(&self, what: &str, script: &str) {
        let holds = || match self.value(&format!("!!({script})")) {
            Ok(Value::Bool(true)) => Ok(()),
            Ok(_) => Err(String::new()),
            Err(error) => Err(error),
        };
        self.poll(what, holds);
    }

    /// Waits until an element can be seen.
    #[track_caller]
    pub fn wait_for(&self, selector: &str) {
        self.until(selector, &format!("{}.length", seen(selector)));
    }

    /// Waits until no such element can be seen.
    #[track_caller]
    pub fn wait_for_no(&self, selector: &str) {
        self.until(&format!("no {selector}"), &format!("!{}.length", seen(selector)));
    }

    /// Waits until an element that can be seen says something.
    #[track_caller]
    pub fn wait_for_text(&self, selector: &str, text: &str) {
        let says = format!("{}.some((node) => {}.includes({}))", seen(selector), reading("node"), json!(text));
        self.until(&format!("{text:?} in {selector}"), &says);
    }

    /// What the style sheets say under a selector, whether or not it applies at this moment.
    #[track_caller]
    pub fn rule(&self, selector: &str, field: &str) -> String {
        self.eval(&format!(
            "[...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule.selectorText === {})
                .map((rule) => rule.style[{}]).find(Boolean) ?? ''",
            Value::from(selector),
            Value::from(field),
        ))
    }

    /// The text of the first such element, once it can be seen.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        self.wait_for(selector);
        self.texts(selector).swap_remove(0)
    }

    /// The texts of all such elements that can be seen.
    #[track_caller]
    pub fn texts(&self, selector: &str) -> Vec<String> {
        self.eval(&format!("{}.map((node) => {})", seen(selector), reading("node")))
    }

    /// How many such elements can be seen.
    #[track_caller]
    pub fn count(&self, selector: &str) -> usize {
        self.texts(selector).len()
    }

    /// Clicks on the first such element, once it can be hit.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        self.poll(&format!("{selector} to click on"), || {
            let found = self.value(&target(selector))?;
            let (Some(x), Some(y)) = (found["x"].as_f64(), found["y"].as_f64()) else {
                return Err(found["why"].as_str().unwrap_or_default().to_owned());
            };
            for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
                let button = if kind == "mouseMoved" { "none" } else { "left" };
                let event = json!({
                    "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1,
                });
                self.ask("Input.dispatchMouseEvent", &event);
            }
            // A page that is being left has no answer, and was hit.
            match self.value(MISSED) {
                Ok(Value::Bool(true)) => Err("it moved away under the pointer".to_owned()),
                _ => Ok(()),
            }
        });
    }

    /// Clicks into a field and writes there, in the place of what was in it.
    #[track_caller]
    pub fn fill(&self, selector: &str, text: &str) {
        self.click(selector);
        self.press("Control+a");
        self.ask("Input.insertText", &json!({"text": text}));
    }

    /// Chooses files in a field for files, as a person does in the dialog of the browser.
    #[track_caller]
    pub fn choose(&self, selector: &str, files: &[&Path]) {
        let field = json!({"expression": format!("document.querySelector({})", json!(selector))});
        let found = self.ask("Runtime.evaluate", &field);
        let object = found["result"]["objectId"].as_str().unwrap_or_else(|| panic!("there is no {selector}"));
        let files: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
        self.ask("DOM.setFileInputFiles", &json!({"files": files, "objectId": object}));
    }

    /// Writes, key by key, wherever the page's attention is.
    #[track_caller]
    pub fn keys(&self, text: &str) {
        for sign in text.chars() {
            self.press(sign.encode_utf8(&mut [0; 4]));
        }
    }

    /// Presses a key, with others held down: `Enter`, `a`, `?`, `Shift+ArrowRight`.
    #[track_caller]
    pub fn press(&self, key: &str) {
        let [mut down, up] = keys::press(key);
        if key == "Control+a" {
            // What the system's keyboard would make of it: without a window there is none.
            down["commands"] = json!(["selectAll"]);
        }
        self.ask("Input.dispatchKeyEvent", &down);
        self.ask("Input.dispatchKeyEvent", &up);
    }

    /// Answers every request to an address, of which `*` stands for any part, in the place of a server.
    pub fn answer(&self, url: &str, kind: &str, body: &str) {
        self.notes.answer_with(kind, body);
        self.ask("Fetch.enable", &json!({"patterns": [{"urlPattern": url}]}));
    }

    /// Runs a script that the page itself would not be allowed to load.
    #[track_caller]
    pub fn run_foreign(&self, script: &str) {
        let ran = self.ask("Runtime.evaluate", &json!({"expression": script, "returnByValue": false}));
        assert!(ran["exceptionDetails"].is_null(), "{}", ran["exceptionDetails"]);
    }

    /// Everything that the page asked for so far.
    pub fn requests(&self) -> Vec<Request> {
        self.notes.requests()
    }

    /// Everything that the page complained about so far.
    pub fn console_errors(&self) -> Vec<Complaint> {
        self.notes.complaints()
    }

    /// A picture of what can be seen, as a PNG.
    pub fn screenshot(&self, path: &Path) {
        let shot = self.ask("Page.captureScreenshot", &json!({"format": "png"}));
        let bytes = STANDARD.decode(shot["data"].as_str().expect("a picture")).expect("a picture");
        fs::write(path, bytes).expect("a file");
    }

    fn value(&self, script: &str) -> Result<Value, String> {
        let with = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
        let mut answer = self.wire.ask(Some(&self.session), "Runtime.evaluate", &with)?;
        match &answer["exceptionDetails"] {
            Value::Null => Ok(answer["result"]["value"].take()),
            thrown => Err(thrown["exception"]["description"].as_str().unwrap_or("it threw something").to_owned()),
        }
    }

    #[track_caller]
    fn ask(&self, method: &str, with: &Value) -> Value {
        self.wire.ask(Some(&self.session), method, with).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Looks again and again, and says in the end what was there instead. A page that is being left has no answer for a while.
    #[track_caller]
    fn poll<T>(&self, what: &str, look: impl Fn() -> Result<T, String>) -> T {
        let begun = Instant::now();
        loop {
            match look() {
                Ok(found) => return found,
                Err(why) if begun.elapsed() > PATIENCE => self.give_up(what, &why, Location::caller()),
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    fn give_up(&self, what: &str, why: &str, place: &Location<'_>) -> ! {
        let shown = self.value(&everything()).unwrap_or(Value::Null);
        let shown: String = shown.as_str().unwrap_or_default().chars().take(TOLD).collect();
        let complaints = self.console_errors();
        panic!("{place}: waited in vain for {what} {why}\nthe page shows: {shown}\nit complained of: {complaints:#?}");
    }
}
