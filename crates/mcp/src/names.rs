//! Names of servers' tools: `server__tool`, of characters that every provider accepts.
//!
//! A server's name holds no two underscores in a row and none at its ends, so that the first two underscores of a tool's name end the
//! server's name, whatever the server calls its tools.

use std::sync::Arc;

/// What is between a server's name and that of its tool.
pub const SEPARATOR: &str = "__";

/// The longest name that every provider accepts.
const LONGEST: usize = 64;

/// A server's name made of letters, digits, `-` and single `_`; none where nothing of it is left.
pub fn plain_name(name: &str) -> Option<String> {
    let mut plain = String::new();
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        if c != '_' || !plain.ends_with('_') {
            plain.push(c);
        }
    }
    let plain = plain.trim_matches('_');
    (!plain.is_empty() && plain.len() <= LONGEST / 2).then(|| plain.to_owned())
}

/// A pattern of the names by which agents call tools of a server: in `tool`, `*` stands for any text. Without one it is the name of that tool.
pub fn tool_pattern(server: &str, tool: &str) -> String {
    if !tool.contains('*') {
        return of_tool(server, tool).to_string();
    }
    let pieces: Vec<String> = tool.split('*').map(plain).collect();
    format!("{server}{SEPARATOR}{}", pieces.join("*"))
}

/// The name by which agents call a server's tool.
pub(crate) fn of_tool(server: &str, tool: &str) -> Arc<str> {
    let whole = format!("{server}{SEPARATOR}{}", plain(tool));
    if whole.len() <= LONGEST {
        return whole.into();
    }
    // Two long names stay two.
    let digest = blake3::hash(tool.as_bytes()).to_hex();
    format!("{}_{}", &whole[..LONGEST - 9], &digest[..8]).into()
}

fn plain(tool: &str) -> String {
    tool.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // T51
    #[test]
    fn no_name_of_a_tool_can_pass_for_one_of_another_server() {
        assert_eq!(plain_name("my.server").as_deref(), Some("my_server"));
        assert_eq!(plain_name("a__b_").as_deref(), Some("a_b"));
        assert_eq!(plain_name("__"), None);
        assert_eq!(plain_name(&"x".repeat(33)), None);
        assert_eq!(&*of_tool("git", "status"), "git__status");
        assert_eq!(&*of_tool("git", "../status"), "git_____status");
        assert_eq!(tool_pattern("git", "get.*"), "git__get_*");
        assert_eq!(tool_pattern("git", "get.one"), "git__get_one");
        for (server, tool) in [("a", "_b"), ("a", "b__c"), ("a-b", "c/d")] {
            let name = of_tool(server, tool);
            assert_eq!(name.split_once(SEPARATOR).map(|(server, _)| server), Some(server), "{name}");
        }
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let (one, other) = (of_tool("s", &"x".repeat(80)), of_tool("s", &"x".repeat(81)));
        assert!(one != other && one.len() <= LONGEST && other.len() <= LONGEST);
    }
}
