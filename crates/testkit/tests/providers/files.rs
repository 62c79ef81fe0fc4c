//! Images and documents that a server turns out not to take: it is asked again without them, and the model is told.

use std::sync::Arc;

use agent::message::{Attachment, Media, Message, Origin, Part, Role};
use agent::model::CallErrorKind as Kind;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use majordomo_testkit::model_server::{ModelServer, Turn};
use provider::{AttachedBytes, Conversation, Providers, Wire};

use super::stage::{WIRES, ask, config, providers, said, tool};

const IMAGE: &[u8] = b"the bytes of an image";
const PDF: &[u8] = b"the bytes of a document";

fn attachment(media: Media) -> Part {
    let (digest, name) = if media == Media::Pdf { ("pdf", "plan.pdf") } else { ("image", "house.png") };
    Part::Attached(Attachment { digest: digest.into(), media, name: name.into(), bytes: 20, tokens: 10 })
}

fn knowing(wire: Wire, server: &ModelServer) -> Providers {
    let bytes = AttachedBytes::new(|digest| Some(if digest == "pdf" { PDF.to_vec() } else { IMAGE.to_vec() }));
    providers(config(wire, server.url(wire))).with_attached_bytes(bytes)
}

/// A conversation with an image and a document.
fn showing(providers: &Providers) -> Conversation {
    let mut conversation = providers.open("test/a-model").expect("a model");
    conversation.begin("be brief", "", &[tool()]);
    let text = Part::Text { text: "look".into(), origin: Origin::Person };
    conversation.push(&said(Role::User, vec![text, attachment(Media::Png), attachment(Media::Pdf)]));
    conversation
}

/// Whether a request holds the image, and the document.
fn held(raw: &[u8]) -> (bool, bool) {
    let raw = String::from_utf8_lossy(raw).into_owned();
    let has = |bytes: &[u8]| raw.contains(&BASE64_STANDARD.encode(bytes));
    (has(IMAGE), has(PDF))
}

/// A server that refuses requests with an image, or with a document, in these words.
async fn refusing(status: u16, words: &'static str, media: Media) -> ModelServer {
    ModelServer::start(move |request| {
        let (image, pdf) = held(&request.raw);
        match if media == Media::Pdf { pdf } else { image } {
            true => Turn::status(status, vec![], words),
            false => Turn::text("good"),
        }
    })
    .await
}

#[tokio::test]
async fn a_kind_of_file_that_the_model_does_not_take_is_left_out_for_the_whole_run_and_the_others_are_shown() {
    for (status, words, media) in [
        (
            500,
            "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
            Media::Png,
        ),
        (
            400,
            "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text`",
            Media::Png,
        ),
        (404, "No endpoints found that support image input", Media::Png),
        (400, "a-model is not a multimodal model", Media::Png),
        (400, "this model is missing data required for image input", Media::Png),
        (400, "Invalid content type. image_url is only supported by certain models.", Media::Png),
        (400, "Invalid value: 'file'. Supported values are: 'text', 'image_url' and 'input_audio'.", Media::Pdf),
        (400, "'claude-2' does not support PDF input.", Media::Pdf),
    ] {
        for wire in WIRES.into_iter().filter(|wire| *wire != Wire::Ollama || media == Media::Png) {
            let server = refusing(status, words, media).await;
            let providers = knowing(wire, &server);
            let mut conversation = showing(&providers);
            let error = conversation.ask(ask()).await.expect_err("refused");
            assert_eq!(error.kind, Kind::Unsupported, "{wire:?} {words}: {error}");
            assert!(error.message.contains("are left out") && error.message.contains(words), "{wire:?}: {error}");
            conversation.ask(ask()).await.expect("without it");
            let request = server.requests().remove(1);
            let others = (wire != Wire::Ollama && media == Media::Pdf, wire != Wire::Ollama && media == Media::Png);
            assert_eq!(held(&request.raw), others, "{wire:?} {words}");
            let told = if media == Media::Pdf {
                "the PDF document 'plan.pdf' is not shown"
            } else {
                "the image 'house.png' is not shown"
            };
            assert!(request.body.to_string().contains(told), "{wire:?}: {}", request.body);
            // What comes later, and other conversations, go without from the start.
            conversation.push(&said(Role::User, vec![attachment(media)]));
            conversation.ask(ask()).await.expect("without both");
            showing(&providers).ask(ask()).await.expect("it is remembered");
            assert_eq!((server.requests().len(), server.refusals()), (4, vec![]), "{wire:?} {words}");
        }
    }
}

#[tokio::test]
async fn a_file_that_the_provider_cannot_read_is_left_out_of_its_conversation_alone() {
    for (words, media) in [
        ("messages.0.content.1.image.source.base64: Could not process image", Media::Png),
        ("You uploaded an unsupported image. Please make sure your image is valid.", Media::Png),
        ("Unable to process input image. Please retry or report in the developer forum", Media::Png),
        ("The PDF specified was not valid.", Media::Pdf),
        ("messages.0.content.2.pdf.source.base64.data: A maximum of 100 PDF pages may be provided.", Media::Pdf),
    ] {
        for wire in [Wire::Anthropic, Wire::OpenAi, Wire::Responses, Wire::Gemini] {
            let refused = Arc::new(std::sync::Mutex::new(false));
            let server = {
                let refused = Arc::clone(&refused);
                ModelServer::start(move |request| {
                    let (image, pdf) = held(&request.raw);
                    let mut refused = refused.lock().expect("no other panics");
                    let is_first = !std::mem::replace(&mut *refused, true);
                    match is_first && image && pdf {
                        true => Turn::status(400, vec![], words),
                        false => Turn::text("good"),
                    }
                })
                .await
            };
            let providers = knowing(wire, &server);
            let mut conversation = showing(&providers);
            let error = conversation.ask(ask()).await.expect_err("refused");
            assert_eq!(error.kind, Kind::Unsupported, "{wire:?} {words}: {error}");
            conversation.ask(ask()).await.expect("without it");
            let without = if media == Media::Pdf { (true, false) } else { (false, true) };
            assert_eq!(held(&server.requests()[1].raw), without, "{wire:?} {words}");
            assert!(server.requests()[1].body.to_string().contains("the provider refused it"), "{wire:?}");
            // A file that comes later is shown, and so are those of other conversations.
            conversation.push(&said(Role::User, vec![attachment(media)]));
            conversation.ask(ask()).await.expect("with the new one");
            assert_eq!(held(&server.requests()[2].raw), (true, true), "{wire:?} {words}");
            showing(&providers).ask(ask()).await.expect("with both");
            assert_eq!((held(&server.requests()[3].raw), server.refusals()), ((true, true), vec![]), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn a_refusal_that_is_about_files_changes_nothing_for_a_conversation_without_any() {
    let server = ModelServer::start(|_| Turn::status(400, vec![], "image input is not supported")).await;
    let mut conversation = knowing(Wire::OpenAi, &server).open("test/a-model").expect("a model");
    conversation.begin("be brief", "", &[]);
    conversation.push(&Message::user("look", Origin::Person));
    let error = conversation.ask(ask()).await.expect_err("refused");
    assert_eq!(error.kind, Kind::Rejected, "{error}");
}
