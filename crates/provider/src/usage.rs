//! Token counts as they arrive: in any event, in part, or as nonsense. Later figures replace earlier ones key by key.

use agent::model::Tokens;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// What a stream has said about tokens.
#[derive(Debug, Default)]
pub(crate) struct UsageTally(Map<String, Value>);

impl UsageTally {
    /// Takes the usage object of one event. Anything that is no object is ignored: an answer is not lost over its bill.
    pub(crate) fn note(&mut self, usage: Option<&RawValue>) {
        let Some(Ok(figures)) = usage.map(|raw| serde_json::from_str::<Map<String, Value>>(raw.get())) else { return };
        self.0.extend(figures.into_iter().filter(|(_, figure)| !figure.is_null()));
    }

    /// The sum in Anthropic's words: three kinds of prompt tokens, told apart.
    pub(crate) fn anthropic(&self) -> Option<Tokens> {
        let cache_write = figure_or_zero(self.0.get("cache_creation_input_tokens"))?;
        let hour = self.0.get("cache_creation").and_then(|written| written.get("ephemeral_1h_input_tokens"));
        let output = figure(self.0.get("output_tokens"))?;
        Some(Tokens {
            input: figure(self.0.get("input_tokens"))?,
            output,
            cache_read: figure_or_zero(self.0.get("cache_read_input_tokens"))?,
            cache_write,
            cache_write_1h: figure_or_zero(hour)?.min(cache_write),
            reasoning: self.reasoned("output_tokens_details", "thinking_tokens", output)?,
        })
    }

    /// The sum in OpenAI's words: cached tokens are counted among the prompt's.
    pub(crate) fn openai(&self) -> Option<Tokens> {
        let (prompt, output) = (figure(self.0.get("prompt_tokens"))?, figure(self.0.get("completion_tokens"))?);
        let detail = |key: &str| {
            let details = self.0.get("prompt_tokens_details");
            figure_or_zero(details.and_then(|details| details.get(key)))
        };
        let cache_read = detail("cached_tokens")?.min(prompt);
        // OpenRouter says this, for models whose providers bill it.
        let cache_write = detail("cache_write_tokens")?.min(prompt - cache_read);
        Some(Tokens {
            input: prompt - cache_read - cache_write,
            cache_read,
            cache_write,
            output,
            reasoning: self.reasoned("completion_tokens_details", "reasoning_tokens", output)?,
            ..Tokens::default()
        })
    }

    /// The sum in the words of the Responses API: cached tokens, read and written, are counted among the prompt's.
    pub(crate) fn responses(&self) -> Option<Tokens> {
        let (prompt, output) = (figure(self.0.get("input_tokens"))?, figure(self.0.get("output_tokens"))?);
        let detail = |key: &str| {
            let details = self.0.get("input_tokens_details");
            figure_or_zero(details.and_then(|details| details.get(key)))
        };
        let cache_read = detail("cached_tokens")?.min(prompt);
        let cache_write = detail("cache_write_tokens")?.min(prompt - cache_read);
        Some(Tokens {
            input: prompt - cache_read - cache_write,
            cache_read,
            cache_write,
            output,
            reasoning: self.reasoned("output_tokens_details", "reasoning_tokens", output)?,
            ..Tokens::default()
        })
    }

    /// How many tokens of an answer were thought, where that is said.
    fn reasoned(&self, details: &str, key: &str, output: u64) -> Option<u64> {
        let details = self.0.get(details);
        Some(figure_or_zero(details.and_then(|details| details.get(key)))?.min(output))
    }

    /// The sum in Ollama's words. It does not say which part of the prompt it had read before.
    pub(crate) fn ollama(&self) -> Option<Tokens> {
        let (input, output) = (figure(self.0.get("prompt_eval_count"))?, figure(self.0.get("eval_count"))?);
        Some(Tokens { input, output, ..Tokens::default() })
    }

    /// The sum in Gemini's words: thoughts are counted apart from the answer, cached tokens among the prompt's.
    pub(crate) fn gemini(&self) -> Option<Tokens> {
        let count = |key: &str| figure_or_zero(self.0.get(key));
        let prompt = figure(self.0.get("promptTokenCount"))?.saturating_add(count("toolUsePromptTokenCount")?);
        let cache_read = count("cachedContentTokenCount")?.min(prompt);
        let reasoning = count("thoughtsTokenCount")?;
        let output = count("candidatesTokenCount")?.saturating_add(reasoning);
        Some(Tokens { input: prompt - cache_read, cache_read, output, reasoning, ..Tokens::default() })
    }
}

/// A count; none when it is missing, negative or no number, so that nobody computes with it.
fn figure(value: Option<&Value>) -> Option<u64> {
    value?.as_u64()
}

fn figure_or_zero(value: Option<&Value>) -> Option<u64> {
    match value {
        None | Some(Value::Null) => Some(0),
        Some(value) => value.as_u64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(events: &[&str]) -> UsageTally {
        let mut tally = UsageTally::default();
        for event in events {
            tally.note(Some(serde_json::from_str(event).expect("the test writes JSON")));
        }
        tally
    }

    #[test]
    fn figures_of_several_events_are_merged_key_by_key() {
        let usage = tally(&[
            r#"{"input_tokens":10,"cache_read_input_tokens":7,"output_tokens":1}"#,
            r#"{"output_tokens":40,"input_tokens":null}"#,
        ]);
        assert_eq!(usage.anthropic(), Some(Tokens { input: 10, cache_read: 7, output: 40, ..Tokens::default() }));
    }

    #[test]
    fn cached_tokens_are_taken_out_of_the_prompt() {
        let usage =
            tally(&[r#"{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":64}}"#]);
        assert_eq!(usage.openai(), Some(Tokens { input: 36, cache_read: 64, output: 5, ..Tokens::default() }));
    }

    #[test]
    fn tokens_that_were_thought_are_told_apart_and_stay_among_those_of_the_answer() {
        let openai = tally(&[
            r#"{"prompt_tokens":9,"completion_tokens":50,"completion_tokens_details":{"reasoning_tokens":40}}"#,
        ]);
        let responses =
            tally(&[r#"{"input_tokens":9,"output_tokens":50,"output_tokens_details":{"reasoning_tokens":40}}"#]);
        let gemini = tally(&[r#"{"promptTokenCount":9,"candidatesTokenCount":10,"thoughtsTokenCount":40}"#]);
        // The first event counts what was written until then.
        let anthropic = tally(&[
            r#"{"input_tokens":9,"output_tokens":1,"output_tokens_details":{"thinking_tokens":0}}"#,
            r#"{"output_tokens":50,"output_tokens_details":{"thinking_tokens":40}}"#,
        ]);
        for tokens in [openai.openai(), responses.responses(), gemini.gemini(), anthropic.anthropic()] {
            assert_eq!(tokens, Some(Tokens { input: 9, output: 50, reasoning: 40, ..Tokens::default() }));
        }
        let none = tally(&[r#"{"prompt_tokens":9,"completion_tokens":50,"completion_tokens_details":null}"#]);
        assert_eq!(none.openai().expect("counted").reasoning, 0);
    }

    #[test]
    fn what_is_written_for_an_hour_is_told_apart() {
        let usage = tally(&[r#"{"input_tokens":10,"cache_creation_input_tokens":100,"output_tokens":1,
                "cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":70}}"#]);
        let tokens = usage.anthropic().expect("counted");
        assert_eq!((tokens.cache_write, tokens.cache_write_1h, tokens.prompt()), (100, 70, 110));
    }

    #[test]
    fn missing_negative_and_senseless_usage_is_no_usage() {
        // F18
        for bad in [
            r#"{}"#,
            r#"[]"#,
            r#""many""#,
            r#"{"input_tokens":-5,"output_tokens":1,"prompt_tokens":-5,"completion_tokens":1}"#,
            r#"{"input_tokens":1,"output_tokens":1.5,"prompt_tokens":1,"completion_tokens":"2"}"#,
            r#"{"input_tokens":1,"output_tokens":1,"cache_read_input_tokens":-1}"#,
        ] {
            assert_eq!(tally(&[bad]).anthropic(), None, "{bad}");
            assert_eq!(tally(&[bad]).openai(), None, "{bad}");
        }
    }
}
