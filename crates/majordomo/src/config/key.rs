//! The keys that configuration knows, and the name of one key: dotted in TOML, spelled out in the environment.
//!
//! The table below is the whole vocabulary. What a value of a key may be is said by [`Kind`].

use std::fmt;

use agent::policy::{SPAWN_ARGS, VERBS};
use provider::{CacheTime, Effort, Wire};

use super::kind::Kind;
use super::suggestion;
use crate::presets;

/// One key, such as `policy.child.max_tokens` or `models."ollama/llama3:8b".context_tokens`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(Vec<String>);

const MOST: u64 = i64::MAX as u64;
const MOST_U32: u64 = u32::MAX as u64;
const DAY_S: u64 = 24 * 60 * 60;

/// Every key with what its values may be, in the order in which they are shown. `*` stands for a name that people choose.
const KNOWN: &[(&str, Kind)] = &[
    ("model", Kind::Model),
    ("agent", Kind::Text),
    ("mode", Kind::Word(&["plan", "ask", "auto", "dangerous"])),
    ("preset", Kind::Word(&presets::NAMES)),
    ("dialect", Kind::Word(&view::Dialect::NAMES)),
    ("data", Kind::Folder),
    ("policy.enabled", Kind::Switch),
    ("policy.max_depth", Kind::Most { least: 0 }),
    ("policy.max_children", Kind::Most { least: 0 }),
    ("policy.count_mode", Kind::Word(&["total", "active"])),
    ("policy.max_concurrent", Kind::Most { least: 1 }),
    ("policy.max_subtasks", Kind::Most { least: 1 }),
    ("policy.max_calls_per_answer", Kind::Most { least: 1 }),
    ("policy.child.max_tool_calls", Kind::Most { least: 1 }),
    ("policy.child.max_tokens", Kind::Count { least: 1, most: MOST }),
    ("policy.child.timeout_ms", Kind::Count { least: 1, most: MOST }),
    ("policy.max_child_tool_calls", Kind::Most { least: 0 }),
    ("policy.min_child_tokens", Kind::Count { least: 0, most: MOST }),
    ("policy.min_child_timeout_ms", Kind::Count { least: 0, most: MOST }),
    ("policy.token_count", Kind::Word(&["billed", "fresh"])),
    ("policy.inherit_mode", Kind::Switch),
    ("policy.spawn_in_plan", Kind::Switch),
    ("policy.children_may_ask", Kind::Switch),
    ("policy.stall_ms", Kind::Count { least: 0, most: MOST }),
    ("policy.approval", Kind::Word(&["never", "by_risk", "always"])),
    ("policy.on_error", Kind::Word(&["continue", "stop"])),
    ("policy.reuse_reports", Kind::Switch),
    ("policy.lifecycle", Kind::Word(&["call", "persistent"])),
    ("policy.delegates", Kind::Pairs),
    ("policy.context", Kind::Word(&["brief", "structured"])),
    ("policy.max_context_tokens", Kind::Count { least: 1, most: MOST }),
    ("policy.report_data", Kind::Word(&["none", "last_result"])),
    ("policy.verbs", Kind::Words(&VERBS)),
    ("policy.spawn_args", Kind::Words(&SPAWN_ARGS)),
    ("policy.loop_refuse_at", Kind::Count { least: 2, most: MOST_U32 }),
    ("policy.loop_end_at", Kind::Count { least: 2, most: MOST_U32 }),
    ("policy.loop_failed_at", Kind::Count { least: 2, most: MOST_U32 }),
    ("policy.max_rounds", Kind::Count { least: 1, most: MOST_U32 }),
    ("policy.check_attempts", Kind::Count { least: 1, most: MOST_U32 }),
    ("grant.tool_calls", Kind::Limit { most: MOST_U32 }),
    ("grant.requests", Kind::Limit { most: MOST_U32 }),
    ("grant.tokens", Kind::Limit { most: MOST }),
    ("grant.cost", Kind::Budget),
    ("grant.timeout_s", Kind::Limit { most: MOST / 1000 }),
    ("grant.unknown_price", Kind::Word(&["refuse", "allow"])),
    ("household.folder", Kind::Folder),
    ("household.mail", Kind::Folder),
    ("household.calendars", Kind::Folder),
    ("household.notes", Kind::Folder),
    ("household.contacts", Kind::Folder),
    ("household.me", Kind::Texts),
    ("household.timezone", Kind::Zone),
    ("household.route", Kind::Word(&["auto", "off"])),
    ("tasks.enabled", Kind::Switch),
    ("tasks.max_concurrent", Kind::Count { least: 1, most: MOST_U32 }),
    ("tasks.max_wakes", Kind::Count { least: 1, most: MOST_U32 }),
    ("mcp.schema_tokens", Kind::Count { least: 0, most: MOST_U32 }),
    ("mcp.servers.*.command", Kind::Text),
    ("mcp.servers.*.args", Kind::Arguments),
    ("mcp.servers.*.env", Kind::TextTable),
    ("mcp.servers.*.pass_env", Kind::Variables),
    ("mcp.servers.*.cwd", Kind::Text),
    ("mcp.servers.*.url", Kind::Url),
    ("mcp.servers.*.headers", Kind::TextTable),
    ("mcp.servers.*.network", Kind::Switch),
    ("mcp.servers.*.tools", Kind::Texts),
    ("mcp.servers.*.call_s", Kind::Count { least: 1, most: DAY_S }),
    ("mcp.servers.*.trusted", Kind::Switch),
    ("mcp.servers.*.sampling", Kind::Switch),
    ("mcp.servers.*.schema_tokens", Kind::Count { least: 0, most: MOST_U32 }),
    ("mcp.servers.*.enabled", Kind::Switch),
    ("instructions.enabled", Kind::Switch),
    ("instructions.sub_agents", Kind::Switch),
    ("instructions.max_bytes", Kind::Count { least: 0, most: 1 << 20 }),
    ("skills.enabled", Kind::Switch),
    ("skills.trusted", Kind::Texts),
    ("hooks.files", Kind::Texts),
    ("web.fetch", Kind::Switch),
    ("web.private_hosts", Kind::Texts),
    ("web.timeout_s", Kind::Count { least: 1, most: 600 }),
    ("web.max_bytes", Kind::Count { least: 1_000, most: 64 << 20 }),
    ("web.search", Kind::Word(&["none", "searxng", "brave", "tavily"])),
    ("web.search_url", Kind::Url),
    ("web.search_key_env", Kind::Variable),
    ("store.url", Kind::Database),
    ("store.durability", Kind::Word(&["full", "normal"])),
    ("store.machine", Kind::Text),
    ("workspace.shared", Kind::Switch),
    ("sandbox.kind", Kind::Word(&["auto", "bubblewrap", "landlock", "off"])),
    ("providers.*.wire", Kind::Word(&Wire::NAMES)),
    ("providers.*.base_url", Kind::Url),
    ("providers.*.key_env", Kind::Variable),
    ("providers.*.bearer", Kind::Switch),
    ("providers.*.headers", Kind::TextTable),
    ("providers.*.organization", Kind::Text),
    ("providers.*.project", Kind::Text),
    ("providers.*.proxy", Kind::Url),
    ("providers.*.ca_file", Kind::Folder),
    ("providers.*.connect_s", Kind::Count { least: 1, most: DAY_S }),
    ("providers.*.first_byte_s", Kind::Count { least: 1, most: DAY_S }),
    ("providers.*.idle_s", Kind::Count { least: 1, most: DAY_S }),
    ("providers.*.retries", Kind::Count { least: 0, most: 1_000 }),
    ("providers.*.retry_s", Kind::Count { least: 0, most: DAY_S }),
    ("providers.*.max_retry_after_s", Kind::Count { least: 0, most: DAY_S }),
    ("providers.*.concurrency", Kind::Count { least: 1, most: 100_000 }),
    ("providers.*.effort", Kind::Word(&Effort::NAMES)),
    ("providers.*.thinking_tokens", Kind::Count { least: 1, most: MOST }),
    ("providers.*.temperature", Kind::Number { least: 0.0, most: 2.0 }),
    ("providers.*.body", Kind::Fields),
    ("providers.*.parent_cache", Kind::Word(&CacheTime::NAMES)),
    ("models.*.wire", Kind::Word(&Wire::NAMES)),
    ("models.*.context_tokens", Kind::Count { least: 1, most: MOST }),
    ("models.*.max_output_tokens", Kind::Count { least: 1, most: MOST }),
    ("models.*.takes", Kind::Words(&["tools", "images", "pdf", "schema", "effort", "temperature"])),
    ("models.*.price.input", Kind::Price),
    ("models.*.price.output", Kind::Price),
    ("models.*.price.cache_read", Kind::Price),
    ("models.*.price.cache_write", Kind::Price),
    ("models.*.price.cache_write_1h", Kind::Price),
    ("models.*.price.long.above_tokens", Kind::Count { least: 1, most: MOST }),
    ("models.*.price.long.input", Kind::Price),
    ("models.*.price.long.output", Kind::Price),
    ("models.*.price.long.cache_read", Kind::Price),
    ("models.*.price.long.cache_write", Kind::Price),
    ("models.*.price.long.cache_write_1h", Kind::Price),
    ("models.*.effort", Kind::Word(&Effort::NAMES)),
    ("models.*.thinking_tokens", Kind::Count { least: 1, most: MOST }),
    ("models.*.temperature", Kind::Number { least: 0.0, most: 2.0 }),
    ("models.*.body", Kind::Fields),
    ("models.*.parent_cache", Kind::Word(&CacheTime::NAMES)),
];

impl Key {
    /// A key from its parts.
    pub(crate) fn new<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Self {
        Self(parts.into_iter().map(Into::into).collect())
    }

    /// A key whose parts hold no dots.
    pub(crate) fn dotted(name: &str) -> Self {
        Self::new(name.split('.'))
    }

    /// The key one level down.
    pub(crate) fn join(&self, part: &str) -> Self {
        Self(self.0.iter().cloned().chain([part.to_owned()]).collect())
    }

    /// Its parts.
    pub(crate) fn parts(&self) -> &[String] {
        &self.0
    }

    /// The first part.
    pub(crate) fn section(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// What its values may be; none when the key is unknown.
    pub(crate) fn kind(&self) -> Option<&'static Kind> {
        KNOWN.iter().find(|(pattern, _)| self.fits(pattern)).map(|(_, kind)| kind)
    }

    /// Whether known keys lie below it.
    pub(crate) fn is_table(&self) -> bool {
        KNOWN.iter().any(|(pattern, _)| self.rest(pattern).is_some_and(|below| !below.is_empty()))
    }

    /// The variable that sets it: `MAJORDOMO_` and the key in capitals, everything else an underscore.
    pub(crate) fn variable(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        format!("MAJORDOMO_{}", self.0.join(".").chars().map(plain).collect::<String>())
    }

    /// The known key that was probably meant by an unknown one.
    pub(crate) fn suggestion(&self) -> Option<Key> {
        let candidates: Vec<Key> = KNOWN.iter().map(|(pattern, _)| self.in_place_of_names(pattern)).collect();
        suggestion::nearest(&candidates, |candidate| {
            let last = |key: &Key| key.0.last().cloned().unwrap_or_default();
            let whole = suggestion::likeness(&self.to_string(), &candidate.to_string());
            // The right word in the wrong table is the commonest slip, but a hit on the whole key is worth more.
            whole.max(0.9 * suggestion::likeness(&last(self), &last(candidate)))
        })
        .cloned()
    }

    /// Where it is shown among others: keys in the order of the table, chosen names together.
    pub(crate) fn rank(&self) -> (usize, &str, usize) {
        let position = KNOWN.iter().position(|(pattern, _)| self.fits(pattern)).unwrap_or(KNOWN.len());
        if !KNOWN.get(position).is_some_and(|(pattern, _)| pattern.contains('*')) {
            return (position, "", position);
        }
        let (pattern, _) = KNOWN[position];
        let named = pattern.split('.').position(|part| part == "*").unwrap_or(1);
        let table =
            |(other, _): &(&str, Kind)| other.split_once('*').map(|it| it.0) == pattern.split_once('*').map(|it| it.0);
        (KNOWN.iter().position(table).unwrap_or(position), &self.0[named], position)
    }

    fn fits(&self, pattern: &str) -> bool {
        self.rest(pattern) == Some("")
    }

    /// What follows in a pattern behind the parts that this key fits; none where it does not fit them. Every start of the program asks this
    /// thousands of times, so that patterns are not taken apart first.
    fn rest<'a>(&self, pattern: &'a str) -> Option<&'a str> {
        let mut rest = Some(pattern);
        for part in &self.0 {
            let pattern = rest?;
            let ends = |rest: &&str| rest.is_empty() || rest.starts_with('.');
            // A name with a dot in it is one part of a key, and never two parts of a pattern.
            let behind = pattern.strip_prefix(part.as_str()).filter(ends).filter(|_| !part.contains('.'));
            let behind = behind.or_else(|| pattern.strip_prefix('*').filter(ends))?;
            rest = behind.strip_prefix('.');
        }
        Some(rest.unwrap_or_default())
    }

    /// A known key with this key's own chosen name put where the pattern has a star.
    fn in_place_of_names(&self, pattern: &str) -> Key {
        let name = |(at, part): (usize, &str)| match part {
            "*" => self.0.get(at).cloned().unwrap_or_else(|| "NAME".to_owned()),
            part => part.to_owned(),
        };
        Key(pattern.split('.').enumerate().map(name).collect())
    }
}

/// The fields of a provider.
pub(crate) fn provider_fields() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().filter_map(|(pattern, _)| pattern.strip_prefix("providers.*."))
}

/// Every known key, with `names` put where people choose names: pairs of section and name.
pub(crate) fn known(names: &[(&str, &str)]) -> Vec<Key> {
    let mut keys = Vec::new();
    for (pattern, _) in KNOWN {
        let Some((section, field)) = pattern.split_once(".*.") else {
            keys.push(Key::dotted(pattern));
            continue;
        };
        for (_, name) in names.iter().filter(|(of, _)| *of == section) {
            keys.push(Key::new(section.split('.').chain([*name]).chain(field.split('.'))));
        }
    }
    keys
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.iter().enumerate() {
            let dot = if at == 0 { "" } else { "." };
            let bare = !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
            if bare { write!(f, "{dot}{part}")? } else { write!(f, "{dot}{part:?}")? }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use agent::policy::Policy;

    use super::*;

    #[test]
    fn every_field_of_the_policy_is_a_key_and_every_policy_key_is_a_field() {
        let fields = toml::Table::try_from(Policy::default()).expect("a policy is a table");
        let mut names = BTreeSet::new();
        for (name, value) in &fields {
            match value {
                toml::Value::Table(inner) => names.extend(inner.keys().map(|below| format!("policy.{name}.{below}"))),
                _ => drop(names.insert(format!("policy.{name}"))),
            }
        }
        let keys: BTreeSet<String> =
            KNOWN.iter().map(|(key, _)| (*key).to_owned()).filter(|key| key.starts_with("policy.")).collect();
        assert_eq!(keys, names);
    }

    #[test]
    fn no_two_keys_share_a_variable() {
        let mut seen = BTreeMap::new();
        for key in known(&[("providers", "openai"), ("models", "openai/gpt")]) {
            assert_eq!(seen.insert(key.variable(), key.to_string()), None);
        }
        assert_eq!(seen["MAJORDOMO_POLICY_CHILD_MAX_TOOL_CALLS"], "policy.child.max_tool_calls");
        assert_eq!(seen["MAJORDOMO_MODELS_OPENAI_GPT_PRICE_INPUT"], "models.\"openai/gpt\".price.input");
    }

    #[test]
    fn a_key_fits_a_pattern_part_by_part() {
        let fits = |parts: &[&str], pattern| Key::new(parts.iter().copied()).fits(pattern);
        assert!(fits(&["policy", "max_depth"], "policy.max_depth"));
        assert!(fits(&["models", "ollama/llama3.1:8b", "price", "input"], "models.*.price.input"));
        assert!(fits(&["models", "", "wire"], "models.*.wire") && fits(&["models", "*", "wire"], "models.*.wire"));
        for other in [&["policy", "max"][..], &["policy"], &["policy.max_depth"], &["policy", "max_depth", "more"]] {
            assert!(!fits(other, "policy.max_depth"), "{other:?}");
        }
        assert!(!fits(&["models", "wire"], "models.*.wire") && !fits(&["", "max_depth"], "policy.max_depth"));
        let is_table = |parts: &[&str]| Key::new(parts.iter().copied()).is_table();
        assert!(is_table(&["policy"]) && is_table(&["policy", "child"]) && is_table(&["models", "a.b", "price"]));
        assert!(!is_table(&["policy", "max_depth"]) && !is_table(&["pol"]) && !is_table(&["policy.child"]));
    }

    #[test]
    fn a_slip_of_the_pen_and_a_wrong_table_are_both_recognised() {
        let meant = |key| Key::dotted(key).suggestion().map(|key| key.to_string());
        assert_eq!(meant("policy.max_dept").as_deref(), Some("policy.max_depth"));
        assert_eq!(meant("polcy.child.max_tokens").as_deref(), Some("policy.child.max_tokens"));
        assert_eq!(meant("max_concurrent").as_deref(), Some("policy.max_concurrent"));
        assert_eq!(meant("providers.acme.baseurl").as_deref(), Some("providers.acme.base_url"));
        assert_eq!(meant("weather.forecast"), None);
    }
}
