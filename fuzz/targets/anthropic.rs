//! Any bytes as an answer in the words of Anthropic.
#![no_main]

use majordomo_provider::{Wire, any_bytes};

libfuzzer_sys::fuzz_target!(|stream: &[u8]| any_bytes::answer(Wire::Anthropic, stream));
