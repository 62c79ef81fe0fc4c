//! `majordomo usage`: what was used, over all conversations of the store.

use agent::Usage;
use majordomo::config::Flags;
use majordomo::spending::{By, Spent, spent};
use majordomo::staff::open_store;
use serde_json::{Value, json};
use view::draw::columns::{self, left, right};
use view::{draw, safe};

use super::configured;
use crate::age::age_ms;
use crate::arguments::UsageBy;
use crate::error::Failure;
use crate::out;

/// The longest name that is shown whole.
const NAME: usize = 60;

/// `majordomo usage`.
pub async fn usage(flags: &Flags, since: Option<&str>, by: UsageBy, json: bool) -> Result<u8, Failure> {
    let age = since.map(|since| age_ms(since).ok_or_else(|| wrong_age(since))).transpose()?;
    let since = age.map(|age_ms| agent::Time(out::now().0.saturating_sub(i64::try_from(age_ms).unwrap_or(i64::MAX))));
    let (_, config) = configured(flags)?;
    let store = open_store(&config)?;
    let (by, word) = match by {
        UsageBy::Agent => (By::Agent, "agent"),
        UsageBy::Model => (By::Model, "model"),
        UsageBy::Day => (By::Day, "day"),
    };
    let sums = spent(&*store, since, by, &majordomo::zone::local()).await?;
    let mut result = out::Result::Stdout;
    if json {
        let rows: Vec<Value> = sums.iter().map(|sum| object(sum, word)).collect();
        result.line(&Value::from(rows).to_string())?;
        return Ok(0);
    }
    if sums.is_empty() {
        out::note(if since.is_some() { "nothing was used in that time" } else { "nothing was used yet" });
        return Ok(0);
    }
    for line in table(&sums) {
        if !result.line(&line)? {
            break;
        }
    }
    Ok(0)
}

fn wrong_age(since: &str) -> Failure {
    Failure::usage(format!("--since takes a number with d, h or m behind it, such as 7d, not '{since}'"))
}

fn object(sum: &Spent, word: &str) -> Value {
    let Usage { requests, tokens, cost_microusd, estimated_tokens, .. } = sum.usage;
    json!({
        "id": sum.key,
        word: sum.key,
        "requests": requests,
        "tokens": tokens,
        "total_tokens": tokens.total(),
        "estimated_tokens": estimated_tokens,
        "cost_microusd": cost_microusd,
        "price_unknown": !sum.priced,
    })
}

/// A line for each sum; where there are several, one more for all of them.
fn table(sums: &[Spent]) -> Vec<String> {
    let all = sums.iter().fold(Spent { key: "total".into(), usage: Usage::default(), priced: true }, |all, sum| {
        Spent { usage: all.usage.plus(&sum.usage), priced: all.priced && sum.priced, ..all }
    });
    let total = (sums.len() > 1).then_some(&all);
    let cells: Vec<[String; 6]> = sums.iter().chain(total).map(cells).collect();
    let wide = |column: usize| cells.iter().map(|cells| columns::width(&cells[column])).max().unwrap_or(0);
    let widths = [0, 1, 2, 3, 4, 5].map(wide);
    let line = |cells: &[String; 6]| {
        let numbers = (1..5).map(|column| right(&cells[column], widths[column]));
        let shown: Vec<String> = std::iter::once(left(&cells[0], widths[0])).chain(numbers).collect();
        format!("{}  {}", shown.join("  "), cells[5]).trim_end().to_owned()
    };
    cells.iter().map(line).collect()
}

fn cells(sum: &Spent) -> [String; 6] {
    let Usage { requests, tokens, .. } = sum.usage;
    let about = if sum.usage.is_estimated() { "~" } else { "" };
    let count = |number: u64, what: &str| format!("{about}{} {what}", draw::count(number));
    [
        safe::line(&sum.key, NAME),
        format!("{requests} {}", if requests == 1 { "request" } else { "requests" }),
        count(tokens.prompt(), "in"),
        count(tokens.output, "out"),
        draw::cost(&sum.usage, sum.priced),
        draw::shares(&sum.usage).unwrap_or_default(),
    ]
}
