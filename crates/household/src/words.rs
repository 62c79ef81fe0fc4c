//! Word lists in three languages: words that say little (`light.txt`), and words that are spelt right (`common.txt`). Folded.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

type ByLanguage = HashMap<&'static str, HashSet<&'static str>>;

/// Whether a folded word says little about what is meant, in any language.
pub fn is_light(folded: &str) -> bool {
    static LIGHT: LazyLock<ByLanguage> = LazyLock::new(|| read(include_str!("words/light.txt")));
    LIGHT.values().any(|words| words.contains(folded))
}

/// Whether a folded word is a common one of a language (`en`, `de`, `fr`), and so no slip of the pen.
pub fn is_common(folded: &str, language: &str) -> bool {
    static COMMON: LazyLock<ByLanguage> = LazyLock::new(|| {
        let mut common = read(include_str!("words/common.txt"));
        for (language, words) in read(include_str!("words/light.txt")) {
            common.entry(language).or_default().extend(words);
        }
        common
    });
    COMMON.get(language).is_some_and(|words| words.contains(folded))
}

fn read(text: &'static str) -> ByLanguage {
    let mut all = ByLanguage::new();
    let mut language = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(heading) => language = heading,
            None => all.entry(language).or_default().extend(line.split_whitespace()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_known_by_language() {
        assert!(is_light("whether") && is_light("eigentlich") && is_light("peut") && !is_light("oven"));
        assert!(is_common("oven", "en") && !is_common("oven", "de") && is_common("whether", "en"));
        for text in [include_str!("words/light.txt"), include_str!("words/common.txt")] {
            for word in text.lines().filter(|line| !line.starts_with(['#', '['])).flat_map(str::split_whitespace) {
                assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word} is not folded");
            }
        }
    }
}
