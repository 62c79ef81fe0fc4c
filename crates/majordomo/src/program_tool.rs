//! A tool of the program that embeds the library: an async function, and what the rules must know about it.
//!
//! The JSON Schema of its arguments comes from their type. Left to others: whether a call is allowed (`agent`), when it runs and
//! what ends it (`runtime`).

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use agent::Json;
use agent::tools::{Assessment, Reach, Risk, ToolInfo, ToolResult};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tool::{Registry, ToolContext};

use crate::staff::Error;
use crate::typed::schema_of;

/// Why a tool failed: any error, or a text by `.into()`. The model reads it.
pub type ToolError = Box<dyn StdError + Send + Sync>;

/// The most characters of a result that a model reads; the rest is left out, and that is said.
const MOST_CHARS: usize = 100_000;
/// The longest name that every provider accepts.
const LONGEST_NAME: usize = 64;

/// A tool that agents can call.
///
/// ```
/// use majordomo::Tool;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct City {
///     /// The name of the city, in English.
///     name: String,
/// }
///
/// #[derive(Serialize)]
/// struct Weather {
///     celsius: f64,
/// }
///
/// let weather = Tool::from_fn("get_weather", "Current weather of a city", |city: City| async move {
///     match city.name.as_str() {
///         "Paris" => Ok(Weather { celsius: 21.5 }),
///         other => Err(format!("no weather station in {other}").into()),
///     }
/// })
/// .read_only();
/// ```
///
/// **What a call needs.** Nothing is known about what a function does, so that by default each call needs approval: in the modes
/// `ask` and `auto` it is put to the [approval handler](crate::StaffBuilder::approve), and refused where there is none; in `plan` it
/// is refused; in `dangerous` it runs. A tool that changes nothing is declared so by [`read_only`](Self::read_only) and runs in every
/// mode without asking. A [rule](crate::StaffBuilder::rule) that allows the tool by its name lifts the question, too.
///
/// **When it is stopped**, its future is dropped. After a crash a read-only call runs again when the run is resumed; any other does
/// not, and the model is told that the outcome is unknown.
#[derive(Clone)]
pub struct Tool {
    info: ToolInfo,
    act: Act,
    /// Where its texts come from, where that is not to be trusted.
    untrusted: Option<Arc<str>>,
}

#[derive(Clone)]
enum Act {
    Function(Arc<dyn Fn(Value) -> BoxFuture<'static, Result<Value, Failed>> + Send + Sync>),
    Object(Arc<dyn tool::Tool>),
}

/// Why a function gave no result.
enum Failed {
    /// Its arguments are not what it takes.
    Arguments(serde_json::Error),
    /// It failed.
    Itself(ToolError),
    /// What it returns cannot be written as JSON.
    Result(serde_json::Error),
}

impl Tool {
    /// A tool from an async function. `A` is a struct whose fields are the arguments (`()` for none); its doc comments are read by
    /// the model. What is returned is given to the model as JSON, a `String` as it is.
    pub fn from_fn<A, F, R, T>(name: impl Into<Arc<str>>, description: impl Into<Arc<str>>, function: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, ToolError>> + Send + 'static,
        T: Serialize,
    {
        let mut schema = schema_of::<A>();
        let takes_nothing = schema["type"] == "null";
        if takes_nothing {
            schema = json!({ "type": "object", "properties": {} });
        }
        let function = Arc::new(function);
        let act = move |input: Value| {
            let input = if takes_nothing { Value::Null } else { input };
            let function = function.clone();
            async move {
                let args = serde_json::from_value(input).map_err(Failed::Arguments)?;
                let result = function(args).await.map_err(Failed::Itself)?;
                serde_json::to_value(result).map_err(Failed::Result)
            }
            .boxed()
        };
        let info = ToolInfo {
            name: name.into(),
            description: description.into(),
            schema: Json::of(&schema),
            reach: Reach::World,
            idempotent: false,
            risk: Risk::High,
        };
        Self { info, act: Act::Function(Arc::new(act)), untrusted: None }
    }

    /// A tool that is an object, for one that judges each call by its arguments (`assess`) or works on the files of the workspace.
    pub fn from_object(tool: impl tool::Tool + 'static) -> Self {
        Self { info: tool.info().clone(), act: Act::Object(Arc::new(tool)), untrusted: None }
    }

    /// It only looks: calls need no approval, run in every mode and beside each other, and again after a crash.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.reach(Reach::ReadOnly).risk(Risk::Low).idempotent()
    }

    /// How far it reaches; [`Reach::World`] where nothing is said. With [`Reach::Workspace`] it runs without asking in mode `auto`,
    /// unless its risk is high.
    #[must_use]
    pub fn reach(mut self, reach: Reach) -> Self {
        self.info.reach = reach;
        self
    }

    /// How much a person should think before allowing a call; [`Risk::High`] where nothing is said.
    #[must_use]
    pub fn risk(mut self, risk: Risk) -> Self {
        self.info.risk = risk;
        self
    }

    /// Running it a second time with the same arguments does no harm.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.info.idempotent = true;
        self
    }

    /// Its results hold text of strangers, such as web pages or mails: they are marked as data for the model, and what an agent does
    /// after it has read them counts as one level riskier. `origin` names where they come from.
    #[must_use]
    pub fn untrusted(mut self, origin: impl Into<Arc<str>>) -> Self {
        self.untrusted = Some(origin.into());
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// Adds it to others, or says what is wrong with it.
    pub(crate) fn add_to(self, registry: Registry) -> Result<Registry, Error> {
        let name = &self.info.name;
        let wrong = |why: String| Err(Error::Tool { name: name.clone(), why });
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
            return wrong(format!("a name has up to {LONGEST_NAME} letters, digits, '_' and '-', and nothing else"));
        }
        if agent::policy::VERBS.contains(&&**name) {
            return wrong("agents start and stop sub-agents by this name: choose another".to_owned());
        }
        if self.info.description.trim().is_empty() {
            return wrong("it has no description, by which a model knows when to call it".to_owned());
        }
        if self.info.schema.value()["type"] != "object" {
            return wrong("its arguments must be a struct with named fields, or ()".to_owned());
        }
        Ok(registry.with(self))
    }

    /// The arguments that the tool does not have, in words for the end of its result.
    fn ignored(&self, input: &Value) -> String {
        let schema = self.info.schema.value();
        let (Some(known), Some(given)) = (schema["properties"].as_object(), input.as_object()) else {
            return String::new();
        };
        let is_open = schema.get("additionalProperties").is_some_and(|more| *more != json!(false));
        let ignored: Vec<&str> = given.keys().filter(|key| !known.contains_key(*key)).map(String::as_str).collect();
        match ignored.is_empty() || is_open {
            true => String::new(),
            false => format!("\n(ignored, for {} has no such arguments: {})", self.info.name, ignored.join(", ")),
        }
    }

    fn told(&self, result: Result<Value, Failed>, input: &Value) -> ToolResult {
        let name = &self.info.name;
        let result = match result {
            Ok(Value::String(text)) => ToolResult::ok(clipped(text) + &self.ignored(input)),
            Ok(Value::Null) => ToolResult::ok("done".to_owned() + &self.ignored(input)),
            Ok(value) => ToolResult::ok(clipped(value.to_string()) + &self.ignored(input)),
            Err(Failed::Arguments(error)) => ToolResult::error(format!(
                "{name} was not run, its arguments cannot be read: {error}. Their JSON Schema is {}",
                self.info.schema.text()
            )),
            Err(Failed::Itself(error)) => {
                ToolResult { executed: true, ..ToolResult::error(clipped(error.to_string())) }
            }
            Err(Failed::Result(error)) => ToolResult {
                executed: true,
                ..ToolResult::error(format!("{name} ran, and its result cannot be written as JSON: {error}"))
            },
        };
        ToolResult { foreign: self.untrusted.clone(), ..result }
    }
}

impl tool::Tool for Tool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assess(&self, input: &Json, workspace: &Path) -> Assessment {
        match &self.act {
            Act::Object(tool) => tool.assess(input, workspace),
            Act::Function(_) => {
                // Consent for more than once is for the tool, whatever its arguments are: nothing is known about them.
                let standing = Some("*".into());
                Assessment { digest: "".into(), standing, ..Assessment::of(&self.info, input) }
            }
        }
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        let act = match &self.act {
            Act::Object(tool) => {
                let foreign = self.untrusted.clone();
                let ran = tool.run(input, context);
                return ran.map(|result| ToolResult { foreign: foreign.or(result.foreign.clone()), ..result }).boxed();
            }
            Act::Function(act) => act,
        };
        async move {
            let value = input.value();
            tokio::select! {
                biased;
                () = context.stop.cancelled() => {
                    ToolResult::error(format!("{} was stopped; what it had begun is not known", self.info.name))
                }
                result = act(value.clone()) => self.told(result, &value),
            }
        }
        .boxed()
    }

    fn clear(&self, input: &Json, context: &ToolContext) {
        if let Act::Object(tool) = &self.act {
            tool.clear(input, context);
        }
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("info", &self.info).finish_non_exhaustive()
    }
}

fn clipped(text: String) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        None => text,
        Some((at, _)) => {
            let all = text.chars().count();
            format!("{}\n(cut off: the first {MOST_CHARS} of {all} characters)", &text[..at])
        }
    }
}
