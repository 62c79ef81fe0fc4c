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
    says_and_calls("", calls)
}

/// A reply of words and calls.
pub fn says_and_calls(text: &str, calls: &[String]) -> String {
    format!("[[script.reply]]\ntext = {text:?}\ncalls = [{}]\n", calls.join(", "))
}

/// A reply for which the model thinks so long first.
pub fn after_ms(delay_ms: u64, reply: &str) -> String {
    format!("{reply}delay_ms = {delay_ms}\n")
}

/// A last reply that comes again, however often the model is asked.
pub fn whenever_asked(reply: &str) -> String {
    format!("{reply}repeat = true\n")
}

/// A model that does not answer within any test's patience.
pub fn never_answers() -> String {
    after_ms(3_600_000, &says("too late"))
}

/// A reply that fails in a way that is not tried again.
pub fn fails() -> String {
    "[[script.reply]]\nerror = \"auth\"\n".to_owned()
}

/// The call of any tool, with its arguments as TOML.
pub fn call(tool: &str, arguments: &str) -> String {
    format!("{{ name = {tool:?}, input = {{ {arguments} }} }}")
}

/// The call of a command.
pub fn command(command: &str) -> String {
    call("run_command", &format!("command = {command:?}"))
}

/// The call of a sub-agent that is waited for.
pub fn spawn(task: &str) -> String {
    spawn_with(task, "")
}

/// The call of a sub-agent with further arguments.
pub fn spawn_with(task: &str, arguments: &str) -> String {
    call("spawn_agent", &format!("task = {task:?}{arguments}"))
}

/// A command that says on a line of `begun` that it has begun, and ends once there is a file `go`.
pub fn waits_for_go(name: &str) -> String {
    command(&format!("echo {name} >> begun; until [ -e go ]; do sleep 0.02; done"))
}
