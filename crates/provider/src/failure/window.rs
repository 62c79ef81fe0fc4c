//! How many tokens fit into a request, read from the sentence by which a server says that one did not fit.
//!
//! No wire has a field for it, except llama.cpp's. A sentence that is not known says nothing, which is no error.

/// Where the number stands.
enum Number {
    Before,
    After,
}

/// The sentences of servers, as far as they are always the same.
const SENTENCES: [(&str, Number); 9] = [
    // OpenAI, vLLM, DeepSeek, llama-cpp-python: "This model's maximum context length is 8192 tokens. However, …"
    ("maximum context length is", Number::After),
    // llama.cpp: "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"
    ("available context size (", Number::After),
    // llama-cpp-python: "Requested tokens (2500) exceed context window of 2048"
    ("context window of", Number::After),
    // LM Studio: "… the model is loaded with context length of only 4096 tokens …", "… (n_keep: 5000>= n_ctx: 4096)"
    ("context length of only", Number::After),
    ("n_ctx:", Number::After),
    // Gemini: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    ("maximum number of tokens allowed (", Number::After),
    // Anthropic: "prompt is too long: 210000 tokens > 200000 maximum"
    (" maximum", Number::Before),
    // Mistral: "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"
    (" maximum context length", Number::Before),
    // Anthropic: "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease …"
    (" > ", Number::After),
];

/// No model takes less, so that a smaller number means something else.
const LEAST: u64 = 256;

/// How many tokens fit into a request, if a server's sentence says so.
pub(super) fn told(sentence: &str) -> Option<u64> {
    let sentence = sentence.to_ascii_lowercase();
    SENTENCES.iter().find_map(|(words, place)| {
        let at = sentence.find(words)?;
        let number = match place {
            Number::After => leading(sentence[at + words.len()..].trim_start())?,
            Number::Before => trailing(&sentence[..at])?,
        };
        (number >= LEAST).then_some(number)
    })
}

pub(super) fn leading(text: &str) -> Option<u64> {
    let digits: String = text.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(|c| *c != ',').collect();
    digits.parse().ok()
}

fn trailing(text: &str) -> Option<u64> {
    let start = text.rfind(|c: char| !(c.is_ascii_digit() || c == ',')).map_or(0, |at| at + 1);
    // What is not a digit may have several bytes.
    leading(text.get(start..)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentences_of_servers_say_how_much_fits() {
        for (sentence, tokens) in [
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
                8192,
            ),
            (
                "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt \
                 contains at least 62466 input tokens, for a total of at least 128001 tokens.",
                128_000,
            ),
            (
                "This model's maximum context length is 2048 tokens, however you requested 2500 tokens (2000 in the messages, 500 in the completion).",
                2048,
            ),
            ("request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it", 8192),
            ("Requested tokens (2500) exceed context window of 2048", 2048),
            ("However, the model is loaded with context length of only 4,096 tokens, which is not enough.", 4096),
            ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
                200_000,
            ),
            ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
            (
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
                32_768,
            ),
        ] {
            assert_eq!(told(sentence), Some(tokens), "{sentence}");
        }
    }

    #[test]
    fn other_sentences_say_nothing() {
        for sentence in ["", "Please reduce the length of the messages", "é maximum", "at most 5 maximum", "a > b"] {
            assert_eq!(told(sentence), None, "{sentence}");
        }
    }
}
