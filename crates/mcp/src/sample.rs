//! What a server wants to hear from a model, in the words of the protocol and in ours.
//!
//! Only words are taken. Images, sounds and tools for the model are refused; wishes about the model, its temperature and the context that it
//! should be given are not followed: it hears the server's words and nothing of the conversation.

#![expect(deprecated, reason = "servers of earlier revisions ask a model")]

use agent::Json;
use agent::sampling::Sampled;
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, Role, SamplingMessage, SamplingMessageContentBlock,
};
use serde_json::{Value, json};

/// The request as a [`SamplingRequest`](agent::sampling::SamplingRequest) reads it; or why no model is asked.
pub(crate) fn request(params: CreateMessageRequestParams) -> Result<Json, &'static str> {
    if params.tools.is_some_and(|tools| !tools.is_empty()) {
        return Err("a model that is asked for a server has no tools");
    }
    let message = |message: SamplingMessage| {
        let role = if message.role == Role::User { "user" } else { "assistant" };
        let words = message.content.into_vec().into_iter().map(|part| match part {
            SamplingMessageContentBlock::Text(text) => Ok(text.text),
            _ => Err("a model is asked for a server with words alone, without images, sounds and tools"),
        });
        let words: Vec<String> = words.collect::<Result<_, _>>()?;
        Ok(json!({"role": role, "text": words.join("\n")}))
    };
    let messages: Vec<Value> = params.messages.into_iter().map(message).collect::<Result<_, &'static str>>()?;
    let mut request = json!({"messages": messages, "max_tokens": params.max_tokens});
    if let Some(system) = params.system_prompt {
        request["system"] = system.into();
    }
    Ok(Json::of(&request))
}

/// The answer as it is sent.
pub(crate) fn answer(sampled: &Sampled) -> CreateMessageResult {
    let stop = match sampled.is_cut {
        true => CreateMessageResult::STOP_REASON_END_MAX_TOKEN,
        false => CreateMessageResult::STOP_REASON_END_TURN,
    };
    let said = SamplingMessage::assistant_text(sampled.text.to_string());
    CreateMessageResult::new(said, sampled.model.to_string()).with_stop_reason(stop)
}

#[cfg(test)]
mod tests {
    use agent::sampling::SamplingRequest;

    use super::*;

    fn of(params: Value) -> Result<Json, &'static str> {
        request(serde_json::from_value(params).expect("it is a request"))
    }

    #[test]
    fn the_words_of_a_server_and_the_most_that_it_wants_are_kept_and_nothing_else() {
        let said = json!([{"role": "user", "content": {"type": "text", "text": "say it"}}]);
        let wanted =
            json!({"messages": said, "maxTokens": 10, "systemPrompt": "Be brief", "includeContext": "allServers"});
        let input = of(wanted).expect("words");
        let request = SamplingRequest::read(&input).expect("it can be asked");
        assert_eq!((request.newest().as_str(), &*request.system, request.max_tokens), ("say it", "Be brief", 10));
        assert!(!input.text().contains("allServers"));
    }

    // T54
    #[test]
    fn what_is_no_words_is_refused() {
        let image = json!([{"role": "user", "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"}}]);
        assert!(of(json!({"messages": image, "maxTokens": 10})).is_err());
        let said = json!([{"role": "user", "content": {"type": "text", "text": "say it"}}]);
        let tool = json!([{"name": "rm", "inputSchema": {"type": "object"}}]);
        assert!(of(json!({"messages": said, "maxTokens": 10, "tools": tool})).is_err());
    }
}
