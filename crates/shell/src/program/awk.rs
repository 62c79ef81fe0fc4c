//! `awk`: a language that can run and write anything; looking, only while its script is literal and holds nothing of
//! the kind.

use crate::options::Options;
use crate::script::Word;
use crate::verdict::Verdict;

use super::unknown_use;

const OPTIONS: Options = Options { short: "", valued: "Fv", long: &[] };

/// What a script could run, write, open, load or ask the environment with, and how one calls a function by a name put
/// together.
const ACTS: [&str; 9] = ["system", "|", "getline", "@", "ENVIRON", "PROCINFO", "ARGV", "close", "/inet"];

pub(super) fn verdict(args: &[Word]) -> Verdict {
    match OPTIONS.operands(args) {
        Err(word) => unknown_use("awk", word),
        Ok(operands) => match operands.first() {
            Some(script)
                if script.is_literal()
                    && !ACTS.iter().any(|act| script.text.contains(act))
                    && !prints_to_file(&script.text) =>
            {
                Verdict::looks()
            }
            Some(_) => Verdict::tricky("its `awk` script can run programs or write files"),
            None => Verdict::unsure("`awk` is given no script"),
        },
    }
}

/// Whether a `>` may send what is printed to a file. Elsewhere it compares two values.
fn prints_to_file(script: &str) -> bool {
    if !script.contains('>') {
        return false;
    }
    // A slash may begin a pattern and a hash a comment, in which quotes mean nothing; a statement may go on in the next line.
    if script.contains(['/', '#', '\\', '\n']) {
        return true;
    }
    let (mut is_quoted, mut is_escaped, mut statement) = (false, false, String::new());
    for c in script.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            ';' | '{' | '}' | '\n' => statement.clear(),
            '>' if statement.contains("print") => return true,
            c => statement.push(c),
        }
    }
    is_quoted
}
