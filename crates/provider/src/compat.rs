//! What one server takes for one model, where servers of the same wire differ: known from its address and the model's name, and
//! learnt from its own errors.
//!
//! A server that refuses a part of a request is asked again without it. That is a failure of kind `Unsupported`, so that the rules
//! decide about the next attempt and log it. What was learnt holds for the process. Each lesson is learnt once: a server that still
//! refuses has refused for good. What is said about one conversation alone is left to `lessons.rs`.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use agent::message::Role;

use crate::codec::Host;
use crate::config::{ModelSettings, Wire};
use crate::conversation::Ask;
use crate::failure::output_limit;
use crate::history::{Held, History};
use crate::models::{Ability, ModelEntry};
use crate::settings;

/// The form of requests to one model of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compat {
    /// The name of the limit of an answer.
    pub(crate) limit: LimitName,
    /// The longest answer that the server gives, where it refused a longer one.
    pub(crate) most_output_tokens: Option<u64>,
    /// Whether the model takes tools.
    pub(crate) tools: bool,
    /// Whether the model may be one that can be told how much to think.
    pub(crate) takes_effort: bool,
    /// How the schema of an answer is asked for.
    pub(crate) schema: SchemaForm,
    /// Whether images are shown to the model, and documents. What is known before the first request is left to `attached.rs`.
    pub(crate) images: bool,
    pub(crate) documents: bool,
    /// Whether an answer without words is sent back with an empty text in the place of null.
    pub(crate) empty_words: bool,
    /// Whether the model's thoughts are sent back where they are plain text. Signed ones always are.
    pub(crate) returns_thoughts: bool,
    /// Whether calls that another model made are sent with what the server demands beside a call of its own: an empty thought, or a
    /// placeholder for a signature.
    pub(crate) fills_thoughts: bool,
    pub(crate) fills_signatures: bool,
    /// Whether marks say which part of the prompt is worth keeping.
    pub(crate) takes_marks: bool,
    /// Fields that are left out.
    pub(crate) omitted: Vec<&'static str>,
    pub(crate) learnt: Learnt,
}

/// The optional fields of a request, by the names under which what a server refused is remembered.
pub(crate) mod field {
    pub(crate) const DISPLAY: &str = "display";
    pub(crate) const EFFORT: &str = "effort";
    pub(crate) const INCLUDE: &str = "include";
    pub(crate) const REASONING: &str = "reasoning";
    pub(crate) const REASONING_EFFORT: &str = "reasoning_effort";
    pub(crate) const SUMMARY: &str = "summary";
    pub(crate) const TEMPERATURE: &str = "temperature";
    pub(crate) const THINK: &str = "think";
    pub(crate) const THINKING: &str = "thinking";
    pub(crate) const THOUGHTS: &str = "thoughts";
}

/// What the table of models, or the user, says that a model takes. What nothing is said of is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Takes {
    /// Tools.
    pub(crate) tools: bool,
    /// A schema that its answer must fit.
    pub(crate) schema: bool,
    /// How much it should think.
    pub(crate) effort: bool,
}

impl Default for Takes {
    fn default() -> Self {
        Self { tools: true, schema: true, effort: true }
    }
}

impl Takes {
    /// What is said in an entry.
    pub(crate) fn of(entry: &ModelEntry) -> Self {
        let takes = |ability: Ability| entry.takes(ability) != Some(false);
        Self { tools: takes(Ability::Tools), schema: takes(Ability::Schema), effort: takes(Ability::Effort) }
    }
}

/// What need not be learnt again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Learnt {
    limit: bool,
    thoughts: bool,
}

/// The name of the limit of an answer on OpenAI's wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitName {
    MaxTokens,
    MaxCompletionTokens,
}

/// How the schema of an answer is asked for, from the surest way to the one that every model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaForm {
    /// The server holds the model to the schema.
    Strict,
    /// The server holds the model to JSON; the schema is in the prompt.
    JsonMode,
    /// The schema is in the prompt.
    Prompt,
}

impl SchemaForm {
    /// The form for a server that does not take this one; the last form where there is no other.
    fn next(self, wire: Wire) -> Self {
        match (self, wire) {
            (Self::Strict, Wire::OpenAi | Wire::Responses | Wire::Gemini | Wire::Ollama) => Self::JsonMode,
            (Self::Strict, Wire::Anthropic) | (Self::JsonMode | Self::Prompt, _) => Self::Prompt,
        }
    }
}

/// Hosts whose models want their thoughts back, and words in the names of such models, for gateways and local servers.
const THOUGHTFUL_HOSTS: [&str; 8] =
    ["deepseek.com", "openrouter.ai", "moonshot.ai", "moonshot.cn", "z.ai", "bigmodel.cn", "minimax.io", "mistral.ai"];
const THOUGHTFUL_MODELS: [&str; 7] = ["deepseek", "kimi", "glm-", "minimax", "mimo-", "magistral", "gpt-oss"];

/// Families that refuse the older name of the limit.
const NEWER_LIMIT: [&str; 6] = ["o1", "o3", "o4", "gpt-5", "gpt-6", "gpt-7"];

/// Whether a model of this name refuses calls without a signature: those of Gemini do from the third generation on.
fn demands_signatures(name: &str) -> bool {
    let generation = name.strip_prefix("gemini-").and_then(|rest| rest.split(['.', '-']).next()?.parse::<u32>().ok());
    generation.is_some_and(|generation| generation >= 3)
}

/// What is said of a stream that ends without a byte. Some servers (llama-cpp-python) answer so where they fail before the first word, and say
/// why only if they are asked without a stream.
pub(crate) const EMPTY_STREAM: &str = "the server sent an empty stream";

impl Compat {
    /// What is known before the first request.
    pub(crate) fn of(host: Host, wire: Wire, address: &str, model: &str, takes: Takes) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let is_newer = NEWER_LIMIT.iter().any(|family| name.starts_with(family));
        let limit = if host.is_openai || is_newer { LimitName::MaxCompletionTokens } else { LimitName::MaxTokens };
        let is_of = |end: &str| address == end || address.ends_with(&format!(".{end}"));
        let returns_thoughts = THOUGHTFUL_HOSTS.iter().any(|end| is_of(end))
            || THOUGHTFUL_MODELS.iter().any(|family| name.contains(family));
        Self {
            limit,
            most_output_tokens: None,
            tools: takes.tools,
            takes_effort: takes.effort,
            schema: if takes.schema { SchemaForm::Strict } else { SchemaForm::Strict.next(wire) },
            images: true,
            documents: true,
            empty_words: false,
            returns_thoughts,
            fills_thoughts: false,
            fills_signatures: wire == Wire::Gemini && demands_signatures(&name),
            takes_marks: host.takes_marks(model),
            omitted: Vec::new(),
            learnt: Learnt::default(),
        }
    }

    /// Whether an optional field is sent.
    pub(crate) fn sends(&self, field: &str) -> bool {
        !self.omitted.contains(&field)
    }

    /// The limit of an answer that is asked for where `wanted` is wanted.
    pub(crate) fn most_output(&self, wanted: u64) -> u64 {
        self.most_output_tokens.map_or(wanted, |most| most.min(wanted))
    }

    /// Learns from what a server said about a request that it refused: what is done about it, if anything is.
    fn learn(&mut self, said: &str, sent: &Sent) -> Option<&'static str> {
        let said = Said::new(said);
        if sent.tools && self.tools && said.is_any(&NO_TOOLS) {
            self.tools = false;
            return Some("the model takes no tools, and is asked without them");
        }
        if sent.held.images && self.images && said.is_about_images() && said.refuses_files() {
            self.images = false;
            return Some("images are left out, because the model does not take them");
        }
        if sent.held.documents && self.documents && said.is_about_documents() && said.refuses_files() {
            self.documents = false;
            return Some("documents are left out, because the model does not take them");
        }
        if sent.wire == Wire::OpenAi && self.sends("stream") && said.has(EMPTY_STREAM) {
            self.omitted.push("stream");
            return Some("it is asked without a stream, so that it can say why");
        }
        if let Some(most) = output_limit::told(&said.0).filter(|most| *most < sent.max_tokens) {
            self.most_output_tokens = Some(most);
            return Some("a shorter answer is asked for");
        }
        if sent.wire == Wire::OpenAi
            && !self.learnt.limit
            && !said.has("too large")
            && said.has("max_completion_tokens")
        {
            self.learnt.limit = true;
            self.limit = match self.limit {
                LimitName::MaxTokens => LimitName::MaxCompletionTokens,
                LimitName::MaxCompletionTokens => LimitName::MaxTokens,
            };
            return Some("the limit of the answer is sent under its other name");
        }
        if let Some(done) = self.learn_placeholders(&said, sent).or_else(|| self.learn_thoughts(&said, sent)) {
            return Some(done);
        }
        if sent.empty_answer && !self.empty_words && said.has("content") && said.is_any(&NO_NULL) {
            self.empty_words = true;
            return Some("answers without words are sent with an empty text");
        }
        if sent.schema && said.is_any(&ABOUT_SCHEMAS) {
            return self.next_schema_form(sent.wire);
        }
        let field = sent.optional.iter().copied().find(|field| self.sends(field) && said.refuses(field))?;
        self.omitted.push(field);
        Some("the field that it refused is left out")
    }

    fn learn_placeholders(&mut self, said: &Said, sent: &Sent) -> Option<&'static str> {
        let is_filled = match sent.wire {
            Wire::Gemini | Wire::OpenAi if said.has("missing a thought_signature") => &mut self.fills_signatures,
            Wire::OpenAi if said.wants_thoughts() && (self.returns_thoughts || !sent.thoughts) => {
                self.returns_thoughts = true;
                &mut self.fills_thoughts
            }
            _ => return None,
        };
        let is_new = sent.lacks_thoughts && !std::mem::replace(is_filled, true);
        is_new.then_some("calls that another model made are sent with a placeholder for what it thought")
    }

    fn learn_thoughts(&mut self, said: &Said, sent: &Sent) -> Option<&'static str> {
        let is_about = said.has("reasoning_content") || said.has("'reasoning'") || said.has("`reasoning`");
        if sent.wire != Wire::OpenAi || !sent.thoughts || self.learnt.thoughts || !is_about {
            return None;
        }
        self.learnt.thoughts = true;
        self.returns_thoughts = !self.returns_thoughts;
        Some(match self.returns_thoughts {
            true => "the model's thoughts are sent back to it",
            false => "the model's thoughts are not sent back to it",
        })
    }

    fn next_schema_form(&mut self, wire: Wire) -> Option<&'static str> {
        let next = self.schema.next(wire);
        if next == self.schema {
            return None;
        }
        self.schema = next;
        Some(match self.schema {
            SchemaForm::JsonMode => "the schema is put into the prompt, and JSON is asked for",
            SchemaForm::Strict | SchemaForm::Prompt => "the schema is put into the prompt",
        })
    }
}

/// What a request held that a server may refuse.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    wire: Wire,
    /// The limit of the answer.
    max_tokens: u64,
    /// Fields that it can do without.
    optional: Vec<&'static str>,
    tools: bool,
    schema: bool,
    /// An answer of the model without words.
    empty_answer: bool,
    /// Thoughts of the model, whether they were sent back or not.
    thoughts: bool,
    /// Answers beside which no thoughts were kept.
    lacks_thoughts: bool,
    /// What else was said that a server may not take.
    held: Held,
}

impl Sent {
    /// What the request for an answer holds, in which so much of the conversation is left.
    pub(crate) fn of(
        wire: Wire,
        model: &str,
        (history, held): (&History, Held),
        ask: &Ask,
        settings: &ModelSettings,
        compat: &Compat,
    ) -> Self {
        let tools = !history.opening.tools.is_empty();
        let is_chat = wire == Wire::OpenAi;
        let optional = [("stream_options", is_chat), ("tool_choice", is_chat && tools && !ask.calls_allowed)];
        let optional = optional.into_iter().filter(|(_, is_sent)| *is_sent).map(|(field, _)| field);
        Self {
            wire,
            max_tokens: ask.max_tokens,
            optional: optional.chain(settings::fields(wire, model, settings, compat)).collect(),
            tools,
            schema: ask.output_schema.is_some(),
            empty_answer: history.said.iter().any(|said| said.rest.contains(r#""content":null"#)),
            thoughts: history.said.iter().any(|said| !said.with_thoughts.is_empty()),
            lacks_thoughts: history.said.iter().any(|said| said.role == Role::Assistant && said.lacks_thoughts()),
            held,
        }
    }
}

/// The words of a server about a request, in small letters.
pub(crate) struct Said(String);

/// How servers say that a model takes no tools.
const NO_TOOLS: [&str; 11] = [
    "does not support tools",
    "does not support tool",
    "doesn't support tool",
    "tools are not supported",
    "tools is not supported",
    "support tool use",
    "tool calling is not supported",
    "tools param requires",
    "--enable-auto-tool-choice",
    "function calling is not enabled",
    "does not support function",
];

/// How servers name images, and documents.
const IMAGES: [&str; 3] = ["image", "vision", "multimodal"];
const DOCUMENTS: [&str; 7] = ["pdf", "document", "'file'", "\"file\"", "`file`", "input_file", "file input"];

/// How servers say that a model takes no files of a kind, beside the words by which they refuse a field.
const NO_FILES: [&str; 9] = [
    "only supported by",
    "not a multimodal",
    "not enabled",
    "no endpoints found",
    "missing data required",
    "unknown variant",
    "invalid value",
    "at most 0",
    "mmproj",
];

/// How servers say that null is no text.
const NO_NULL: [&str; 9] = [
    "null",
    "none is not",
    "nonetype",
    "valid string",
    "must be a string",
    "expected a string",
    "expected string",
    "is required",
    "field required",
];

/// How servers name the schema of an answer.
const ABOUT_SCHEMAS: [&str; 16] = [
    "response_format",
    "json_schema",
    "json_object",
    "output_config",
    "output_format",
    "text.format",
    "responsejsonschema",
    "response_json_schema",
    "responseschema",
    "response_schema",
    "response mime type",
    "responsemimetype",
    "response_mime_type",
    "structured output",
    // Ollama.
    "invalid format",
    "required for format",
];

/// How servers refuse a field.
const REFUSALS: [&str; 13] = [
    "unsupported",
    "not support",
    "not permitted",
    "not allowed",
    "unknown",
    "unrecognized",
    "unrecognised",
    "unexpected",
    "extra fields",
    "extra inputs",
    "invalid parameter",
    "cannot find field",
    "deprecated",
];

impl Said {
    pub(crate) fn new(said: &str) -> Self {
        Self(said.to_ascii_lowercase())
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    pub(crate) fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.has(word))
    }

    /// Whether images are what it is about. A server that names what it takes instead names it afterwards.
    pub(crate) fn is_about_images(&self) -> bool {
        let (images, documents) = self.files();
        images.is_some_and(|at| documents.is_none_or(|other| at < other))
    }

    pub(crate) fn is_about_documents(&self) -> bool {
        let (images, documents) = self.files();
        documents.is_some_and(|at| images.is_none_or(|other| at < other))
    }

    /// Where images and documents are named first.
    fn files(&self) -> (Option<usize>, Option<usize>) {
        let said = self.0.replace("documentation", "");
        let first = |words: &[&str]| words.iter().filter_map(|word| said.find(word)).min();
        (first(&IMAGES), first(&DOCUMENTS))
    }

    fn wants_thoughts(&self) -> bool {
        self.has("reasoning_content")
            && self.is_any(&["must be passed back", "missing", "is required", "field required"])
    }

    /// Whether anything is refused.
    pub(crate) fn is_refusal(&self) -> bool {
        self.is_any(&REFUSALS)
    }

    fn refuses_files(&self) -> bool {
        self.is_any(&NO_FILES) || self.is_any(&REFUSALS)
    }

    /// Whether a field is refused: it is named as a word of its own, and a refusal is.
    fn refuses(&self, field: &str) -> bool {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        // Gemini names the object, or the field in it.
        let names_amount = self.is_any(&[
            "thinking_level",
            "thinkinglevel",
            "thinking level",
            "thinking_budget",
            "thinkingbudget",
            "thinking budget",
        ]);
        let names_config = self.is_any(&["thinkingconfig", "thinking_config"]);
        let of_gemini = match field {
            field::THINKING => names_amount || names_config,
            field::THOUGHTS => self.is_any(&["includethoughts", "include_thoughts"]) || (names_config && !names_amount),
            // Anthropic names the object.
            field::DISPLAY => self.is_any(&["thinking", "adaptive"]),
            _ => false,
        };
        // What is said where the words above are not in it.
        let is_meant = match field {
            field::TEMPERATURE => self.has("temperature") && self.has("may only be set to"),
            field::SUMMARY => self.has("verified to generate reasoning summaries"),
            field::INCLUDE => self.has("encrypted content is not supported"),
            field::THOUGHTS => self.is_any(&["thinking is not enabled", "only enabled when thinking is enabled"]),
            _ => false,
        };
        // Ollama names what the field asks for, or the value that it does not know.
        let of_ollama = field == "think" && self.is_any(&["support thinking", "invalid think value", "think must be"]);
        let is_named = self
            .0
            .match_indices(field)
            .any(|(at, _)| !self.0[..at].ends_with(is_part) && !self.0[at + field.len()..].starts_with(is_part));
        of_ollama || is_meant || ((is_named || of_gemini) && self.is_any(&REFUSALS))
    }
}

/// What is known of the models of one provider.
#[derive(Debug, Default)]
pub(crate) struct CompatTable(Mutex<HashMap<String, Compat>>);

impl CompatTable {
    /// What a model takes, as far as it is known; `known` says what is before anything was learnt.
    pub(crate) fn of(&self, model: &str, known: impl FnOnce() -> Compat) -> Compat {
        let mut models = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        models.entry(model.to_owned()).or_insert_with(known).clone()
    }

    /// Learns from what a server said about a request that was made in the form of `asked`. Where another request has already
    /// taught something, that may be the cure, too.
    pub(crate) fn learn(&self, model: &str, asked: &Compat, said: &str, sent: &Sent) -> Option<&'static str> {
        let mut models = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = models.get_mut(model)?;
        let mut learnt = asked.clone();
        let done = learnt.learn(said, sent)?;
        if known == asked {
            *known = learnt;
        }
        Some(done)
    }

    /// The longest answer of a model, where its server refused a longer one.
    pub(crate) fn most_output_tokens(&self, model: &str) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(model)?.most_output_tokens
    }

    /// Asks for streams again: why there was none is known.
    pub(crate) fn stream_again(&self, model: &str) {
        let mut models = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = models.get_mut(model) {
            known.omitted.retain(|field| *field != "stream");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent() -> Sent {
        let optional = vec!["stream_options", "temperature"];
        let held = Held { thoughts: true, images: true, documents: true };
        Sent {
            wire: Wire::OpenAi,
            max_tokens: 512,
            optional,
            tools: true,
            schema: true,
            empty_answer: true,
            thoughts: true,
            lacks_thoughts: false,
            held,
        }
    }

    fn plain() -> Compat {
        Compat::of(Host::default(), Wire::OpenAi, "llm.example", "a-model", Takes::default())
    }

    /// What a server says, and whether it was understood.
    type Said = (&'static str, fn(&Compat) -> bool);

    #[test]
    fn what_real_servers_say_is_understood() {
        let newer = Compat { limit: LimitName::MaxCompletionTokens, ..plain() };
        let cases: [Said; 12] = [
            ("registry.ollama.ai/library/gemma:2b does not support tools", |it| !it.tools),
            ("tools param requires --jinja flag", |it| !it.tools),
            ("\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set", |it| {
                !it.tools
            }),
            ("No endpoints found that support tool use. To learn more about provider routing", |it| !it.tools),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                |it| it.limit == LimitName::MaxCompletionTokens,
            ),
            ("The reasoning_content in the thinking mode must be passed back to the API.", |it| it.returns_thoughts),
            ("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2", |it| {
                it.returns_thoughts
            }),
            ("Invalid value for 'content': expected a string, got null.", |it| it.empty_words),
            ("messages.1.content: Input should be a valid string", |it| it.empty_words),
            ("This response_format type is unavailable now", |it| it.schema == SchemaForm::JsonMode),
            ("[{'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]", |it| {
                !it.sends("stream_options")
            }),
            ("Unsupported value: 'temperature' does not support 0.2 with this model.", |it| !it.sends("temperature")),
        ];
        for (said, is_learnt) in cases {
            let mut compat = plain();
            assert!(compat.learn(said, &sent()).is_some(), "{said}");
            assert!(is_learnt(&compat), "{said}: {compat:?}");
        }
        let mut compat = newer;
        assert!(compat.learn("Unrecognized request argument supplied: max_completion_tokens", &sent()).is_some());
        assert_eq!(compat.limit, LimitName::MaxTokens);
    }

    #[test]
    fn nothing_is_learnt_twice_nor_from_what_was_not_sent() {
        for said in [
            "does not support tools",
            "use max_completion_tokens",
            "reasoning_content is missing",
            "content must not be null",
            "stream_options: extra inputs are not permitted",
            "image input is not supported",
            "does not support pdf input",
        ] {
            let mut compat = plain();
            assert!(compat.learn(said, &sent()).is_some(), "{said}");
            assert_eq!(compat.learn(said, &sent()), None, "{said}");
        }
        let mut compat = plain();
        let forms: Vec<bool> =
            (0..3).map(|_| compat.learn("json_schema is not supported", &sent()).is_some()).collect();
        assert_eq!((forms, compat.schema), (vec![true, true, false], SchemaForm::Prompt));
        let held = Held::default();
        let bare = Sent {
            optional: vec![],
            tools: false,
            schema: false,
            empty_answer: false,
            thoughts: false,
            held,
            ..sent()
        };
        for said in [
            "does not support tools",
            "json_schema",
            "content is null",
            "reasoning_content is missing",
            "image input is not supported",
            "does not support pdf input",
            "no",
        ] {
            assert_eq!(plain().learn(said, &bare), None, "{said}");
        }
    }

    #[test]
    fn hosts_and_families_that_want_their_thoughts_back_are_known() {
        let wants = |address: &str, model: &str| {
            Compat::of(Host::default(), Wire::OpenAi, address, model, Takes::default()).returns_thoughts
        };
        for (address, model) in [
            ("api.deepseek.com", "deepseek-v4-pro"),
            ("openrouter.ai", "anthropic/claude-sonnet-5-5"),
            ("127.0.0.1", "unsloth/DeepSeek-V4-GGUF"),
            ("gw.example", "kimi-k3-thinking"),
        ] {
            assert!(wants(address, model), "{address} {model}");
        }
        for (address, model) in [("notdeepseek.com", "a-model"), ("127.0.0.1", "qwen3:8b"), ("api.groq.com", "llama-4")]
        {
            assert!(!wants(address, model), "{address} {model}");
        }
    }
}
