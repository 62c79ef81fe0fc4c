//! `find`: its tests look, some of its actions do not.

use crate::script::Word;
use crate::verdict::Verdict;

use super::unknown_use;

/// Tests, and the actions that only print.
const LOOKS: [&str; 52] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-maxdepth",
    "-mindepth",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-newer",
    "-newermt",
    "-anewer",
    "-cnewer",
    "-size",
    "-empty",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-links",
    "-inum",
    "-samefile",
    "-depth",
    "-prune",
    "-print",
    "-print0",
    "-printf",
    "-ls",
    "-o",
    "-a",
    "-not",
    "-and",
    "-or",
    "-follow",
    "-L",
    "-H",
    "-P",
    "-xdev",
    "-mount",
    "-quit",
    "-readable",
    "-executable",
];

pub(super) fn verdict(args: &[Word]) -> Verdict {
    let is_number =
        |text: &str| text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let looks = |word: &Word| {
        let text = word.text.as_str();
        // A pattern that holds a dot cannot turn into an action; none has one.
        let is_settled = !word.is_loose || (word.variables.is_empty() && !word.is_computed && text.contains('.'));
        is_settled && (!text.starts_with('-') || LOOKS.contains(&text) || is_number(text))
    };
    match args.iter().find(|word| !looks(word)) {
        None => Verdict::looks(),
        Some(word) if word.text == "-delete" => {
            Verdict { is_tricky: true, ..Verdict::hard_to_undo("it deletes whatever it finds") }
        }
        Some(word) if word.text.starts_with("-exec") || word.text.starts_with("-ok") => {
            Verdict::tricky("it runs a program on whatever it finds")
        }
        Some(word) => unknown_use("find", word),
    }
}
