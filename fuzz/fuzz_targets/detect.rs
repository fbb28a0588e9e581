//! Detection never panics, whatever the input and its hints.
#![no_main]

use convo::format::detect::{Hints, detect};

libfuzzer_sys::fuzz_target!(|input: (&[u8], bool, bool)| {
    let (bytes, whole, sidecar) = input;
    detect(bytes, whole, Hints { name: Some("x.jsonl"), sidecar });
});
