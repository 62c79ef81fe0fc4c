//! Any bytes as server-sent events.
#![no_main]

libfuzzer_sys::fuzz_target!(|stream: &[u8]| majordomo_provider::fuzz_properties::events(stream));
