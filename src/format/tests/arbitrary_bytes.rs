//! Tests that every format refuses arbitrary bytes, or reads and keeps them.

use super::damage;
use super::in_place::open;
use crate::error::ErrorKind;
use proptest::prelude::*;
use std::path::PathBuf;

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Arbitrary bytes, alone or within a sample, are refused, or read and kept.
    #[test]
    fn arbitrary_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        text in "[\\[\\]{}\",:a-z0-9$#> \\\\\n]{0,60}",
        at in any::<prop::sample::Index>(),
    ) {
        let samples = damage::samples().into_iter().filter(|(format, _)| !format.is_lines());
        for (format, sample) in samples {
            let (before, after) = sample.split_at(at.index(sample.len()));
            let within = [before, text.as_bytes(), after].concat();
            let inputs = [bytes.clone(), text.clone().into_bytes(), within];
            for input in inputs.into_iter().filter(|input| !input.trim_ascii().is_empty()) {
                let is_kept = format.spec().write_back.is_some() && format.spec().api.is_none();
                match open(format, PathBuf::from("some.json"), input) {
                    Ok(file) if is_kept => {
                        let after = file.written(&file.sessions, |_| false).unwrap();
                        prop_assert!(after == file.bytes, "{}", String::from_utf8_lossy(&file.bytes));
                        let _ = file.written(&file.sessions, |_| true); // or it is refused
                    }
                    Ok(_) => {}
                    Err(error) => prop_assert!(matches!(error.kind, ErrorKind::Data | ErrorKind::Unsafe), "{error:?}"),
                }
            }
        }
    }
}
