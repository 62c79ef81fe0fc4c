//! T67: a path that is spelled with white space, control or invisible characters is refused, or is checked and used as one
//! and the same path.

use crate::played;
use crate::site::{KINDS, Site, differences};
use crate::variants::PLACES;

/// Other spellings of a path.
fn spellings(path: &str) -> Vec<String> {
    let mut all = Vec::new();
    for odd in [
        " ", "\t", "\n", "\r", "\u{a0}", "\u{200b}", "\u{feff}", "\u{202e}", "\u{2028}", "\u{7f}", "\u{3000}", "\u{85}",
    ] {
        all.extend([
            format!("{odd}{path}"),
            format!("{path}{odd}"),
            format!("{odd}{path}{odd}"),
            path.replace('/', &format!("/{odd}")),
        ]);
        all.push(path.replacen('.', &format!(".{odd}"), 1));
    }
    all.extend([
        format!("./{path}"),
        format!(".//{path}"),
        format!("d/../{path}"),
        format!("x/.././{path}"),
        path.to_uppercase(),
    ]);
    all.extend([
        path.replace('/', "//"),
        path.replace('/', "/./"),
        format!("{path}/"),
        path.replace('/', "\\"),
        format!("{path}."),
    ]);
    all
}

#[test]
fn however_a_protected_path_is_spelled_it_is_not_written() {
    let variants: Vec<String> = PLACES.iter().flat_map(|place| spellings(place)).collect();
    assert!(variants.len() >= 600);
    let paths = played(variants);
    for kind in KINDS {
        for mode in ["auto", "ask", "dangerous", "plan"] {
            let site = Site::new();
            let before = site.state();
            site.writes(kind, mode, &paths);
            // Whatever was written is an ordinary name: none that a system could take for a protected one.
            let changed = differences(&before, &site.state());
            let is_odd = |line: &String| {
                // A space inside a name is a letter like any other; what cannot be seen is not.
                let seen = |c: &char| !c.is_control() && !shell::is_unseen(*c);
                let name: String = line.split(": ").next().unwrap_or_default().chars().filter(seen).collect();
                let small = name.split('/').map(str::trim).collect::<Vec<_>>().join("/").to_lowercase();
                PLACES.iter().any(|place| small == *place || small.ends_with(&format!("/{place}")))
            };
            let odd: Vec<&String> = changed.iter().filter(|line| is_odd(line)).collect();
            assert!(odd.is_empty(), "{kind} {mode}: {odd:#?}");
            site.git_by_hand(&format!("{kind} {mode}"));
        }
    }
}
