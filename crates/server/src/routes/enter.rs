//! The door: by the link that was printed, or by the password.

use axum::Form;
use axum::extract::State;
use axum::extract::rejection::FormRejection;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::asked::Asked;
use crate::window::Shared;

/// What somebody who comes by the link says.
#[derive(Deserialize, JsonSchema)]
pub struct Code {
    /// The code of the link.
    code: Option<String>,
}

/// `GET /enter?code=…`: lets a browser in, once.
pub async fn by_link(State(shared): State<Shared>, Asked(said): Asked<Code>) -> Response {
    match shared.access.enter(said.code.as_deref(), None) {
        Some(cookie) => welcome(cookie),
        None => door(&shared, StatusCode::UNAUTHORIZED),
    }
}

/// What somebody at the door says.
#[derive(Deserialize)]
pub struct Password {
    password: String,
}

/// `POST /enter`: lets a browser in by the password.
pub async fn by_password(State(shared): State<Shared>, said: Result<Form<Password>, FormRejection>) -> Response {
    let password = said.ok().map(|Form(said)| said.password);
    match shared.access.enter(None, password.as_deref()) {
        Some(cookie) => welcome(cookie),
        None => door(&shared, StatusCode::UNAUTHORIZED),
    }
}

/// What is shown to those who are not let in.
pub fn door(shared: &Shared, status: StatusCode) -> Response {
    let form = r#"<form method="post" action="/enter"><label>Password <input type="password" name="password" autofocus></label> <button>Enter</button></form>"#;
    let form = if shared.access.asks_for_password() { form } else { "" };
    let words = "Open the link that <code>majordomo serve</code> printed; it lets one browser in, once. Start it again for another.";
    (status, Html(page("Majordomo", &format!("<h1>Majordomo</h1><p>{words}</p>{form}")))).into_response()
}

/// Goes on to the page from here: a cookie that is strict is not sent along where another site's link led.
fn welcome(cookie: String) -> Response {
    let on = r#"<meta http-equiv="refresh" content="0;url=/"><p><a href="/">Go on</a></p>"#;
    ([(header::SET_COOKIE, cookie), (header::CACHE_CONTROL, "no-store".to_owned())], Html(page("Majordomo", on)))
        .into_response()
}

fn page(title: &str, body: &str) -> String {
    format!(
        r#"<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>{title}</title><body>{body}"#
    )
}
