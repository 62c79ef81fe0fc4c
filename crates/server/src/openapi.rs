//! Routes, and the OpenAPI document that describes them, from one table: a route cannot be added without being described.
//!
//! Schemas come from the types in [`crate::shapes`] and from what each route reads. OpenAPI 3.1 speaks JSON Schema itself; `named.rs`
//! brings them into the shape that generators of clients take. Tests compare the document with real answers.

mod named;

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::access::{COOKIE, PAGE_HEADER};
use crate::connection::MAX_HEAD;
use crate::problem::Problem;
use crate::routes::{MAX_BODY, MAX_BODY_OUTSIDE, MAX_MESSAGE_BODY};
use crate::server::Shared;
use crate::shapes;

/// A table of addresses.
#[derive(Default)]
pub(crate) struct Table {
    router: Router<Shared>,
    places: Vec<(&'static str, Vec<Operation>)>,
}

impl Table {
    /// Adds an address and what can be done there. Whatever else is asked of it is refused with the methods that there are.
    pub fn at(mut self, path: &'static str, place: Place) -> Self {
        let Place { methods, operations } = place;
        let mut allowed: Vec<&str> = operations.iter().map(|operation| operation.method).collect();
        if allowed.contains(&"GET") {
            allowed.push("HEAD");
        }
        let allowed = allowed.join(", ");
        let methods = methods.fallback(async move || Problem::not_allowed(&allowed));
        self.router = self.router.route(path, methods);
        self.places.push((path, operations));
        self
    }

    /// The routes.
    pub fn router(self) -> Router<Shared> {
        self.router
    }

    /// The document of these tables.
    pub fn document(tables: &[Table]) -> Value {
        let mut schemas = Schemas::new();
        let mut paths = Map::new();
        for (path, operations) in tables.iter().flat_map(|table| &table.places) {
            // A rest of a path has no sign of its own there.
            let path = path.replace("{*", "{");
            let told = operations.iter().map(|told| (told.method.to_lowercase(), told.document(&path, &mut schemas)));
            paths.insert(path.clone(), Value::Object(told.collect()));
        }
        let problem = schemas.answer::<shapes::Problem>();
        let mut shapes = named::named(schemas.all());
        shapes.insert(ITEM.to_owned(), item());
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Majordomo",
                "version": "1",
                "summary": "A staff for any language model, over HTTP.",
                "description": format!("{ABOUT} {}", bounds()),
                "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
            },
            "servers": [{ "url": "/" }],
            "security": [{ "bearer": [] }, { "cookie": [], "page": [] }],
            "paths": paths,
            "components": {
                "schemas": shapes,
                "responses": {
                    "Problem": {
                        "description": "It could not be done; the detail says why and what to do.",
                        "content": { "application/problem+json": { "schema": problem } },
                    },
                },
                "securitySchemes": {
                    "bearer": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "For programs: the content of the file server.token in the folder for state.",
                    },
                    "cookie": {
                        "type": "apiKey",
                        "in": "cookie",
                        "name": COOKIE,
                        "description": "For browsers: given once for the link that `majordomo serve` prints, or for the password. \
                                        What changes something must also come from our own page.",
                    },
                    "page": {
                        "type": "apiKey",
                        "in": "header",
                        "name": PAGE_HEADER,
                        "description": "For our own page, besides the cookie, which browsers also show to other ports of the same \
                                        host: handed over with it, in the fragment of the address to which `/enter` leads.",
                    },
                },
            },
        })
    }
}

const ABOUT: &str = "Requests must be for this server's own address (421), come from no other site (403), and carry a token or cookie \
(401). Failures are problem documents. Streams are server-sent events: each `data:` line is one event in JSON, told apart by its \
`type`; a client that reconnects with the id of the last one as `Last-Event-ID` continues without a gap and without a duplicate. Threads may \
be named by any beginning that only one has. Fields are only ever added.";

/// What holds for every request, with the numbers that are enforced.
fn bounds() -> String {
    format!(
        "The first line and the headers of a request are at most {} kB (431), its body at most {} kB, or {} kB at `/enter` \
         (413). A message with its files is at most {} kB; a file that is none of the kinds that are taken is refused (415). What is outside the bounds of a schema is refused (422).",
        MAX_HEAD / 1024,
        MAX_BODY / 1024,
        MAX_BODY_OUTSIDE / 1024,
        MAX_MESSAGE_BODY / 1024,
    )
}

/// The kind of most bodies.
const JSON: &str = "application/json";
/// The kind of an answer that goes on.
const STREAM: &str = "text/event-stream";
/// The name of the schema of one server-sent event.
const ITEM: &str = "StreamItem";

/// One server-sent event, as a reader of such streams sees it. OpenAPI has a place for it, `itemSchema`, from 3.2 on; in 3.1,
/// which more tools read, it is an extension, and `schema` describes the JSON in `data`, as these tools expect.
fn item() -> Value {
    json!({
        "type": "object",
        "description": "One event of a stream. Events without data only set the id and the time after which to come back; \
                        lines that begin with a colon are signs of life.",
        "properties": {
            "id": {
                "type": "string",
                "description": "Send it as `Last-Event-ID` to go on after this event; left out for streamed text.",
            },
            "data": {
                "type": "string",
                "description": "One event, as one line of JSON.",
                "contentMediaType": "application/json",
                "contentSchema": { "$ref": "#/components/schemas/Event" },
            },
            "retry": { "type": "integer", "minimum": 0, "description": "Milliseconds after which to come back." },
        },
        "required": ["data"],
    })
}

/// What can be done at an address.
pub(crate) struct Place {
    methods: MethodRouter<Shared>,
    operations: Vec<Operation>,
}

/// What is answered to a `GET`, and to a `HEAD` without its body.
pub(crate) fn get<H: Handler<T, Shared>, T: 'static>(handler: H, operation: Operation) -> Place {
    Place::new().on("GET", MethodFilter::GET, handler, operation)
}

/// What is answered to a `POST`.
pub(crate) fn post<H: Handler<T, Shared>, T: 'static>(handler: H, operation: Operation) -> Place {
    Place::new().post(handler, operation)
}

impl Place {
    fn new() -> Self {
        Self { methods: MethodRouter::new(), operations: Vec::new() }
    }

    /// And what to a `POST`.
    pub fn post<H: Handler<T, Shared>, T: 'static>(self, handler: H, operation: Operation) -> Self {
        self.on("POST", MethodFilter::POST, handler, operation)
    }

    /// And what to a `PATCH`.
    pub fn patch<H: Handler<T, Shared>, T: 'static>(self, handler: H, operation: Operation) -> Self {
        self.on("PATCH", MethodFilter::PATCH, handler, operation)
    }

    /// And what to a `DELETE`.
    pub fn delete<H: Handler<T, Shared>, T: 'static>(self, handler: H, operation: Operation) -> Self {
        self.on("DELETE", MethodFilter::DELETE, handler, operation)
    }

    fn on<H: Handler<T, Shared>, T: 'static>(
        mut self,
        method: &'static str,
        filter: MethodFilter,
        handler: H,
        operation: Operation,
    ) -> Self {
        self.methods = self.methods.on(filter, handler);
        self.operations.push(Operation { method, ..operation });
        self
    }
}

/// One thing that can be done, as the document describes it.
pub(crate) struct Operation {
    method: &'static str,
    id: &'static str,
    summary: &'static str,
    details: &'static str,
    /// What the name in its address is.
    of: &'static str,
    query: Option<Make>,
    headers: Vec<(&'static str, &'static str)>,
    /// The kind of the body it takes, and its schema.
    body: Option<(&'static str, Make)>,
    answers: Vec<Answer>,
    needs: Needs,
}

/// The secret that a request needs.
enum Needs {
    /// The bearer; or the cookie, and what only our own page knows.
    Secrets,
    /// The bearer or the cookie.
    Cookie,
    /// Nothing.
    Nothing,
}

type Make = fn(&mut Schemas) -> Schema;

struct Answer {
    status: &'static str,
    words: &'static str,
    /// The kind of its body, and its schema.
    body: Option<(&'static str, Make)>,
    headers: Vec<(&'static str, &'static str)>,
}

impl Operation {
    /// Something that can be done, by the name that clients give to it, and what it is in a sentence.
    pub fn new(id: &'static str, summary: &'static str) -> Self {
        Self {
            method: "",
            id,
            summary,
            details: "",
            of: "",
            query: None,
            headers: Vec::new(),
            body: None,
            answers: Vec::new(),
            needs: Needs::Secrets,
        }
    }

    /// What else there is to know.
    pub fn details(self, details: &'static str) -> Self {
        Self { details, ..self }
    }

    /// What the name in its address is.
    pub fn of(self, of: &'static str) -> Self {
        Self { of, ..self }
    }

    /// The parameters it takes.
    pub fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(Schemas::request::<T>), ..self }
    }

    /// A header that it reads.
    pub fn header(mut self, name: &'static str, words: &'static str) -> Self {
        self.headers.push((name, words));
        self
    }

    /// The body it takes.
    pub fn body<T: JsonSchema>(self) -> Self {
        Self { body: Some((JSON, Schemas::request::<T>)), ..self }
    }

    /// The form it takes.
    pub fn form<T: JsonSchema>(self) -> Self {
        Self { body: Some(("application/x-www-form-urlencoded", Schemas::request::<T>)), ..self }
    }

    /// An answer in JSON.
    pub fn answers<T: JsonSchema>(self, status: &'static str, words: &'static str) -> Self {
        self.answer(status, words, Some((JSON, Schemas::answer::<T>)))
    }

    /// An answer that goes on, event by event.
    pub fn streams(self, words: &'static str) -> Self {
        self.answer("200", words, Some((STREAM, Schemas::answer::<shapes::Event>)))
    }

    /// An answer of another kind.
    pub fn shows(self, status: &'static str, kind: &'static str, words: &'static str) -> Self {
        self.answer(status, words, Some((kind, Schemas::answer::<String>)))
    }

    /// An answer without a body.
    pub fn says(self, status: &'static str, words: &'static str) -> Self {
        self.answer(status, words, None)
    }

    /// A header of the answer that was named last.
    pub fn with(mut self, name: &'static str, words: &'static str) -> Self {
        if let Some(last) = self.answers.last_mut() {
            last.headers.push((name, words));
        }
        self
    }

    /// It needs no secret.
    pub fn open(self) -> Self {
        Self { needs: Needs::Nothing, ..self }
    }

    /// A browser needs no more than its cookie for it.
    pub fn by_cookie(self) -> Self {
        Self { needs: Needs::Cookie, ..self }
    }

    fn answer(mut self, status: &'static str, words: &'static str, body: Option<(&'static str, Make)>) -> Self {
        self.answers.push(Answer { status, words, body, headers: Vec::new() });
        self
    }

    fn document(&self, path: &str, schemas: &mut Schemas) -> Value {
        let mut told = json!({ "operationId": self.id, "summary": self.summary });
        if !self.details.is_empty() {
            told["description"] = json!(self.details);
        }
        let parameters = self.parameters(path, schemas);
        if !parameters.is_empty() {
            told["parameters"] = json!(parameters);
        }
        if let Some((kind, make)) = self.body {
            told["requestBody"] = json!({ "required": true, "content": { kind: { "schema": make(schemas) } } });
        }
        let mut answers: Map<String, Value> =
            self.answers.iter().map(|answer| (answer.status.to_owned(), answer.document(schemas))).collect();
        let refusal = json!({ "$ref": "#/components/responses/Problem" });
        if self.body.is_some() {
            answers.insert("413".to_owned(), refusal.clone());
        }
        // What a form lacks is answered as a wrong password is.
        if self.query.is_some() || self.body.is_some_and(|(kind, _)| kind == JSON) {
            answers.insert("422".to_owned(), refusal.clone());
        }
        answers.insert("default".to_owned(), refusal);
        told["responses"] = Value::Object(answers);
        match self.needs {
            // As the document says for everything.
            Needs::Secrets => {}
            Needs::Cookie => told["security"] = json!([{ "bearer": [] }, { "cookie": [] }]),
            Needs::Nothing => told["security"] = json!([]),
        }
        told
    }

    fn parameters(&self, path: &str, schemas: &mut Schemas) -> Vec<Value> {
        let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let mut all: Vec<Value> = names
            .map(|name| {
                let schema = json!({ "type": "string" });
                json!({ "name": name, "in": "path", "required": true, "description": self.of, "schema": schema })
            })
            .collect();
        if let Some(make) = self.query {
            all.extend(schemas.parameters(make));
        }
        all.extend(self.headers.iter().map(
            |(name, words)| json!({ "name": name, "in": "header", "description": words, "schema": { "type": "string" } }),
        ));
        all
    }
}

impl Answer {
    fn document(&self, schemas: &mut Schemas) -> Value {
        let mut told = json!({ "description": self.words });
        if let Some((kind, make)) = self.body {
            let mut body = json!({ "schema": make(schemas) });
            if kind == STREAM {
                body["x-itemSchema"] = json!({ "$ref": format!("#/components/schemas/{ITEM}") });
            }
            told["content"] = json!({ kind: body });
        }
        if !self.headers.is_empty() {
            let headers = self.headers.iter().map(|(name, words)| {
                (name.to_string(), json!({ "description": words, "schema": { "type": "string" } }))
            });
            told["headers"] = Value::Object(headers.collect());
        }
        told
    }
}

/// The shapes that were described so far: what is read and what is written, which may differ in what must be there.
struct Schemas {
    read: SchemaGenerator,
    written: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings =
            || SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = "/components/schemas".into());
        Self {
            read: settings().for_deserialize().into_generator(),
            written: settings().for_serialize().into_generator(),
        }
    }

    fn request<T: JsonSchema>(&mut self) -> Schema {
        self.read.subschema_for::<T>()
    }

    fn answer<T: JsonSchema>(&mut self) -> Schema {
        self.written.subschema_for::<T>()
    }

    /// The fields of a shape as the parameters of an address.
    fn parameters(&mut self, make: Make) -> Vec<Value> {
        let reference = make(self).to_value();
        let name = reference["$ref"].as_str().and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned();
        let shape = self.read.definitions_mut().remove(&name).unwrap_or_default();
        let must = |name: &str| shape["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        let fields = shape["properties"].as_object().into_iter().flatten();
        fields
            .map(|(name, field)| {
                let mut schema = field.clone();
                let words = schema.as_object_mut().and_then(|field| field.remove("description"));
                // A parameter that is not there is left out, and never null.
                if let Some(kind) = schema.get_mut("type")
                    && let Some(own) = kind.as_array().and_then(|kinds| kinds.iter().find(|kind| *kind != "null"))
                {
                    *kind = own.clone();
                }
                let own = schema["anyOf"].as_array().and_then(|all| all.iter().find(|one| one["type"] != "null"));
                if let Some(own) = own.cloned() {
                    schema = own;
                }
                json!({ "name": name, "in": "query", "required": must(name), "description": words, "schema": schema })
            })
            .collect()
    }

    fn all(mut self) -> Map<String, Value> {
        let mut all = self.written.take_definitions(true);
        // Fields are only ever added to answers, also to those that may be read from a file in which nothing else may stand.
        for schema in all.values_mut().filter_map(Value::as_object_mut) {
            schema.remove("additionalProperties");
        }
        for (name, schema) in self.read.take_definitions(true) {
            let written = all.insert(name.clone(), schema.clone());
            assert!(written.is_none_or(|written| written == schema), "{name} is read and written in two shapes");
        }
        all
    }
}
