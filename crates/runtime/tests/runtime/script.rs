//! Scripts in few words: scenes of replies, as `SCRIPTED.md` of the provider describes them.

/// The replies to conversations that begin with words that contain `on`.
pub fn scene(on: &str, replies: &[String]) -> String {
    format!("[[script]]\non = {on:?}\n{}", replies.concat())
}

/// A reply of words.
pub fn says(text: &str) -> String {
    format!("[[script.reply]]\ntext = {text:?}\n")
}

/// A reply of calls.
pub fn calls(calls: &[String]) -> String {
    format!("[[script.reply]]\ncalls = [{}]\n", calls.join(", "))
}

/// A reply for which the model thinks so long first.
pub fn after_ms(delay_ms: u64, reply: &str) -> String {
    format!("{reply}delay_ms = {delay_ms}\n")
}

/// The call of a tool without arguments.
pub fn call(tool: &str) -> String {
    format!("{{ name = {tool:?} }}")
}

/// The call of a sub-agent that is waited for.
pub fn spawn(task: &str) -> String {
    spawn_with(task, "")
}

/// The call of a sub-agent with further arguments.
pub fn spawn_with(task: &str, arguments: &str) -> String {
    format!("{{ name = \"spawn_agent\", input = {{ task = {task:?}{arguments} }} }}")
}
