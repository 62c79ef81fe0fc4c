//! What was changed in a draft: its length, greeting, closing, tone or language. What stayed says nothing.

use jiff::Timestamp;
use serde_json::{Map, json};

use super::decision::{Decision, Kind};
use crate::draft::style::Traits;
use crate::mail::address::Person;

/// The least change of length that is one, in words and as a part of what there was.
const FEW_WORDS: usize = 5;
const PART: usize = 5;

/// The decision that lies between two texts of a draft; none where only words in between are others.
pub(super) fn edit(before: &str, after: &str, to: &str, at: Timestamp) -> Option<Decision> {
    let to = Person::read(to);
    let (was, is) = (Traits::of(before, Some(&to)), Traits::of(after, Some(&to)));
    let mut changed = Vec::new();
    let mut context = Map::new();
    let mut note = |what: &'static str, name: &str, value: String| {
        changed.push(what);
        context.insert(name.to_owned(), json!(value));
    };
    if was.language != is.language {
        note("language", "language_for", to.address.clone());
    }
    if let Some(end) = is.sign_off().filter(|end| was.sign_off().as_ref() != Some(end)) {
        note("sign_off", "sign_off", end);
    }
    if let Some(words) = is.salutation(&to).filter(|words| was.salutation(&to).as_ref() != Some(words)) {
        note("greeting", "greeting", words);
    }
    if let Some(manner) = is.manner.filter(|manner| was.manner != Some(*manner) && was.language == is.language) {
        note("tone", "tone", manner.as_str().to_owned());
    }
    let by = was.words.abs_diff(is.words);
    if by >= FEW_WORDS && by * PART >= was.words {
        changed.push(if is.words < was.words { "shortened" } else { "lengthened" });
        context.insert("before_words".to_owned(), json!(was.words));
        context.insert("after_words".to_owned(), json!(is.words));
    }
    context.insert("language".to_owned(), json!(is.language.code()));
    let choice = changed.join(", ");
    (!changed.is_empty()).then(|| Decision { at, kind: Kind::DraftEdit, subject: "draft".to_owned(), choice, context })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SARAH: &str = "Sarah Chen <sarah@globex.example>";
    const LONG: &str = "Dear Sarah,\n\nThank you for the contract, which has arrived here safely this morning. I am going to \
        read it with great care and will come back to you about it.\n\nKind regards\nAlex";

    fn changed(before: &str, after: &str) -> Option<(String, serde_json::Value)> {
        let edit = edit(before, after, SARAH, Timestamp::UNIX_EPOCH)?;
        Some((edit.choice, edit.context.into()))
    }

    #[test]
    fn what_was_changed_is_told_and_what_stayed_is_not() {
        let short = "Hi Sarah,\n\nGot it, thanks. I will sign it today.\n\nBest,\nAlex";
        let (choice, context) = changed(LONG, short).expect("a change");
        assert_eq!(choice, "sign_off, greeting, tone, shortened");
        let expected = json!({ "sign_off": "Best, Alex", "greeting": "Hi", "tone": "familiar", "before_words": 34,
            "after_words": 12, "language": "en" });
        assert_eq!(context, expected);
        let (choice, context) = changed(LONG, &LONG.replace("Kind regards", "Cheers,")).expect("a change");
        assert_eq!((&*choice, &context["sign_off"]), ("sign_off", &json!("Cheers, Alex")));
        assert!(context.get("after_words").is_none() && context.get("greeting").is_none(), "{context}");
        assert_eq!(changed(LONG, &LONG.replace("this morning", "just now")), None);
        assert_eq!(changed(LONG, LONG), None);
    }

    #[test]
    fn another_language_is_a_wish_for_that_person() {
        let german = "Hallo Sarah,\n\nvielen Dank für den Vertrag, er ist heute früh gut angekommen. Ich lese ihn in Ruhe und \
            melde mich dann bei dir.\n\nViele Grüße\nAlex";
        let (choice, context) = changed(LONG, german).expect("a change");
        assert!(choice.starts_with("language"), "{choice}");
        let said = (&context["language_for"], &context["language"], &context["sign_off"]);
        assert_eq!(said, (&json!("sarah@globex.example"), &json!("de"), &json!("Viele Grüße, Alex")));
    }
}
