use super::*;

fn policy() -> Policy {
    Policy { delegates: vec![("delegate_triage".into(), "triage".into())], ..Policy::default() }
}

fn context(message: &str, said: &[&str]) -> DelegationContext {
    let said: Vec<Said> = said.iter().map(|content| Said { role: Speaker::User, content: (*content).into() }).collect();
    DelegationContext {
        parent_agent: BUTLER.into(),
        target_agent: "triage".into(),
        relevant_entities: None,
        time_constraints: None,
        user_preferences: None,
        conversation_history: (!said.is_empty()).then_some(said),
        original_user_message: message.into(),
        delegation_reasoning: "inbox".into(),
    }
}

// ORION-8
#[test]
fn a_context_that_is_not_whole_or_not_for_us_is_rejected() {
    let whole = serde_json::to_value(context("Anything urgent?", &[])).expect("JSON");
    let read = |value: &serde_json::Value| DelegationContext::read(&Json::of(value), &policy());
    assert!(read(&whole).is_ok());
    for required in ["parentAgent", "targetAgent", "originalUserMessage", "delegationReasoning"] {
        let mut without = whole.clone();
        without.as_object_mut().expect("an object").remove(required);
        assert!(read(&without).expect_err("not whole").contains(required), "{required}");
    }
    for (key, value, why) in [
        ("parentAgent", "triage", "parentAgent must be 'butler'"),
        ("targetAgent", "butler", "Unknown agent type: butler"),
        ("originalUserMessage", " ", "a delegation needs originalUserMessage"),
        ("delegationReasoning", "", "a delegation needs delegationReasoning"),
        ("mood", "good", "unknown field"),
    ] {
        let mut other = whole.clone();
        other[key] = value.into();
        assert!(read(&other).expect_err("not for us").contains(why), "{key}");
    }
}

// ORION-18
#[test]
fn what_fits_is_handed_over_whole() {
    let mut context = context("Anything urgent?", &["Hello", "Good morning"]);
    let before = context.clone();
    context.fit(4000).expect("small");
    assert_eq!(context, before);
}

// ORION-18
#[test]
fn the_oldest_of_the_history_goes_first_and_a_mark_says_how_much() {
    let long = "é\"\n".repeat(700);
    let said = [&*long, &*long, &*long, "the newest"];
    for max_tokens in [200, 1000, 2000, 3000] {
        let mut context = context("Anything urgent?", &said);
        context.fit(max_tokens).expect("it can be made to fit");
        assert!(context.tokens() <= max_tokens, "{} of {max_tokens}", context.tokens());
        let history = context.conversation_history.expect("a history");
        let left_out = said.len() + 1 - history.len();
        assert!(left_out > 0);
        assert_eq!(history[0].role, Speaker::System);
        let mark = format!("[{left_out} earlier messages ({} characters) left out", left_out * 2100);
        assert!(history[0].content.starts_with(&mark), "{}", history[0].content);
        assert_eq!(&*history.last().expect("something").content, "the newest");
    }
}

// ORION-18
#[test]
fn a_message_that_is_too_long_by_itself_is_cut_with_a_mark() {
    let long = "ß\u{1}x".repeat(9000);
    let mut context = context(&long, &["Hello"]);
    context.fit(4000).expect("it can be made to fit");
    assert!(context.tokens() <= 4000 && context.tokens() > 3900, "{}", context.tokens());
    let message = context.original_user_message;
    let (kept, mark) = message.rsplit_once(" [").expect("a mark");
    assert!(long.starts_with(kept));
    let left_out = long.chars().count() - kept.chars().count();
    assert_eq!(mark, format!("{left_out} more characters left out; the butler has them]"));
}

// ORION-18
#[test]
fn what_cannot_be_made_to_fit_is_refused_and_says_by_which_limit() {
    let error = context("Anything urgent?", &[]).fit(10).expect_err("too small for anything");
    assert!(error.contains("policy.max_context_tokens"), "{error}");
}
