//! The door: by the link that was printed, or by the password.

use axum::Form;
use axum::extract::State;
use axum::extract::rejection::FormRejection;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::extract::QueryParams;
use crate::access::Entered;
use crate::problem::Problem;
use crate::server::Shared;

/// The code of a sign-in link.
#[derive(Deserialize, JsonSchema)]
pub struct Code {
    /// The code of the link.
    code: Option<String>,
}

/// `GET /enter?code=…`: lets a browser in, once. A request that only checks the address (`HEAD`) does not use the code up.
pub async fn by_link(
    State(shared): State<Shared>,
    method: Method,
    headers: HeaderMap,
    QueryParams(said): QueryParams<Code>,
) -> Response {
    if method == Method::HEAD {
        return Problem::not_allowed("GET, POST").into_response();
    }
    let entered = match said.code {
        Some(code) => shared.access.enter_by_code(&code).await,
        None => None,
    };
    match entered {
        Some(entered) => welcome(&entered),
        // A link that was used, in a browser that it let in.
        None if shared.access.is_inside(&headers) => Redirect::to("/").into_response(),
        None => door(&shared, StatusCode::UNAUTHORIZED),
    }
}

/// The form by which a browser signs in.
#[derive(Deserialize, JsonSchema)]
pub struct Password {
    /// The password.
    password: String,
}

/// `POST /enter`: lets a browser in by the password.
pub async fn by_password(State(shared): State<Shared>, said: Result<Form<Password>, FormRejection>) -> Response {
    let Ok(Form(said)) = said else { return door(&shared, StatusCode::UNAUTHORIZED) };
    match shared.access.enter_by_password(&said.password).await {
        Ok(entered) => welcome(&entered),
        Err(status) => door(&shared, status),
    }
}

/// What is shown to those who are not let in.
pub fn door(shared: &Shared, status: StatusCode) -> Response {
    let form = r#"<form method="post" action="/enter"><label>Password <input type="password" name="password" autofocus></label> <button>Enter</button></form>"#;
    let form = if shared.access.asks_for_password() { form } else { "" };
    let words = match status {
        StatusCode::TOO_MANY_REQUESTS => "Too many passwords are being tried. Wait a moment and try again.",
        _ => {
            "Open the link that <code>majordomo serve</code> printed; it lets one browser in, once. Start it again for another."
        }
    };
    (status, Html(page("Majordomo", &format!("<h1>Majordomo</h1><p>{words}</p>{form}")))).into_response()
}

/// Goes on to the page from here: a cookie that is strict is not sent along where another site's link led. The page's own secret
/// is in the fragment, from which the page takes it at once (`page/secret.js`).
fn welcome(entered: &Entered) -> Response {
    let (to, cookie) = (format!("/#enter={}", entered.page), entered.cookie());
    let on = format!(r#"<meta http-equiv="refresh" content="0;url={to}"><p><a href="{to}">Go on</a></p>"#);
    ([(header::SET_COOKIE, cookie), (header::CACHE_CONTROL, "no-store".to_owned())], Html(page("Majordomo", &on)))
        .into_response()
}

fn page(title: &str, body: &str) -> String {
    format!(
        r#"<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>{title}</title><body>{body}"#
    )
}
