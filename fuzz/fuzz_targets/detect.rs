//! Detection never panics, and what it names is a format that can be read.
#![no_main]

use convo::format::detect::{Hints, detect};

libfuzzer_sys::fuzz_target!(|input: (&[u8], bool, bool)| {
    let (bytes, whole, sidecar) = input;
    detect(bytes, whole, Hints { name: Some("x.jsonl"), sidecar });
});
