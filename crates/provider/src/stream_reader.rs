//! Bytes in, answer out: the whole way from a stream's bytes to an answer, without I/O.

use std::sync::Arc;

use agent::model::{Answer, CallError, CallErrorKind};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::codec::AnswerReader;
use crate::config::Wire;
use crate::conversation::DeltaSink;
use crate::failure::{failed, in_stream};
use crate::limits::{ANSWER_BYTES, STREAM_BYTES};
use crate::lines::Lines;
use crate::sse::Decoder;

/// Reads one answer.
pub(crate) struct StreamReader {
    form: Form,
    decoder: Decoder,
    reader: Box<dyn AnswerReader>,
    deltas: Option<DeltaSink>,
    bytes: usize,
}

/// What a server sends, whatever it says that it sends.
enum Form {
    /// Nothing but blanks has come.
    Unknown,
    /// A stream of events.
    Events,
    /// One JSON document: a whole answer, or a list of its pieces.
    Whole(Vec<u8>),
    /// Lines of JSON, each with a piece of the answer.
    Lines(Lines),
}

/// How far an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamState {
    /// It goes on.
    Part,
    /// It is whole; its bill may still come.
    Whole,
    /// Nothing more will come.
    End,
}

impl StreamReader {
    /// A reader for one wire format. Text is passed on as it comes.
    pub(crate) fn new(wire: Wire, deltas: Option<DeltaSink>) -> Self {
        let reader = wire.reader();
        let form = if wire == Wire::Ollama { Form::Lines(Lines::default()) } else { Form::Unknown };
        Self { form, decoder: Decoder::default(), reader, deltas, bytes: 0 }
    }

    /// A reader that reads every event by itself, however similar they are.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn plain(wire: Wire) -> Self {
        Self { reader: wire.plain_reader(), ..Self::new(wire, None) }
    }

    /// How many events have said anything. A server that is only still there says nothing.
    pub(crate) fn said(&self) -> u64 {
        self.reader.said()
    }

    /// Takes the next bytes.
    pub(crate) fn hear(&mut self, chunk: &[u8]) -> Result<StreamState, CallError> {
        self.bytes = self.bytes.saturating_add(chunk.len());
        if self.bytes > STREAM_BYTES && self.reader.heard() != StreamState::Part {
            return Ok(StreamState::End);
        }
        if self.bytes > STREAM_BYTES {
            let message = format!("the answer went over the limit of {STREAM_BYTES} bytes and was given up");
            return Err(self.with_partial(failed(CallErrorKind::Garbled, message)));
        }
        if let Form::Unknown = self.form {
            self.form = match chunk.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => Form::Unknown,
                Some(b'{' | b'[') => Form::Whole(Vec::new()),
                Some(_) => Form::Events,
            };
        }
        if let Form::Whole(body) = &mut self.form {
            if body.len() + chunk.len() > ANSWER_BYTES {
                let message = format!("the answer went over the limit of {ANSWER_BYTES} bytes and was given up");
                return Err(failed(CallErrorKind::Garbled, message));
            }
            body.extend_from_slice(chunk);
            return Ok(StreamState::Part);
        }
        let Self { form, decoder, reader, deltas, .. } = self;
        let hear = |data: &[u8]| match reader.heard() {
            // Whether anything behind the end still came in the same chunk must make no difference.
            StreamState::End => Ok(()),
            StreamState::Part | StreamState::Whole => take(&mut **reader, data, deltas.as_ref()),
        };
        let heard = match form {
            Form::Lines(lines) => lines.feed(chunk, hear),
            Form::Unknown | Form::Events | Form::Whole(_) => decoder.feed(chunk, hear),
        };
        match heard {
            Ok(()) => Ok(self.reader.heard()),
            Err(error) if self.reader.heard() == StreamState::Part => Err(self.with_partial(error)),
            // Whatever follows a whole answer takes nothing away from it.
            Err(_) => Ok(StreamState::End),
        }
    }

    /// Takes the end of the stream: an answer, or the news that there is none.
    pub(crate) fn end(mut self) -> Result<Answer, CallError> {
        let lines = match std::mem::replace(&mut self.form, Form::Events) {
            Form::Whole(body) => return self.whole(&body),
            Form::Lines(lines) => Some(lines),
            Form::Unknown | Form::Events => None,
        };
        let heard = self.reader.heard();
        if heard != StreamState::End {
            let Self { decoder, reader, deltas, .. } = &mut self;
            let hear = |data: &[u8]| take(&mut **reader, data, deltas.as_ref());
            let last = match lines {
                Some(lines) => lines.finish(hear),
                None => std::mem::take(decoder).finish(hear),
            };
            // Bytes behind the last line end that cannot be read are the place where the stream was cut.
            if let Err(error) = last
                && heard == StreamState::Part
                && error.kind != CallErrorKind::Garbled
            {
                return Err(self.with_partial(error));
            }
        }
        if self.reader.heard() == StreamState::Part {
            return Err(self.cut("the answer ended before it was complete"));
        }
        Ok(self.reader.finish())
    }

    /// Takes a document for an answer.
    fn whole(mut self, body: &[u8]) -> Result<Answer, CallError> {
        let pieces = match serde_json::from_slice::<Vec<&RawValue>>(body) {
            Ok(pieces) => pieces.into_iter().map(|piece| piece.get().as_bytes()).collect(),
            Err(_) => vec![body],
        };
        for piece in pieces {
            let told: Option<Value> = serde_json::from_slice(piece).ok();
            if let Some(error) = told.as_ref().and_then(|told| told.get("error")).filter(|error| !error.is_null()) {
                return Err(in_stream(error));
            }
            let deltas = self.deltas.clone();
            let taken = self.reader.whole(piece, &mut |text: &str| {
                if let Some(sink) = &deltas {
                    sink.hear(text);
                }
            });
            // What is no answer may be no JSON either, because it was cut.
            taken.map_err(|error| if error.kind == CallErrorKind::Garbled { no_answer() } else { error })?;
            let thoughts = self.reader.take_thoughts();
            if let Some(sink) = &deltas {
                sink.think(&thoughts);
            }
        }
        if self.reader.heard() == StreamState::Part { Err(no_answer()) } else { Ok(self.reader.finish()) }
    }

    /// The news that the stream broke: cut off if words or anything else had come, else no answer at all.
    pub(crate) fn cut(&self, why: &str) -> CallError {
        let kind = if self.bytes > 0 { CallErrorKind::Truncated } else { CallErrorKind::Connection };
        self.with_partial(failed(kind, why))
    }

    /// A failure together with the words that had come, and the bill if it had.
    pub(crate) fn with_partial(&self, error: CallError) -> CallError {
        let (text, tokens) = (self.reader.text(), self.reader.bill().map(Box::new));
        let partial: Option<Arc<str>> = (!text.is_empty()).then(|| text.into());
        CallError { partial, tokens, received_bytes: Some(self.reader.bytes() as u64), ..error }
    }
}

/// A document that is no answer.
fn no_answer() -> CallError {
    failed(CallErrorKind::Garbled, "one JSON document came where a stream of events was expected, and it is no answer")
}

/// Lets a reader take an event, and passes on the text in it.
fn take(reader: &mut dyn AnswerReader, data: &[u8], deltas: Option<&DeltaSink>) -> Result<(), CallError> {
    reader.event(data, &mut |text: &str| {
        if let Some(sink) = deltas {
            sink.hear(text);
        }
    })?;
    let thoughts = reader.take_thoughts();
    if let Some(sink) = deltas {
        sink.think(&thoughts);
    }
    Ok(())
}
