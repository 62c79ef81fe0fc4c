use super::*;

const ASKED: Asked<'_> = Asked {
    provider: "anthropic",
    model: "claude-x",
    base_url: "https://api.anthropic.com",
    has_key: true,
    key_env: Some("ANTHROPIC_API_KEY"),
};

fn status(code: u16, headers: &[(&'static str, &'static str)], body: &str) -> CallError {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, value.parse().expect("a header value"));
    }
    ASKED.status(StatusCode::from_u16(code).expect("a status"), &map, body.as_bytes())
}

#[test]
fn every_status_has_its_kind() {
    // F14
    for (code, kind) in [
        (400, Kind::Rejected),
        (401, Kind::Auth),
        (403, Kind::Auth),
        (404, Kind::Rejected),
        (408, Kind::Server),
        (409, Kind::Server),
        (413, Kind::ContextTooLong),
        (422, Kind::Rejected),
        (429, Kind::RateLimited),
        (500, Kind::Server),
        (502, Kind::Server),
        (503, Kind::Overloaded),
        (529, Kind::Overloaded),
        (302, Kind::Rejected),
    ] {
        assert_eq!(status(code, &[], "").kind, kind, "{code}");
    }
}

#[test]
fn a_context_that_does_not_fit_is_told_apart_from_other_bad_requests() {
    // F21
    for body in [
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
    ] {
        assert_eq!(status(400, &[], body).kind, Kind::ContextTooLong, "{body}");
    }
}

#[test]
fn the_sentence_says_what_to_do() {
    let refused = status(401, &[], r#"{"error":{"message":"invalid x-api-key"}}"#);
    assert_eq!(
        &*refused.message,
        "anthropic answered 401: the key was refused: set ANTHROPIC_API_KEY to a valid one; it said: invalid x-api-key"
    );
    assert!(status(404, &[], "").message.contains("is the model name `claude-x` right"));
    let quota = status(429, &[], r#"{"error":{"code":"insufficient_quota","message":"You exceeded your quota"}}"#);
    assert_eq!(quota.kind, Kind::Rejected);
    assert!(quota.message.contains("billing"), "{quota}");
}

#[test]
fn a_provider_may_say_whether_to_try_again_but_never_for_a_refused_key() {
    // F14
    assert_eq!(status(500, &[("x-should-retry", "false")], "").kind, Kind::Rejected);
    assert_eq!(status(400, &[("x-should-retry", "true")], "").kind, Kind::Server);
    assert_eq!(status(401, &[("x-should-retry", "true")], "").kind, Kind::Auth);
}

#[test]
fn the_wish_to_wait_is_read_from_the_headers() {
    // F14
    assert_eq!(status(429, &[("retry-after", "7")], "").retry_after_ms, Some(7_000));
    assert_eq!(status(529, &[], "").retry_after_ms, None);
}

#[test]
fn foreign_words_are_one_short_clean_line() {
    // F18
    let page = status(503, &[], "<html><script>alert(1)</script></html>");
    assert!(page.message.ends_with("it said: a web page"), "{page}");
    let noise = status(500, &[], &format!("a\x1b[31m\nb{}", "é".repeat(10_000)));
    assert!(!noise.message.contains(['\x1b', '\n']), "{noise}");
    assert!(noise.message.chars().count() < ERROR_TEXT_CHARS + 100, "{noise}");
}

#[test]
fn errors_in_the_stream_are_classified_by_their_type() {
    for (error, kind) in [
        (r#"{"type":"overloaded_error","message":"Overloaded"}"#, Kind::Overloaded),
        (r#"{"type":"rate_limit_error","message":"x"}"#, Kind::RateLimited),
        (r#"{"type":"api_error","message":"x"}"#, Kind::Server),
        (r#"{"type":"authentication_error","message":"x"}"#, Kind::Auth),
        (r#"{"type":"invalid_request_error","message":"prompt is too long"}"#, Kind::ContextTooLong),
        (r#"{"code":"rate_limit_exceeded","type":"tokens","message":"x"}"#, Kind::RateLimited),
        (r#"{"code":503,"message":"x"}"#, Kind::Overloaded),
        (r#""just words""#, Kind::Server),
        (r#"{}"#, Kind::Server),
    ] {
        let value: Value = serde_json::from_str(error).expect("JSON");
        assert_eq!(in_stream(&value).kind, kind, "{error}");
    }
}
