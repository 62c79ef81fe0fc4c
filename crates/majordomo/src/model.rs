//! The model of a staff: by its name, from a script, or an object of the program.

use std::fmt;
use std::sync::Arc;

use provider::scripted::Script;
use provider::{Providers, Resident};

/// The name by which the script of a program is known: `scripted/program`.
const SCRIPT: &str = "program";

/// A model that agents speak with.
///
/// A text is a name such as `anthropic/claude-sonnet-5-5`, `openai/gpt-6.1-sol` or `ollama/qwen3`; everything behind the first `/` is the
/// provider's own name of the model.
pub struct Model(Source);

enum Source {
    Named(String),
    /// The TOML of a script.
    Scripted(String),
    Own {
        name: String,
        model: Arc<dyn Resident>,
    },
}

impl Model {
    /// A model that answers every conversation with these texts, in order: for tests and examples, without a key or a network.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), majordomo::Error> {
    /// use majordomo::{Model, Staff};
    ///
    /// let staff = Staff::builder().model(Model::replies(["Paris", "Lyon"])).build().await?;
    /// let session = staff.session();
    /// assert_eq!(&*session.send("The capital of France?").await?.text, "Paris");
    /// assert_eq!(&*session.send("Which city comes second?").await?.text, "Lyon");
    /// # Ok(())
    /// # }
    /// ```
    pub fn replies<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        let reply = |text: T| format!("[[script.reply]]\ntext = {}\n", toml::Value::String(text.into()));
        Self::scripted(format!("[[script]]\n{}", texts.into_iter().map(reply).collect::<String>()))
    }

    /// A model that plays a script: TOML with what it says, which tools it calls and how it fails, for each conversation and in
    /// order. `SCRIPTED.md` of the crate `provider` describes the format.
    pub fn scripted(script: impl Into<String>) -> Self {
        Self(Source::Scripted(script.into()))
    }

    /// A model that is an object of this program, known as `program/NAME`: for a model that is reached in another way than by one of
    /// the providers. Its figures can be set (`models."program/NAME".context_tokens`, `.price.input` and so on).
    pub fn own(name: impl Into<String>, model: impl Resident + 'static) -> Self {
        Self(Source::Own { name: name.into(), model: Arc::new(model) })
    }

    /// `provider/model`.
    pub(crate) fn name(&self) -> String {
        match &self.0 {
            Source::Named(name) => name.clone(),
            Source::Scripted(_) => format!("scripted/{SCRIPT}"),
            Source::Own { name, .. } => format!("program/{name}"),
        }
    }

    /// Makes it known to the providers.
    pub(crate) fn install(&self, providers: Providers) -> Result<Providers, provider::Error> {
        match &self.0 {
            Source::Named(_) => {}
            Source::Scripted(text) => providers.add_script(SCRIPT, Script::parse("of the program", text)?),
            Source::Own { model, .. } => return Ok(providers.with_resident(&self.name(), model.clone())),
        }
        Ok(providers)
    }
}

impl From<&str> for Model {
    fn from(name: &str) -> Self {
        Self(Source::Named(name.to_owned()))
    }
}

impl From<String> for Model {
    fn from(name: String) -> Self {
        Self(Source::Named(name))
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model({})", self.name())
    }
}
