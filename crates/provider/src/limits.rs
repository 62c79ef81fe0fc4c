//! How much of an answer is accepted. A provider, a proxy or an attacker may send anything; each limit is named in the
//! error that it causes.

use std::time::Duration;

/// One line, and one event, of a stream.
pub const LINE_BYTES: usize = 16 << 20;

/// All bytes of one streamed answer, after decompression, framing included.
pub const STREAM_BYTES: usize = 256 << 20;

/// What is kept of one answer: text, arguments, opaque blocks.
pub const ANSWER_BYTES: usize = 32 << 20;

/// The arguments of one tool call.
pub const TOOL_INPUT_BYTES: usize = 10 << 20;

/// The name of a tool, and the id of a call.
pub const TOOL_NAME_BYTES: usize = 256;

/// Text blocks, tool calls and opaque blocks of one answer.
pub const PARTS: usize = 1024;

/// What is read of a list of models.
pub const LIST_BYTES: usize = 16 << 20;

/// How long a server has to say which models it has.
pub const LIST: Duration = Duration::from_secs(10);

/// How long a server has to say what it knows of the model that it is about to be asked. Where it takes longer, the run begins without.
pub const FIGURES: Duration = Duration::from_secs(2);

/// What is read of an error's body.
pub const ERROR_BODY_BYTES: usize = 64 << 10;

/// How much of a provider's own words goes into an error.
pub const ERROR_TEXT_CHARS: usize = 300;

/// How long a finished answer waits for the usage that some servers send behind it.
pub const TAIL: Duration = Duration::from_secs(2);

/// A server that says nothing but that it is still there is believed for so many times as long as one that is silent.
pub const SIGNS_OF_LIFE: u32 = 10;

/// How long the body of an error may take.
pub const ERROR_BODY: Duration = Duration::from_secs(10);
