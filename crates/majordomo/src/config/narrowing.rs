//! What a project may set. Its files come with a repository that a stranger may have written, so they can restrict,
//! never extend: no addresses, no keys, no prices, no folder for state, no wider mode, no larger budget, even when trusted.
//! Until a person trusts the folder they cannot raise a limit of the policy either, nor choose what has no less and no more.

use toml::Value;

use super::key::Key;
use super::kind::UNLIMITED;
use super::layer::{Layers, Setting};
use super::origin::Warning;

/// Sections and keys that only the user's own file, environment and flags may set.
/// Prices are among them because a price of nothing would lift a limit on money.
/// Servers of tools are among them because a project names its own in `.mcp.json`, which counts once a person trusts it.
const USERS_OWN: [&str; 12] = [
    "providers",
    "models",
    "data",
    "household",
    "store",
    "workspace",
    "sandbox",
    "mcp",
    "instructions",
    "skills",
    "hooks",
    "web",
];

/// What a project may say, taken apart.
#[derive(Default)]
pub(super) struct Narrowed {
    /// What counts.
    pub(super) kept: Vec<Setting>,
    /// What would count if the folder were trusted.
    pub(super) withheld: Vec<Setting>,
}

/// Takes apart what a project says above `below`, which holds the user's own. What it may never say is told.
pub(super) fn narrowed(
    project: Vec<Setting>,
    below: &Layers,
    is_trusted: bool,
    warnings: &mut Vec<Warning>,
) -> Narrowed {
    let mut narrowed = Narrowed::default();
    for setting in project {
        let why = match setting.key.section() {
            section if USERS_OWN.contains(&section) => "a project cannot set it",
            "mode" | "grant" if !is_less(&setting, below) => "a project cannot ask for more than you allow",
            _ => {
                let is_free = is_trusted || is_less(&setting, below);
                let place = if is_free { &mut narrowed.kept } else { &mut narrowed.withheld };
                place.push(setting);
                continue;
            }
        };
        let message = format!("{} is ignored: {why}", setting.key);
        warnings.push(Warning { origin: setting.origin, message });
    }
    narrowed
}

/// What makes one value of a key less than another.
enum Order {
    /// A smaller number; "unlimited" is the largest.
    Smaller,
    /// A smaller number; 0 means that there is no bound.
    SmallerButZero,
    /// A larger number: a floor.
    Larger,
    /// An earlier word.
    Words(&'static [&'static str]),
    /// Switched off.
    Off,
    /// Fewer words.
    Fewer,
}

/// The keys that have a less and a more. Whatever is not among them is a choice, and a choice needs trust.
const ORDERS: &[(&str, Order)] = &[
    ("mode", Order::Words(&["plan", "ask", "auto", "dangerous"])),
    ("tasks.enabled", Order::Off),
    ("tasks.max_concurrent", Order::Smaller),
    ("tasks.max_wakes", Order::Smaller),
    ("policy.enabled", Order::Off),
    ("policy.max_depth", Order::Smaller),
    ("policy.max_children", Order::Smaller),
    ("policy.count_mode", Order::Words(&["total", "active"])),
    ("policy.max_concurrent", Order::Smaller),
    ("policy.max_subtasks", Order::Smaller),
    ("policy.max_calls_per_answer", Order::Smaller),
    ("policy.child.max_tool_calls", Order::Smaller),
    ("policy.child.max_tokens", Order::Smaller),
    ("policy.child.timeout_ms", Order::Smaller),
    ("policy.max_child_tool_calls", Order::SmallerButZero),
    ("policy.min_child_tokens", Order::Larger),
    ("policy.min_child_timeout_ms", Order::Smaller),
    ("policy.token_count", Order::Words(&["billed", "fresh"])),
    ("policy.inherit_mode", Order::Off),
    ("policy.spawn_in_plan", Order::Off),
    ("policy.children_may_ask", Order::Off),
    ("policy.approval", Order::Words(&["always", "by_risk", "never"])),
    ("policy.on_error", Order::Words(&["stop", "continue"])),
    ("policy.max_context_tokens", Order::Smaller),
    ("policy.verbs", Order::Fewer),
    ("policy.spawn_args", Order::Fewer),
    ("policy.loop_refuse_at", Order::Smaller),
    ("policy.loop_end_at", Order::Smaller),
    ("policy.loop_failed_at", Order::Smaller),
    ("policy.max_rounds", Order::Smaller),
    ("policy.check_attempts", Order::Smaller),
    ("grant.tool_calls", Order::Smaller),
    ("grant.requests", Order::Smaller),
    ("grant.tokens", Order::Smaller),
    ("grant.cost", Order::Smaller),
    ("grant.timeout_s", Order::Smaller),
    ("grant.unknown_price", Order::Words(&["refuse", "allow"])),
];

/// Whether a value is no more than the one below it. One that its key does not take is an error elsewhere, and so is one of
/// a key that nobody knows.
fn is_less(setting: &Setting, below: &Layers) -> bool {
    let Some(kind) = setting.key.kind() else { return true };
    let Some(asked) = kind.accept(setting.value.clone()) else { return true };
    let order = ORDERS.iter().find(|(key, _)| Key::dotted(key) == setting.key).map(|(_, order)| order);
    let allowed = below.setting(&setting.key).map(|allowed| &allowed.value);
    order.zip(allowed).is_some_and(|(order, allowed)| order.holds(&asked, allowed))
}

impl Order {
    fn holds(&self, asked: &Value, allowed: &Value) -> bool {
        let numbers = || number(asked).zip(number(allowed));
        let bounded = |number: f64| if number == 0.0 { f64::INFINITY } else { number };
        match self {
            Self::Smaller => numbers().is_some_and(|(asked, allowed)| asked <= allowed),
            Self::SmallerButZero => numbers().is_some_and(|(asked, allowed)| bounded(asked) <= bounded(allowed)),
            Self::Larger => numbers().is_some_and(|(asked, allowed)| asked >= allowed),
            Self::Words(words) => {
                let place = |value: &Value| words.iter().position(|word| value.as_str() == Some(word));
                place(asked).zip(place(allowed)).is_some_and(|(asked, allowed)| asked <= allowed)
            }
            Self::Off => asked.as_bool() == Some(false) || asked == allowed,
            Self::Fewer => {
                let lists = asked.as_array().zip(allowed.as_array());
                lists.is_some_and(|(asked, allowed)| asked.iter().all(|word| allowed.contains(word)))
            }
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(word) if word == UNLIMITED => Some(f64::INFINITY),
        Value::Integer(number) => Some(*number as f64),
        value => value.as_float(),
    }
}
