//! How many tokens an answer of a model may have, read from the sentence by which a server refuses a larger limit.
//!
//! No wire has a field for it. A sentence that is not known says nothing, which is no error.

use super::window::leading;

/// How servers name the limit of an answer.
const NAMES: [&str; 8] = [
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "maxoutputtokens",
    "max_new_tokens",
    "num_predict",
    "maximum tokens",
    "output tokens",
];

/// What stands before the number.
const BEFORE: [&str; 8] = [
    // OpenAI: "max_tokens is too large: 16384. This model supports at most 4096 completion tokens, whereas you provided 16384."
    "supports at most ",
    // OpenAI's Responses API: "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 4096, but got 16384 instead."
    "expected a value <= ",
    // Groq: "`max_tokens` must be less than or equal to `8192`, …"
    "less than or equal to ",
    // DeepSeek: "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"
    "range of max_tokens is [1, ",
    // Gemini: "… has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 8193 (exclusive)."
    "(inclusive) to ",
    // Bedrock: "The maximum tokens you requested exceeds the model limit of 4096. …"
    "model limit of ",
    "must be <= ",
    // Anthropic: "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022"
    " > ",
];

/// How many tokens an answer may have, if a server's sentence says so.
pub(crate) fn told(sentence: &str) -> Option<u64> {
    let sentence = sentence.to_ascii_lowercase();
    // How many fit together with the prompt is something else.
    let is_about_it = NAMES.iter().any(|name| sentence.contains(name)) && !sentence.contains("context l");
    if !is_about_it {
        return None;
    }
    let (at, words) = BEFORE.iter().find_map(|words| Some((sentence.find(words)?, words)))?;
    let rest = sentence[at + words.len()..].trim_start_matches(['`', '\'', '"', ' ']);
    let number = leading(rest)?;
    let is_exclusive = rest.contains("(exclusive)");
    Some(number.saturating_sub(u64::from(is_exclusive))).filter(|tokens| *tokens > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentences_of_servers_say_how_long_an_answer_may_be() {
        for (sentence, tokens) in [
            (
                "max_tokens is too large: 16384. This model supports at most 4096 completion tokens, whereas you provided 16384.",
                4_096,
            ),
            (
                "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 4096, but got 16384 instead.",
                4_096,
            ),
            (
                "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022",
                8_192,
            ),
            ("`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less", 8_192),
            ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8_192),
            (
                "it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 8193 (exclusive).",
                8_192,
            ),
            ("The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower value.", 4_096),
            ("max_completion_tokens is too large: 90000. This model supports at most 32768 completion tokens.", 32_768),
        ] {
            assert_eq!(told(sentence), Some(tokens), "{sentence}");
        }
    }

    #[test]
    fn other_sentences_say_nothing_about_it() {
        for sentence in [
            "",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens is too large: 5000. This model's maximum context length is 4096 tokens and your request has 200 > 100",
            "temperature must be less than or equal to 2",
            "max_tokens: must be > 0",
        ] {
            assert_eq!(told(sentence), None, "{sentence}");
        }
    }
}
