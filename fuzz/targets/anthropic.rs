//! Any bytes as an answer in the format of Anthropic.
#![no_main]

use majordomo_provider::{Wire, fuzz_properties};

libfuzzer_sys::fuzz_target!(|stream: &[u8]| fuzz_properties::answer(Wire::Anthropic, stream));
