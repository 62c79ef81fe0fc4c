//! What a value may be: how it is read from plain text, what is accepted, and the words that say what is expected.

use toml::Value;

/// The kinds of value. Values are checked once, where they are read, so that an error can name the place.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Any text that is not empty.
    Text,
    /// One of a few words.
    Word(&'static [&'static str]),
    /// A list of such words.
    Words(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A list of texts, of which some may be empty: the arguments of a program.
    Arguments,
    /// A list of names of environment variables. It is never repeated in an error, for some people paste the key itself.
    Variables,
    /// A list of pairs of texts.
    Pairs,
    /// The name of a time zone.
    Zone,
    /// Yes or no.
    Switch,
    /// A whole number within bounds.
    Count { least: u64, most: u64 },
    /// A whole number of 32 bits, the largest of which means no limit and is written as a word.
    Most { least: u64 },
    /// A whole number from 1, or no limit.
    Limit { most: u64 },
    /// Dollars, or no limit.
    Budget,
    /// Dollars per million tokens.
    Price,
    /// `provider/model`.
    Model,
    /// The address of a provider. It is never repeated in an error, for some carry secrets.
    Url,
    /// The address of a database. It is never repeated in an error and shown without its password.
    Database,
    /// The name of an environment variable. It is never repeated in an error, for some people paste the key itself.
    Variable,
    /// A path.
    Folder,
    /// A number within bounds.
    Number { least: f64, most: f64 },
    /// A table of texts by name. It is never repeated in an error, for some hold secrets.
    TextTable,
    /// A table of anything.
    Fields,
}

/// The word for "no limit".
pub(crate) const UNLIMITED: &str = "unlimited";

impl Kind {
    /// What is expected, as the end of a sentence.
    pub(crate) fn expected(&self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Words(words) => format!("a list of words out of {}", words.join(", ")),
            Self::Texts | Self::Arguments => "a list of texts".to_owned(),
            Self::Variables => "a list of names of environment variables (never their values)".to_owned(),
            Self::Pairs => "a list of pairs, such as [[\"delegate_triage\", \"triage\"]]".to_owned(),
            Self::Zone => "a time zone, such as Europe/Berlin".to_owned(),
            Self::Switch => "true or false".to_owned(),
            Self::Count { least, most } if *most < u64::from(u32::MAX) => {
                format!("a whole number from {least} to {most}")
            }
            Self::Count { least, .. } => format!("a whole number of at least {least}"),
            Self::Most { least } => format!("a whole number of at least {least}, or \"{UNLIMITED}\""),
            Self::Limit { .. } => format!("a whole number of at least 1, or \"{UNLIMITED}\""),
            Self::Budget => format!("an amount in dollars, or \"{UNLIMITED}\""),
            Self::Price => "an amount in dollars per million tokens".to_owned(),
            Self::Model => "provider/model".to_owned(),
            Self::Url => "an http or https address without a user name or password in it".to_owned(),
            Self::Database => {
                "the address of a PostgreSQL database, such as postgres://user@host/database?sslmode=verify-full"
                    .to_owned()
            }
            Self::Variable => "the name of an environment variable (never the key itself)".to_owned(),
            Self::Folder => "a path".to_owned(),
            Self::Number { least, most } => format!("a number from {least} to {most}"),
            Self::TextTable => "a table of texts, such as { X-Team = \"research\" }".to_owned(),
            Self::Fields => "a table, such as { top_p = 0.9 }".to_owned(),
        }
    }

    /// The value in its settled form, or none when it is not what is expected.
    pub(crate) fn accept(&self, value: Value) -> Option<Value> {
        let fits = match (self, &value) {
            (Self::Text | Self::Folder, Value::String(text)) => !text.trim().is_empty(),
            (Self::Word(words), Value::String(word)) => words.contains(&word.as_str()),
            (Self::Words(words), Value::Array(list)) => {
                list.iter().all(|word| word.as_str().is_some_and(|word| words.contains(&word)))
            }
            (Self::Texts, Value::Array(list)) => list.iter().all(is_text),
            (Self::Arguments, Value::Array(list)) => list.iter().all(|argument| argument.as_str().is_some()),
            (Self::Variables, Value::Array(list)) => list.iter().all(|name| name.as_str().is_some_and(is_variable)),
            (Self::Pairs, Value::Array(list)) => {
                let is_pair =
                    |pair: &Value| pair.as_array().is_some_and(|two| two.len() == 2 && two.iter().all(is_text));
                list.iter().all(is_pair)
            }
            (Self::Zone, Value::String(name)) => jiff::tz::TimeZone::get(name).is_ok(),
            (Self::Switch, Value::Boolean(_)) => true,
            (Self::Count { least, most }, Value::Integer(number)) => within(*number, *least, *most),
            (Self::Most { least }, Value::Integer(number)) => within(*number, *least, u64::from(u32::MAX)),
            (Self::Most { .. }, Value::String(word)) if word == UNLIMITED => {
                return Some(Value::Integer(u32::MAX.into()));
            }
            (Self::Limit { most }, Value::Integer(number)) => within(*number, 1, *most),
            (Self::Limit { .. } | Self::Budget, Value::String(word)) => word == UNLIMITED,
            (Self::Budget | Self::Price, Value::Integer(number)) => return dollars(*number as f64),
            (Self::Budget | Self::Price, Value::Float(number)) => return dollars(*number),
            (Self::Model, Value::String(name)) => {
                name.split_once('/').is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty())
            }
            (Self::Url, Value::String(url)) => {
                return is_url(url).then(|| Value::String(url.trim_end_matches('/').to_owned()));
            }
            (Self::Database, Value::String(address)) => store::Address::parse(address).is_ok(),
            (Self::Variable, Value::String(name)) => is_variable(name),
            (Self::Number { least, most }, Value::Float(number)) => (*least..=*most).contains(number),
            (Self::Number { least, most }, Value::Integer(number)) => {
                let number = *number as f64;
                return (*least..=*most).contains(&number).then_some(Value::Float(number));
            }
            (Self::TextTable, Value::Table(table)) => table.values().all(|value| value.as_str().is_some()),
            (Self::Fields, Value::Table(_)) => true,
            _ => false,
        };
        fits.then_some(value)
    }

    /// A value given as plain text, in a variable or on the command line: TOML, or a bare string where text is meant.
    /// Whether it fits is for [`Kind::accept`] to say.
    pub(crate) fn read(&self, text: &str) -> Value {
        let parsed = parse(text);
        match self {
            Self::Text
            | Self::Word(_)
            | Self::Model
            | Self::Url
            | Self::Database
            | Self::Variable
            | Self::Folder
            | Self::Zone => match parsed {
                Some(Value::String(inner)) => Value::String(inner),
                _ => Value::String(text.to_owned()),
            },
            Self::Words(_) | Self::Texts | Self::Arguments | Self::Variables if !text.trim_start().starts_with('[') => {
                Value::Array(text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(Value::from).collect())
            }
            Self::Words(_)
            | Self::Texts
            | Self::Arguments
            | Self::Variables
            | Self::Pairs
            | Self::Switch
            | Self::Count { .. }
            | Self::Most { .. }
            | Self::Limit { .. }
            | Self::Budget
            | Self::Price
            | Self::Number { .. }
            | Self::TextTable
            | Self::Fields => parsed.unwrap_or_else(|| Value::String(text.to_owned())),
        }
    }

    /// A value as a person is shown it.
    pub(crate) fn shown(&self, value: &Value) -> Value {
        match (self, value) {
            (Self::Most { .. }, Value::Integer(number)) if *number == i64::from(u32::MAX) => UNLIMITED.into(),
            (Self::Database, Value::String(address)) => {
                store::Address::parse(address).map_or_else(|_| "[set]".into(), |address| address.to_string().into())
            }
            // Their names are enough to see what is sent.
            (Self::TextTable, Value::Table(table)) => {
                Value::Table(table.keys().map(|name| (name.clone(), Value::from("[set]"))).collect())
            }
            _ => value.clone(),
        }
    }

    /// Whether an error may repeat a value of this kind.
    pub(crate) fn may_be_shown(&self) -> bool {
        !matches!(self, Self::Url | Self::Database | Self::Variable | Self::Variables | Self::TextTable)
    }
}

/// One TOML value, or none when the text is none.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let mut table: toml::Table = format!("value = {text}").parse().ok()?;
    // A text with a line break could smuggle in a second key.
    (table.len() == 1).then(|| table.remove("value"))?
}

/// Dollars as millionths of a dollar.
pub(crate) fn microusd(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

fn within(number: i64, least: u64, most: u64) -> bool {
    u64::try_from(number).is_ok_and(|number| (least..=most).contains(&number))
}

fn dollars(number: f64) -> Option<Value> {
    (number.is_finite() && number >= 0.0).then_some(Value::Float(number))
}

fn is_url(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    host.is_some_and(|host| !host.is_empty() && !host.contains('@')) && !url.contains(|c: char| c <= ' ')
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
