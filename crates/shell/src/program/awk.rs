//! `awk`: a language that can run and write anything; looking, only while its script is literal and holds nothing of
//! the kind.

use crate::options::Options;
use crate::script::Word;
use crate::verdict::Verdict;

use super::unknown_use;

const OPTIONS: Options = Options { short: "", valued: "Fv", long: &[] };

/// What a script could run, write, open, load or ask the environment with, and how one calls a function by a name put
/// together.
const ACTS: [&str; 10] = ["system", ">", "|", "getline", "@", "ENVIRON", "PROCINFO", "ARGV", "close", "/inet"];

pub(super) fn verdict(args: &[Word]) -> Verdict {
    match OPTIONS.operands(args) {
        Err(word) => unknown_use("awk", word),
        Ok(operands) => match operands.first() {
            Some(script) if script.is_literal() && !ACTS.iter().any(|act| script.text.contains(act)) => {
                Verdict::looks()
            }
            Some(_) => Verdict::tricky("its `awk` script can run programs or write files"),
            None => Verdict::unsure("`awk` is given no script"),
        },
    }
}
