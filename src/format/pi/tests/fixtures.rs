//! What pi itself wrote, where that is at hand.

use crate::format::Format;
use crate::format::report::Report;
use crate::format::tests::truth;
use serde_json::Value;
use std::collections::BTreeMap;

/// What was cached is beside the figure of the input.
fn usage(usage: &Value) -> BTreeMap<&'static str, u64> {
    let number = |name: &str| usage[name].as_u64().unwrap_or(0);
    let (read, write) = (number("cacheRead"), number("cacheWrite"));
    BTreeMap::from([
        ("input_total", number("input") + read + write),
        ("cache_read", read),
        ("cache_write", write),
        ("output", number("output")),
        ("reasoning", 0),
    ])
}

#[test]
fn every_file_counts_what_it_is_known_to_hold() {
    truth::hold(Format::Pi, usage);
    for truth in truth::files("pi") {
        let mut report = Report::default();
        truth::read(Format::Pi, &truth.path, &mut report).unwrap();
        assert!(report.findings.is_empty(), "{}: {report:?}", truth.name);
    }
}
