//! The server of llama-cpp-python, with a model of a few thousand random numbers that `tiny_model.py` writes. What it says makes no
//! sense; how it says it is what a person's own server does.

use std::path::Path;
use std::process::Command;

use agent::model::{CallErrorKind, StopReason};
use provider::Wire;

use super::program::{Program, ask, begin, environment};

const WINDOW: u32 = 512;

async fn server(folder: &Path) -> Program {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/tiny_model.py");
    let wrote = Command::new(environment().join("bin/python")).arg(script).arg(folder.join("tiny.gguf")).output();
    let wrote = wrote.expect("python runs");
    assert!(wrote.status.success(), "{}", String::from_utf8_lossy(&wrote.stderr));
    let window = WINDOW.to_string();
    let arguments = [
        &["-m", "llama_cpp.server", "--model", "tiny.gguf", "--model_alias", "tiny", "--n_ctx", &window][..],
        &["--chat_format", "chatml", "--host", "127.0.0.1", "--port", "{port}"],
    ];
    Program::start(folder, "python", &arguments.concat(), "/v1/models").await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs llama-cpp-python: cargo xtask test --with-servers"]
async fn a_model_of_llama_cpp_python_is_listed_answers_and_says_what_does_not_fit() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = server(folder.path()).await;
    let providers = server.providers(Wire::OpenAi);
    let listed = providers.list("other").await.unwrap_or_else(|error| panic!("{error}\n{}", server.log()));
    assert_eq!(listed.iter().map(|listed| listed.name.as_str()).collect::<Vec<_>>(), ["tiny"]);

    let answer = begin(&providers, "tiny", "Hello", &[]).ask(ask(8)).await;
    let answer = answer.unwrap_or_else(|error| panic!("{error}\n{}", server.log()));
    assert!(matches!(answer.stop, StopReason::EndTurn | StopReason::MaxTokens), "{answer:?}");

    // To a request for a stream it sends an empty one, and says why to the next.
    let long = begin(&providers, "tiny", &"word ".repeat(2_000), &[]);
    let empty = long.ask(ask(8)).await.expect_err("it does not fit");
    assert_eq!(empty.kind, CallErrorKind::Unsupported, "{empty}\n{}", server.log());
    let mut error = long.ask(ask(8)).await.expect_err("it does not fit");
    if error.kind == CallErrorKind::Connection {
        // It closes the connection of the empty stream; a request that was already on it is sent again.
        error = long.ask(ask(8)).await.expect_err("it does not fit");
    }
    assert_eq!(
        (error.kind, error.window_tokens),
        (CallErrorKind::ContextTooLong, Some(WINDOW)),
        "{error}\n{}",
        server.log()
    );
}
