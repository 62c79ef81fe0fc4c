//! A server of tools that speaks the protocol by the library that published servers are written with: `rmcp`, in the newest revision and, by
//! the word `older`, in the one before. What a server may do besides offering tools: resources, prompts, questions to a person and
//! to a model in the middle of a call.

#![expect(deprecated, reason = "servers of earlier revisions ask a model")]

use std::borrow::Cow;
use std::collections::BTreeMap;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CreateMessageRequestParams, DiscoverRequestMethod,
    DiscoverResult, ElicitRequestParams, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, InputRequiredResult, ListPromptsResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, serve_server};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Is such a server until its input ends.
pub(super) fn serve(words: BTreeMap<String, String>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let transport = (tokio::io::stdin(), tokio::io::stdout());
        if let Ok(service) = serve_server(Polite { words }, transport).await {
            // However it ends, this process does.
            let _ = service.waiting().await;
        }
    });
}

struct Polite {
    words: BTreeMap<String, String>,
}

/// The types of the protocol are open for new fields, and made from JSON.
fn made<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("it is of this type")
}

/// What a call makes the server ask of a model.
fn wanted(arguments: &Value) -> Value {
    let words = arguments["text"].as_str().unwrap_or("say it");
    json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": words}}],
        "maxTokens": arguments["max"].as_u64().unwrap_or(10),
    })
}

impl ServerHandler for Polite {
    fn get_info(&self) -> ServerConfig {
        let capabilities: ServerCapabilities = made(json!({"tools": {}, "prompts": {}, "resources": {}}));
        ServerConfig::new(capabilities).with_server_info(Implementation::new("polite", "1"))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match self.words.contains_key("older") {
            true => vec![ProtocolVersion::LATEST_WITH_INITIALIZE].into(),
            false => vec![ProtocolVersion::LATEST, ProtocolVersion::LATEST_WITH_INITIALIZE].into(),
        }
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        match self.words.contains_key("older") {
            // A server of an earlier revision does not know the request.
            true => Err(ErrorData::method_not_found::<DiscoverRequestMethod>()),
            false => {
                Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), self.get_info()))
            }
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let tool = |name: &str| json!({"name": name, "description": format!("Does {name}"), "inputSchema": schema});
        let names = ["echo", "ask_person", "ask_person_more", "ask_visit", "ask_model", "ask_model_first", "ask_first"];
        Ok(made(json!({"tools": names.map(tool)})))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let said = match &*request.name {
            "echo" => arguments["text"].as_str().unwrap_or_default().to_owned(),
            "ask_person" => {
                let schema =
                    json!({"type": "object", "properties": {"branch": {"type": "string"}}, "required": ["branch"]});
                asked(&context, "Which branch?", &schema).await
            }
            "ask_person_more" => {
                let schema = json!({"type": "object", "properties": {"count": {"type": "integer"}, "sure": {"type": "boolean"}}, "required": ["count", "sure"]});
                asked(&context, "How many?", &schema).await
            }
            "ask_visit" => {
                let url = arguments["text"].as_str().unwrap_or_default();
                let params = json!({"mode": "url", "message": "Log in", "url": url, "elicitationId": "e1"});
                answer(&context, made(params)).await
            }
            "ask_model" => {
                let mut said = Vec::new();
                for _ in 0..arguments["times"].as_u64().unwrap_or(1) {
                    let params: CreateMessageRequestParams = made(wanted(&arguments));
                    said.push(match context.peer.create_message(params).await {
                        Ok(answer) => format!("the model answered: {}", json!(answer)["content"]["text"]),
                        Err(error) => format!("no model: {error}"),
                    });
                }
                said.join("\n")
            }
            // The same as the first answer to the call.
            "ask_model_first" => match &request.input_responses {
                None => {
                    let question = json!({"said": {"method": "sampling/createMessage", "params": wanted(&arguments)}});
                    return Ok(made::<InputRequiredResult>(json!({
                        "resultType": "input_required", "inputRequests": question, "requestState": "kept"
                    }))
                    .into());
                }
                Some(answers) => json!(answers)["said"]["content"]["text"].to_string(),
            },
            // In the newest revision a question is the first answer to the call, which is then made again with what was answered.
            "ask_first" => match &request.input_responses {
                None => {
                    super::note("asked_first.txt", "asked");
                    let schema =
                        json!({"type": "object", "properties": {"branch": {"type": "string"}}, "required": ["branch"]});
                    let params = json!({"mode": "form", "message": "Which branch?", "requestedSchema": schema});
                    let question = json!({"branch": {"method": "elicitation/create", "params": params}});
                    return Ok(made::<InputRequiredResult>(json!({
                        "resultType": "input_required", "inputRequests": question, "requestState": "kept"
                    }))
                    .into());
                }
                Some(answers) if arguments["text"] == "wait" => {
                    super::note("waiting.txt", &json!(answers).to_string());
                    context.ct.cancelled().await;
                    super::note("cancelled.txt", "cancelled");
                    "cancelled".to_owned()
                }
                Some(answers) => {
                    let token = json!(context.meta.get_progress_token());
                    let progress =
                        made(json!({"progressToken": token, "progress": 1, "total": 2, "message": "answered"}));
                    // Progress that cannot be told changes nothing.
                    let _ = context.peer.notify_progress(progress).await;
                    format!("{} {}", json!(answers), request.request_state.as_deref().unwrap_or_default())
                }
            },
            other => format!("no tool {other}"),
        };
        Ok(made::<CallToolResult>(json!({"content": [{"type": "text", "text": said}]})).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = json!({"uri": "note://today", "name": "today", "description": "What is on today"});
        Ok(made(json!({"resources": [resource]})))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let long = || (0..20_000).map(|n| format!("line {n}\n")).collect::<String>();
        let text = match &*request.uri {
            "note://today" => self.words.get("note").map_or("Lunch at noon", String::as_str).to_owned(),
            "note://long" => long(),
            _ => return Err(ErrorData::resource_not_found("there is no such resource", None)),
        };
        let contents = json!([{"uri": request.uri, "mimeType": "text/plain", "text": text}]);
        Ok(made::<ReadResourceResult>(json!({"contents": contents})).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let arguments = json!([{"name": "file", "required": true}, {"name": "focus", "required": false}]);
        Ok(made(json!({"prompts": [{"name": "review", "description": "Reviews a file", "arguments": arguments}]})))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text = format!("Please review {} for {}", arguments["file"], arguments["focus"]);
        let message = json!({"role": "user", "content": {"type": "text", "text": text}});
        Ok(made::<GetPromptResult>(json!({"messages": [message]})).into())
    }
}

/// What the person answered, as the result of a call.
async fn asked(context: &RequestContext<RoleServer>, message: &str, schema: &Value) -> String {
    answer(context, made(json!({"mode": "form", "message": message, "requestedSchema": schema}))).await
}

async fn answer(context: &RequestContext<RoleServer>, params: ElicitRequestParams) -> String {
    match context.peer.create_elicitation(params).await {
        Ok(answer) => format!("{:?} {}", answer.action, answer.content.unwrap_or_default()),
        Err(error) => format!("nobody was asked: {error}"),
    }
}
