//! What a model thought before it answered, out of the blocks that are kept for its provider. Encrypted thoughts stay closed.

use agent::Json;
use agent::message::Part;
use serde_json::Value;

/// All thoughts of an answer, as one text; none where there are none that can be read.
pub(crate) fn of_all(parts: &[Part]) -> Option<String> {
    let thoughts = |part: &Part| if let Part::Opaque { raw, .. } = part { of(raw) } else { None };
    let texts: Vec<String> = parts.iter().filter_map(thoughts).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// The thoughts in a block, as text; none where there are none that can be read.
pub(crate) fn of(raw: &Json) -> Option<String> {
    let block = raw.value();
    let texts = |list: &Value, key: &str| -> String {
        let parts = list.as_array().map(Vec::as_slice).unwrap_or_default();
        parts.iter().filter_map(|part| part[key].as_str()).collect::<Vec<_>>().join("\n\n")
    };
    let found = [
        block["thinking"].as_str().map(str::to_owned),
        block["reasoning_content"].as_str().map(str::to_owned),
        block["reasoning"].as_str().map(str::to_owned),
        block["think"].as_str().map(|text| text.replace("<think>", "").replace("</think>", "")),
        (block["thought"] == true).then(|| block["text"].as_str().unwrap_or_default().to_owned()),
        Some(texts(&block["thinking_blocks"], "thinking")),
        Some(texts(&block["reasoning_details"], "text")),
        Some(texts(&block["reasoning_details"], "summary")),
        Some(texts(&block["summary"], "text")),
    ];
    found.into_iter().flatten().map(|text| text.trim().to_owned()).find(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn thoughts_are_read_in_every_form_that_is_kept() {
        for block in [
            json!({"type": "thinking", "thinking": "hm", "signature": "s"}),
            json!({"reasoning_content": "hm"}),
            json!({"reasoning": "hm"}),
            json!({"think": "<think>\nhm\n</think>\n\n"}),
            json!({"text": "hm", "thought": true}),
            json!({"thinking_blocks": [{"type": "thinking", "thinking": "hm"}, {"type": "redacted_thinking", "data": "x"}]}),
            json!({"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]}),
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "e"}),
        ] {
            assert_eq!(of(&Json::of(&block)).as_deref(), Some("hm"), "{block}");
        }
        for block in [json!({"type": "redacted_thinking", "data": "x"}), json!({"thoughtSignature": "s"}), json!("hm")]
        {
            assert_eq!(of(&Json::of(&block)), None, "{block}");
        }
    }
}
