//! `majordomo models ls`: the models that the providers offer, with what is known of each. `majordomo models test`: one short request
//! with a tool, over the same way that a run takes.
//!
//! `ls` asks every provider that can be asked; of the others it lists what the table knows, and says what is missing.

use std::time::Duration;

use jiff::civil::Date;
use majordomo::config::Config;
use majordomo::config::Flags;
use majordomo::connection::{Answered, Trial, try_model};
use majordomo::models::{Lists, ModelRow, Models, ProviderModels, near_end};
use majordomo::provider::Dollars;
use serde_json::{Value, json};
use view::draw::columns;
use view::{clock, safe};

use super::configured;
use crate::error::{Failure, PROVIDER};
use crate::out;

/// The widest that a name or a sentence is shown.
const WIDE: usize = 400;
/// How long a model has to answer. One on this machine may have to be loaded first.
const PATIENCE: Duration = Duration::from_secs(120);

/// `majordomo models ls`.
pub async fn ls(flags: &Flags, provider: Option<&str>, json: bool) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let models = Models::new(&config)?;
    if let Some(unknown) = provider.filter(|provider| !models.providers().any(|known| known == *provider)) {
        let known: Vec<&str> = models.providers().collect();
        return Err(Failure::usage(format!("there is no provider '{unknown}'; there are: {}", known.join(", "))));
    }
    let listed = models.list(provider, Lists::Asked).await;
    for missing in listed.iter().filter_map(|of| of.missing.as_ref()) {
        out::note(&format!("note: {}", safe::line(missing, WIDE)));
    }
    let mut result = out::Result::Stdout;
    if json {
        let all: Value = listed.iter().flat_map(|of| of.models.iter().map(move |row| object(of, row))).collect();
        result.line(&all.to_string())?;
    } else {
        let today = today();
        let rows: Vec<[String; 6]> = listed.iter().flat_map(|of| &of.models).map(|row| cells(row, today)).collect();
        let wide = |column: usize| rows.iter().map(|row| columns::width(&row[column])).max().unwrap_or(0);
        let widths = [wide(0), wide(1), wide(2), wide(3), wide(4)];
        for row in &rows {
            let lead = [0, 1, 2, 3, 4].map(|column| columns::left(&row[column], widths[column]));
            if !result.line(format!("{}  {}", lead.join("  "), row[5]).trim_end())? {
                break;
            }
        }
    }
    let is_unreachable = provider.is_some() && listed.iter().any(|of| of.missing.is_some());
    Ok(if is_unreachable { PROVIDER } else { 0 })
}

/// `majordomo models test`.
pub async fn test(flags: &Flags, model: &str, json: bool) -> Result<u8, Failure> {
    if !model.contains('/') {
        return Err(Failure::usage(format!(
            "'{model}' is no model name: write provider/model, as `majordomo models ls` does"
        )));
    }
    let (_, config) = configured(flags)?;
    let mut result = out::Result::Stdout;
    let tried = tried(&config, model).await;
    let code = match &tried {
        Err(_) => PROVIDER,
        Ok(Answered { called: false, .. }) => 1,
        Ok(Answered { called: true, .. }) => 0,
    };
    if json {
        let object = match &tried {
            Ok(Answered { took, tokens, called, learnt }) => json!({
                "id": model,
                "answers": true,
                "calls_tools": called,
                "took_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
                "tokens": tokens.map(|tokens| tokens.total()),
                "learnt": learnt,
                "exit_code": code,
            }),
            Err(why) => {
                json!({ "id": model, "answers": false, "calls_tools": false, "reason": why, "exit_code": code })
            }
        };
        result.line(&object.to_string())?;
        return Ok(code);
    }
    let Answered { took, tokens, called, learnt } = match tried {
        Ok(answered) => answered,
        Err(why) => {
            result.line(&format!("{:<7}answer  {}", "broken", safe::line(&why, WIDE)))?;
            return Ok(code);
        }
    };
    let took = clock::duration(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    result.line(&format!("{:<7}answer  {model} answered in {took}", "ok"))?;
    for learnt in &learnt {
        result.line(&format!("{:<7}server  {}", "note", safe::line(learnt, WIDE)))?;
    }
    result.line(&match called {
        true => format!("{:<7}tools   it called the tool as it was told", "ok"),
        false => format!(
            "{:<7}tools   it did not call the tool as it was told: agents need a model that calls tools",
            "broken"
        ),
    })?;
    result.line(&match tokens {
        Some(tokens) => format!("{:<7}usage   {} tokens in, {} out", "ok", tokens.prompt(), tokens.output),
        None => format!("{:<7}usage   the server does not say what a request used; it is estimated", "note"),
    })?;
    Ok(code)
}

async fn tried(config: &Config, model: &str) -> Result<Answered, String> {
    if model.starts_with("builtin/") {
        return Err("builtin models are part of this program and need no test".to_owned());
    }
    try_model(config, model, Trial::Tool, PATIENCE).await
}

fn today() -> Date {
    let now = jiff::Timestamp::from_millisecond(out::now().0).unwrap_or_default();
    now.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// A model as the cells of its line: name, context window, longest answer, price, what it takes, and what else there is to know.
fn cells(row: &ModelRow, today: Date) -> [String; 6] {
    let entry = &row.entry;
    let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), short);
    let price = entry.price.map_or_else(|| "price unknown".to_owned(), |price| dollars(&price));
    let takes = entry.takes.as_ref().map_or_else(
        || "?".to_owned(),
        |takes| takes.iter().map(|ability| ability.as_str()).collect::<Vec<_>>().join(" "),
    );
    let ends = near_end(entry, today);
    let notes =
        [row.is_usual.then(|| "default".to_owned()), (!row.is_known).then(|| "not in the table".to_owned()), ends];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    let name = safe::line(&row.name, WIDE);
    [name, tokens(entry.context_tokens), tokens(entry.max_output_tokens), price, takes, notes.join(", ")]
}

/// A count of tokens in a few letters.
fn short(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", count / 1_000),
        _ if count % 1_000_000 < 100_000 => format!("{}M", count / 1_000_000),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

fn dollars(price: &Dollars) -> String {
    if price.input == 0.0 && price.output == 0.0 {
        return "$0".to_owned();
    }
    let long = price.long.map(|long| format!(" (${}/${} over {})", long.input, long.output, short(long.above_tokens)));
    format!("${}/${}{}", price.input, price.output, long.unwrap_or_default())
}

fn object(of: &ProviderModels, row: &ModelRow) -> Value {
    let mut object = json!(row.clone().info());
    object["provider"] = json!(of.provider);
    object["source"] = json!(if of.missing.is_some() { "table" } else { "provider" });
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_tokens_are_short() {
        for (count, shown) in
            [(512, "512"), (8192, "8k"), (200_000, "200k"), (1_000_000, "1M"), (1_048_576, "1M"), (2_500_000, "2.5M")]
        {
            assert_eq!(short(count), shown);
        }
    }
}
