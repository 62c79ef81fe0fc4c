//! Images, documents and texts that come with a task or are read by an agent: what models are sent of them, on every wire.

use provider::Wire;
use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Request, Turn};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::setup::{Ran, Setup};

/// A red and a green pixel.
const PICTURE: &[u8] = b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x02\x00\x00\x00\x01\x08\x02\x00\x00\x00\x7b\x40\xe8\xdd\x00\x00\x00\x0f\x49\x44\x41\x54\x78\x9c\x63\xf8\xcf\xc0\xc0\xf0\x9f\x01\x00\x07\xff\x01\xff\x01\x7f\x89\xa7\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";
/// The same in base64.
const PICTURE_TEXT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGP4z8DA8J8BAAf/Af8Bf4mnAAAAAElFTkSuQmCC";
/// A document of one page, as far as anybody looks.
const DOCUMENT: &[u8] = b"%PDF-1.4\n1 0 obj << /Type /Page >> endobj\n%%EOF\n";
const DOCUMENT_TEXT: &str = "JVBERi0xLjQKMSAwIG9iaiA8PCAvVHlwZSAvUGFnZSA+PiBlbmRvYmoKJSVFT0YK";

/// A model of each wire that takes images and, but for Ollama's, documents.
fn able(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "anthropic/claude-haiku-4-5",
        Wire::OpenAi | Wire::Responses => "openai/gpt-5",
        Wire::Gemini => "gemini/gemini-3.8-flash",
        Wire::Ollama => "ollama/gemma4",
    }
}

fn setup(wire: Wire, server: &ModelServer) -> Setup {
    let setup = Setup::at(wire, server);
    std::fs::write(setup.work("picture.png"), PICTURE).expect("a file");
    std::fs::write(setup.work("paper.pdf"), DOCUMENT).expect("a file");
    setup.write("words.txt", "TEXT-CANARY");
    setup
}

fn raw(request: &Request) -> String {
    String::from_utf8_lossy(&request.raw).into_owned()
}

fn refusals(server: &ModelServer) -> Vec<String> {
    server.refusals()
}

async fn looks(wire: Wire, words: &[&str]) -> (ModelServer, Ran, Setup) {
    let server = ModelServer::start(|_| Turn::text("I see.")).await;
    let setup = setup(wire, &server);
    let ran = setup.run(&[&["run", "-m", able(wire)], words].concat()).await;
    (server, ran, setup)
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_come_with_a_task_reach_the_model_on_every_wire() {
    for wire in Wire::ALL {
        let files = ["-f", "picture.png", "-f", "words.txt", "What is this?", "-f", "paper.pdf"];
        let takes_documents = wire != Wire::Ollama;
        let (server, ran, setup) = looks(wire, if takes_documents { &files } else { &files[..5] }).await;
        let ran = ran.exits(0);
        assert_eq!(refusals(&server), [""; 0], "{wire:?}");
        assert_eq!(ran.stdout, "I see.\n");
        let sent = raw(&server.requests()[0]);
        for (what, text) in [("image", PICTURE_TEXT), ("text", "TEXT-CANARY"), ("document", DOCUMENT_TEXT)] {
            let is_sent = takes_documents || what != "document";
            assert_eq!(sent.contains(text), is_sent, "{wire:?}: the {what} in {sent}");
        }
        assert!(server.requests()[0].first_words.starts_with("What is this?"), "{wire:?}");
        // The bytes are kept once, under what they are, and the log names them.
        let shown = setup.run(&["thread", "ls", "--json"]).await.exits(0);
        let rows: Value = serde_json::from_str(&shown.stdout).expect("a list");
        let thread = rows[0]["id"].as_str().expect("an id").to_owned();
        let log = setup.run(&["thread", "show", &thread, "--jsonl"]).await.exits(0);
        assert!(!log.stdout.contains(PICTURE_TEXT), "{wire:?}");
        let kept = std::fs::read_dir(setup.aside("home/.local/share/majordomo/artefacts")).expect("artefacts").count();
        assert_eq!(kept, if takes_documents { 2 } else { 1 }, "{wire:?}");
    }
}

/// Sends a message with the picture, the document and a text to a server that runs: the status, and the answer.
async fn sends(setup: &Setup, wire: Wire, more: &[&str]) -> (String, String) {
    let words = [&["serve", "--addr", "127.0.0.1:0", "-m", able(wire), "-a", "general"], more].concat();
    let mut serving = setup.command(&words).spawn().expect("the binary starts");
    let mut said = BufReader::new(serving.stderr.take().expect("what it says")).lines();
    let address = loop {
        let line = said.next_line().await.expect("a line").expect("it listens");
        if let Some((_, address)) = line.split_once("listens on http://") {
            break address.trim().to_owned();
        }
    };
    let token = setup.aside("home/.local/share/majordomo/server.token");
    let token = std::fs::read_to_string(token).expect("a token");
    let files = [("picture.png", PICTURE_TEXT), ("words.txt", "VEVYVC1DQU5BUlk="), ("paper.pdf", DOCUMENT_TEXT)];
    let files = if wire == Wire::Ollama { &files[..2] } else { &files[..] };
    let files: Vec<Value> = files.iter().map(|(name, data)| json!({"name": name, "data": data})).collect();
    let body = json!({"message": "What is this?", "files": files}).to_string();
    let request = format!(
        "POST /api/chat HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        token.trim(),
        body.len()
    );
    let mut stream = TcpStream::connect(&address).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer to its end");
    serving.kill().await.expect("it ends");
    (answer.split(' ').nth(1).expect("a status").to_owned(), answer)
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_sent_over_http_reach_the_model_on_every_wire_as_those_of_a_task_do() {
    for wire in Wire::ALL {
        let server = ModelServer::start(|_| Turn::text("I see.")).await;
        let setup = setup(wire, &server);
        let (status, answer) = sends(&setup, wire, &[]).await;
        assert!(status == "200" && answer.contains("I see."), "{wire:?}: {answer}");
        assert_eq!(refusals(&server), [""; 0], "{wire:?}");
        let sent = raw(&server.requests()[0]);
        let all = [("image", PICTURE_TEXT), ("text", "TEXT-CANARY"), ("document", DOCUMENT_TEXT)];
        for (what, text) in if wire == Wire::Ollama { &all[..2] } else { &all[..] } {
            assert!(sent.contains(text), "{wire:?}: the {what} is missing in {sent}");
        }
        // Another process goes on with the conversation, and the model sees them still.
        setup.run(&["run", "-c", "And now?"]).await.exits(0);
        assert!(raw(server.requests().last().expect("a request")).contains(PICTURE_TEXT), "{wire:?}");
        let blind = format!("models.\"{}\".takes=tools", able(wire));
        let (status, answer) = sends(&setup, wire, &["--set", &blind]).await;
        assert!(status == "422" && answer.contains("takes no images"), "{wire:?}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_a_task_names_with_an_at_sign_comes_with_it() {
    let task = "Compare @picture.png, (@words.txt) and ann@example.org with @nothing.";
    let (server, ran, _) = looks(Wire::Anthropic, &[task]).await;
    ran.exits(0);
    let sent = raw(&server.requests()[0]);
    assert!(sent.contains(PICTURE_TEXT) && sent.contains("TEXT-CANARY") && sent.contains("@nothing."), "{sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_an_agent_reads_is_shown_with_the_result_and_stays_in_the_conversation() {
    for wire in Wire::ALL {
        let server = ModelServer::start(|request| match request.assistant_messages {
            0 => Turn::text("").call("c0", "read_file", r#"{"path":"picture.png"}"#),
            1 => Turn::text("").call("c1", "read_file", r#"{"path":"paper.pdf"}"#),
            _ => Turn::text("A red and a green pixel."),
        })
        .await;
        let ran = setup(wire, &server).run(&["run", "-m", able(wire), "Look at the picture"]).await.exits(0);
        assert_eq!(refusals(&server), [""; 0], "{wire:?}");
        assert_eq!(ran.stdout, "A red and a green pixel.\n", "{wire:?}");
        let requests = server.requests();
        assert!(raw(&requests[1]).contains(PICTURE_TEXT), "{wire:?}");
        let document = if wire == Wire::Ollama { "this model does not take one" } else { DOCUMENT_TEXT };
        assert!(raw(&requests[2]).contains(PICTURE_TEXT) && raw(&requests[2]).contains(document), "{wire:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_takes_no_images_is_told_so_and_so_is_the_person() {
    for wire in Wire::ALL {
        let model = able(wire);
        let set = format!("models.\"{model}\".takes=tools");
        let server = ModelServer::start(|request| match request.assistant_messages {
            0 => Turn::text("").call("c0", "read_file", r#"{"path":"picture.png"}"#),
            _ => Turn::text("I cannot see it."),
        })
        .await;
        let setup = setup(wire, &server);
        let ran = setup.run(&["run", "-m", model, "--set", &set, "-f", "picture.png", "What is this?"]).await.exits(2);
        assert!(ran.stderr.contains(&format!("{model} takes no images")), "{}", ran.stderr);
        assert_eq!(server.requests().len(), 0, "{wire:?}");
        setup.run(&["run", "-m", model, "--set", &set, "Look at the picture"]).await.exits(0);
        assert_eq!(refusals(&server), [""; 0], "{wire:?}");
        let sent = raw(&server.requests()[1]);
        assert!(sent.contains("this model does not take one") && !sent.contains(PICTURE_TEXT), "{wire:?}: {sent}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_passed_is_refused_before_anything_is_sent() {
    let server = ModelServer::start(|_| Turn::text("I see.")).await;
    let setup = setup(Wire::Anthropic, &server);
    std::fs::write(setup.work("data.bin"), b"\x00\x01\x02").expect("a file");
    std::fs::write(setup.work("broken.png"), &PICTURE[..20]).expect("a file");
    setup.write("long.txt", &"words ".repeat(60_000));
    for (file, told) in [
        ("missing.png", "missing.png cannot be passed"),
        (".", "it is no plain file"),
        ("data.bin", "data.bin is neither a text, nor an image"),
        ("broken.png", "'broken.png' cannot be read as an image"),
        ("long.txt", "is longer than 256 KiB"),
    ] {
        let ran = setup.run(&["run", "-f", file, "Look"]).await.exits(2);
        assert!(ran.stderr.contains(told), "{file}: {}", ran.stderr);
    }
    assert_eq!(server.requests().len(), 0);
}
