//! Which requests are accepted: those that know a secret and come from our own origin.

use majordomo_server::Server;
use serde_json::json;

use crate::open::{Entered, Open};

// T1, T2, T3, T4
#[tokio::test(flavor = "multi_thread")]
async fn only_requests_that_know_a_secret_and_come_from_our_origin_are_accepted() {
    let open = Open::new().await;
    let (here, bearer) = (format!("Host: {}\r\n", open.addr), format!("Authorization: Bearer {}\r\n", open.token));
    let ask =
        |path: &str, headers: &str| open.status(&format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"));
    for path in [
        "/api/v1/threads",
        "/api/v1/threads/x/events",
        "/api/v1/events",
        "/",
        "/page/main.js",
        "/api/v1/healthz",
        "/nothing",
    ] {
        assert_eq!(ask(path, &here), 401, "{path} without a secret");
        assert_eq!(ask(path, &format!("{bearer}Host: evil.example\r\n")), 421, "{path} under another name");
        assert_eq!(ask(path, &format!("{here}{bearer}Origin: http://evil.example\r\n")), 403, "{path} from elsewhere");
        assert_eq!(ask(path, &format!("{here}{bearer}Sec-Fetch-Site: cross-site\r\n")), 403, "{path} from elsewhere");
    }
    assert_eq!(ask("/healthz", &here), 200);
    assert_eq!(ask("/healthz", "Host: evil.example\r\n"), 421);
    assert_eq!(
        ask(&format!("/api/v1/threads?token={}", open.token), &here),
        401,
        "an address is no place for a secret"
    );
    assert_eq!(ask("/api/v1/threads", &format!("{here}{bearer}")), 200);
    assert_eq!(ask("/api/v1/threads", &format!("{here}Authorization: Bearer {}\r\n", "0".repeat(64))), 401);
    let said = open.raw(&format!(
        "OPTIONS /api/v1/threads HTTP/1.1\r\n{here}Origin: http://evil.example\r\nConnection: close\r\n\r\n"
    ));
    assert!(!said.to_lowercase().contains("access-control-allow-origin"), "{said}");
    open.close().await;
}

// T3, T6
#[tokio::test(flavor = "multi_thread")]
async fn the_link_lets_one_browser_in_and_the_page_says_what_it_may_load() {
    let open = Open::new().await;
    let entered = open.client.get(&open.link).send().await.expect("an answer");
    let cookie = entered.headers()["set-cookie"].to_str().expect("text").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(cookie.contains("; Max-Age=2592000;"), "thirty days, as the README promises: {cookie}");
    let again = open.client.get(&open.link).send().await.expect("an answer");
    assert_eq!((again.status().as_u16(), again.headers().get("set-cookie")), (401, None));
    let session = Entered::of(entered).await;
    let page = open.client.get(open.url("/")).header("cookie", &session.cookie).send().await.expect("an answer");
    assert_eq!(page.status(), 200);
    let policy = page.headers()["content-security-policy"].to_str().expect("text").to_owned();
    assert!(
        policy.contains("default-src 'none'")
            && policy.contains("frame-ancestors 'none'")
            && !policy.contains("unsafe"),
        "{policy}"
    );
    let start = |site: Option<&str>| {
        let mut request = session.asks(open.client.post(open.url("/api/v1/threads")));
        if let Some(site) = site {
            request = request.header("sec-fetch-site", site);
        }
        request.header("content-type", "application/json").body(r#"{"message": "greenhouse"}"#).send()
    };
    assert_eq!(start(None).await.expect("an answer").status(), 403, "it does not say where it is");
    assert_eq!(start(Some("cross-site")).await.expect("an answer").status(), 403);
    assert_eq!(start(Some("same-origin")).await.expect("an answer").status(), 201);
    open.close().await;
}

// T5
#[tokio::test]
async fn an_address_that_others_reach_needs_a_password() {
    let open = Open::new().await;
    let options = majordomo_server::Options {
        addr: "0.0.0.0:0".parse().expect("an address"),
        names: Vec::new(),
        password: None,
        data: open.folder.path().join("data"),
        page: None,
    };
    let refused = Server::bind(open.staff.clone(), options).await.err().expect("refused");
    assert!(matches!(refused, majordomo_server::Error::Open(_)), "{refused}");
    open.close().await;
}

// T1: whatever a page of another site sends with a person's own browser, it changes nothing
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_changed_for_another_site_whatever_it_calls_its_body() {
    let open = Open::new().await;
    let thread = open.start("write it").await;
    let question = open.question().await;
    let entered = open.entered().await;
    let document = open.get("/openapi.json").await;
    let newest = *open.staff.runtime().store().tail().borrow();
    let bodies = json!({
        "startThread": { "message": "greenhouse" },
        "sendMessage": { "text": "greenhouse" },
        "steerThread": { "text": "greenhouse" },
        "stopThread": { "now": true },
        "decideApproval": { "decision": "allow", "digest": question["digest"] },
        "chat": { "message": "greenhouse" },
    });
    let elsewhere = [
        vec![("origin", "http://evil.example"), ("sec-fetch-site", "cross-site")],
        vec![("origin", "null")],
        vec![("sec-fetch-site", "same-site")],
    ];
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let name = if path.contains("approvals") { question["id"].as_str().expect("an id") } else { &thread };
        let address = path.replace("{id}", &name.replace('/', "%2F"));
        for (method, told) in methods.as_object().expect("methods").iter().filter(|(method, _)| *method != "get") {
            let body = bodies[told["operationId"].as_str().expect("a name")].to_string();
            for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json"] {
                for headers in &elsewhere {
                    let method = method.to_uppercase().parse().expect("a method");
                    let mut request = entered.asks(open.client.request(method, open.url(&address)));
                    for (name, value) in headers {
                        request = request.header(*name, *value);
                    }
                    let answer =
                        request.header("content-type", kind).body(body.clone()).send().await.expect("an answer");
                    assert_eq!(answer.status(), 403, "{path} as {kind} from {headers:?}");
                    assert!(!answer.headers().contains_key("access-control-allow-origin"));
                    tried += 1;
                }
            }
        }
    }
    assert!(tried >= 8 * 12, "{tried}");
    assert_eq!(*open.staff.runtime().store().tail().borrow(), newest, "nothing was written");
    // From our own page it must be JSON, too, and nothing that a form could be.
    let own = |kind: &'static str| {
        let request = entered.asks(open.client.post(open.url("/api/v1/threads")));
        let request = request.header("origin", format!("http://{}", open.addr)).header("content-type", kind);
        request.body(r#"{"message": "greenhouse"}"#).send()
    };
    assert_eq!(own("text/plain").await.expect("an answer").status(), 415);
    assert_eq!(own("application/x-www-form-urlencoded").await.expect("an answer").status(), 415);
    assert_eq!(own("application/json; charset=utf-8").await.expect("an answer").status(), 201);
    open.close().await;
}

// T2
#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_another_host_is_answered_nowhere() {
    let open = Open::new().await;
    let (addr, port) = (open.addr, open.addr.port());
    let bearer = format!("Authorization: Bearer {}\r\nConnection: close\r\n", open.token);
    let ask = |target: &str, hosts: &str| open.status(&format!("GET {target} HTTP/1.1\r\n{hosts}{bearer}\r\n"));
    let elsewhere = [
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        "Host: \r\n".to_owned(),
        String::new(),
        format!("Host: {addr}\r\nHost: {addr}\r\n"),
        format!("Host: {addr}\r\nHost: evil.example\r\n"),
        format!("Host: evil.example@{addr}\r\n"),
        format!("Host: {addr}.evil.example\r\n"),
    ];
    for path in
        ["/api/v1/threads", "/api/v1/events", "/api/v1/threads/x/events", "/", "/page/main.js", "/healthz", "/enter"]
    {
        for hosts in &elsewhere {
            let status = ask(path, hosts);
            assert!([400, 421].contains(&status), "{path} with {hosts:?}: {status}");
        }
        let here = format!("Host: {addr}\r\n");
        assert_eq!(ask(&format!("http://evil.example{path}"), &here), 421, "{path} in absolute form");
        assert_ne!(ask(&format!("http://{addr}{path}"), &here), 421, "{path} in absolute form, here");
    }
    open.close().await;
}

// T4
#[tokio::test(flavor = "multi_thread")]
async fn another_site_gets_no_stream_no_socket_and_no_leave_to_ask() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    let Entered { cookie, page } = open.entered().await;
    let known = format!("Host: {}\r\nCookie: {cookie}\r\nX-Majordomo-Page: {page}\r\n", open.addr);
    let streams =
        ["/api/v1/events".to_owned(), format!("/api/v1/threads/{thread}/events"), "/api/stream/x?prompt=y".to_owned()];
    let evil = "Origin: http://evil.example";
    for path in streams {
        for from in [evil, "Origin: null", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors"] {
            let said = open.raw(&format!("GET {path} HTTP/1.1\r\n{known}{from}\r\nConnection: close\r\n\r\n"));
            assert!(said.starts_with("HTTP/1.1 403"), "{path} {from}: {said}");
        }
        let asks = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type";
        let said =
            open.raw(&format!("OPTIONS {path} HTTP/1.1\r\n{known}{evil}\r\n{asks}\r\nConnection: close\r\n\r\n"));
        assert!(said.starts_with("HTTP/1.1 403") && !said.to_lowercase().contains("access-control"), "{said}");
        let socket =
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==";
        let said = open.raw(&format!("GET {path} HTTP/1.1\r\n{known}{socket}\r\n{evil}\r\n\r\n"));
        assert!(said.starts_with("HTTP/1.1 403"), "{said}");
        let own = format!("Origin: http://{}", open.addr);
        let said = open.raw(&format!("GET {path} HTTP/1.1\r\n{known}{socket}\r\n{own}\r\n\r\n"));
        assert!(!said.starts_with("HTTP/1.1 101"), "that protocol is not spoken here: {said}");
    }
    open.close().await;
}

// T8: only so many are kept, however many come
#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_browsers_stay_let_in_and_a_wrong_password_opens_nothing() {
    let open = Open::built(tempfile::tempdir().expect("a passing folder"), Some("sesame"), "script.toml").await;
    let enter = |password: &'static str| {
        let request = open.client.post(open.url("/enter")).header("origin", format!("http://{}", open.addr));
        request.header("content-type", "application/x-www-form-urlencoded").body(format!("password={password}")).send()
    };
    assert_eq!(enter("simsim").await.expect("an answer").status(), 401);
    let mut all = Vec::new();
    for _ in 0..70 {
        all.push(Entered::of(enter("sesame").await.expect("an answer")).await);
    }
    let mut let_in = Vec::new();
    for entered in &all {
        let request = entered.asks(open.client.get(open.url("/api/v1/threads")));
        let_in.push(request.send().await.expect("an answer").status() == 200);
    }
    let expected: Vec<bool> = (0..70).map(|number| number >= 6).collect();
    assert_eq!(let_in, expected, "the first comers are shown out");
    open.close().await;
}

// T3, T23: a browser shows its cookies to every port of a host, and a program that has one can pretend to be a browser
#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_that_another_program_saw_opens_the_page_and_tells_and_does_nothing() {
    let open = Open::new().await;
    let Entered { cookie, page } = open.entered().await;
    let forged = |method: &str, path: &str, more: &str| {
        let origin = format!("Origin: http://{}\r\nSec-Fetch-Site: same-origin", open.addr);
        let body = r#"{"message": "greenhouse"}"#;
        let body = if method == "POST" { body } else { "" };
        open.status(&format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nCookie: {cookie}\r\n{origin}\r\n{more}Connection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            open.addr,
            body.len()
        ))
    };
    assert_eq!((forged("GET", "/", ""), forged("GET", "/page/main.js", "")), (200, 200));
    let own = format!("X-Majordomo-Page: {page}\r\n");
    for path in ["/api/v1/threads", "/api/v1/approvals", "/api/v1/config", "/api/v1/healthz", "/api/v1/usage"] {
        assert_eq!((forged("GET", path, ""), forged("GET", path, &own)), (401, 200), "{path}");
    }
    for path in ["/api/v1/threads", "/api/chat"] {
        assert_eq!(forged("POST", path, ""), 401, "{path}");
        assert_eq!(forged("POST", path, "X-Majordomo-Page: \r\n"), 401, "{path}");
    }
    assert_eq!(open.get("/threads").await, json!([]), "nothing was begun");
    assert_eq!(forged("POST", "/api/v1/threads", &own), 201);
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_of_our_name_that_another_port_has_set_keeps_no_browser_out() {
    let open = Open::new().await;
    let Entered { cookie, page } = open.entered().await;
    for cookies in [format!("majordomo=bogus; {cookie}"), format!("{cookie}; majordomo=bogus")] {
        let request = open.client.get(open.url("/api/v1/threads")).header("cookie", &cookies);
        let answer = request.header("x-majordomo-page", &page).send().await.expect("an answer");
        assert_eq!(answer.status(), 200, "{cookies}");
    }
    open.close().await;
}

// T3: whatever looks at a link before a person opens it does not use it up
#[tokio::test(flavor = "multi_thread")]
async fn looking_at_a_link_does_not_use_it_up() {
    let open = Open::new().await;
    let looked = open.client.head(&open.link).send().await.expect("an answer");
    assert_eq!((looked.status().as_u16(), looked.headers().get("set-cookie")), (405, None));
    open.entered().await;
    open.close().await;
}
