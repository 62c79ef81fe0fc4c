//! Arguments of the verbs, read tolerantly: a model's small slips are understood, unknown arguments are named in the result,
//! and what cannot be understood gets an error that shows the right call.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::checks::Checks;
use crate::json::Json;

/// The arguments of one call.
pub struct Arguments {
    verb: &'static str,
    example: &'static str,
    values: Map<String, Value>,
    /// Arguments that are there and not looked at.
    aside: Vec<String>,
}

impl Arguments {
    /// Reads the arguments of `verb`; `example` shows what a right call looks like.
    pub fn read(verb: &'static str, example: &'static str, input: &Json) -> Result<Self, String> {
        match input.value() {
            Value::Object(values) => Ok(Self { verb, example, values, aside: Vec::new() }),
            _ => Err(format!("{verb} takes one JSON object, for example {example}")),
        }
    }

    /// The same for an object inside another call.
    pub fn inside(verb: &'static str, example: &'static str, value: Value) -> Result<Self, String> {
        match value {
            Value::Object(values) => Ok(Self { verb, example, values, aside: Vec::new() }),
            Value::String(task) => {
                let values = Map::from_iter([("task".to_owned(), task.into())]);
                Ok(Self { verb, example, values, aside: Vec::new() })
            }
            _ => Err(format!("a subtask is an object, for example {example}")),
        }
    }

    /// A text under one of several names; blank is none.
    pub fn text(&mut self, names: &[&str]) -> Result<Option<Arc<str>>, String> {
        match self.take(names) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.into())),
            Some(Value::Number(number)) => Ok(Some(number.to_string().into())),
            Some(other) => Err(self.wrong(names[0], "a text", &other)),
        }
    }

    /// A text that must be there.
    pub fn needed(&mut self, names: &[&str]) -> Result<Arc<str>, String> {
        let text = self.text(names)?;
        text.ok_or_else(|| format!("{} needs '{}', for example {}", self.verb, names[0], self.example))
    }

    /// A number; texts that hold one are understood.
    pub fn number(&mut self, names: &[&str]) -> Result<Option<f64>, String> {
        match self.take(names) {
            None => Ok(None),
            Some(value) => {
                let number = match &value {
                    Value::Number(number) => number.as_f64(),
                    Value::String(text) => text.trim().parse().ok(),
                    Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
                };
                let finite = number.filter(|number| number.is_finite());
                finite.map(Some).ok_or_else(|| self.wrong(names[0], "a number", &value))
            }
        }
    }

    /// A yes or no; absent is no.
    pub fn flag(&mut self, name: &str) -> Result<bool, String> {
        Ok(self.switch(name)?.unwrap_or(false))
    }

    /// A yes or no, where it is said.
    pub fn switch(&mut self, name: &str) -> Result<Option<bool>, String> {
        match self.take(&[name]) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(Value::String(text)) if text == "true" || text == "false" => Ok(Some(text == "true")),
            Some(other) => Err(self.wrong(name, "true or false", &other)),
        }
    }

    /// A list of texts; one text stands for a list of one, and commas part it.
    pub fn texts(&mut self, names: &[&str]) -> Result<Option<Vec<Arc<str>>>, String> {
        match self.take(names) {
            None => Ok(None),
            Some(Value::String(text)) => {
                Ok(Some(text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(Arc::from).collect()))
            }
            Some(Value::Array(items)) => {
                let text = |item: &Value| item.as_str().map(Arc::from);
                let texts: Option<Vec<_>> = items.iter().map(text).collect();
                texts.map(Some).ok_or_else(|| self.wrong(names[0], "a list of texts", &Value::Array(items)))
            }
            Some(other) => Err(self.wrong(names[0], "a list of texts", &other)),
        }
    }

    /// What must hold before a sub-agent is done: commands, a JSON Schema, or `{commands, schema}`.
    pub fn checks(&mut self) -> Result<Checks, String> {
        let Some(value) = self.take(&["checks"]) else { return Ok(Checks::default()) };
        let commands = |value: &Value| -> Option<Vec<Arc<str>>> {
            match value {
                Value::String(command) if !command.trim().is_empty() => Some(vec![command.as_str().into()]),
                Value::Array(items) => {
                    let command = |item: &Value| item.as_str().filter(|text| !text.trim().is_empty()).map(Arc::from);
                    items.iter().map(command).collect()
                }
                _ => None,
            }
        };
        let both = |object: &Map<String, Value>| object.keys().all(|key| key == "commands" || key == "schema");
        let read = match &value {
            Value::Object(object) if object.is_empty() => Some(Checks::default()),
            Value::Object(object) if both(object) => {
                let listed = object.get("commands").map_or(Some(Vec::new()), commands);
                let schema = object.get("schema").filter(|schema| !schema.is_null()).map(Json::of);
                listed.map(|commands| Checks { commands, schema })
            }
            Value::Object(_) => Some(Checks { commands: Vec::new(), schema: Some(Json::of(&value)) }),
            _ => commands(&value).map(|commands| Checks { commands, schema: None }),
        };
        read.ok_or_else(|| self.wrong("checks", "a list of commands, or a JSON Schema", &value))
    }

    /// Any value.
    pub fn value(&mut self, name: &str) -> Option<Value> {
        self.take(&[name])
    }

    /// Leaves arguments unread and names them among the ignored.
    pub fn set_aside(&mut self, names: &[&str]) {
        let present = names.iter().filter(|name| self.values.remove(**name).is_some());
        self.aside.extend(present.map(|name| (*name).to_owned()));
    }

    /// The arguments that the schema does not have.
    pub fn ignored(self) -> Vec<String> {
        self.aside.into_iter().chain(self.values.into_iter().map(|(name, _)| name)).collect()
    }

    /// An error about one argument.
    pub fn wrong(&self, name: &str, expected: &str, found: &Value) -> String {
        let found: String = found.to_string().chars().take(80).collect();
        format!("'{name}' of {} must be {expected}, not {found}; for example {}", self.verb, self.example)
    }

    fn take(&mut self, names: &[&str]) -> Option<Value> {
        let mut found = None;
        for name in names {
            if let Some(value) = self.values.remove(*name)
                && !value.is_null()
                && found.is_none()
            {
                found = Some(value);
            }
        }
        found
    }
}

/// The line that names ignored arguments to the model; empty where there are none.
pub fn ignored_line(ignored: &[String]) -> String {
    ignored_note(ignored).map_or_else(String::new, |note| format!("\n({note})"))
}

/// The words that name ignored arguments; none where there are none.
pub fn ignored_note(ignored: &[String]) -> Option<String> {
    (!ignored.is_empty()).then(|| format!("ignored arguments: {}", ignored.join(", ")))
}
