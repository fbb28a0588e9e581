//! Tests with files written by Gemini CLI, if available.

use crate::format::Format;
use crate::format::report::Report;
use crate::format::tests::truth;
use serde_json::Value;
use std::collections::BTreeMap;

fn usage(usage: &Value) -> BTreeMap<&'static str, u64> {
    let number = |name: &str| usage[name].as_u64().unwrap_or(0);
    BTreeMap::from([
        ("input_total", number("input")),
        ("cache_read", number("cached")),
        ("cache_write", 0),
        ("output", number("output")),
        ("reasoning", number("thoughts")),
    ])
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_has_its_expected_counts() {
    truth::hold(Format::GeminiCli, usage);
    for truth in truth::files("gemini-cli")
        .iter()
        .filter(|truth| truth.expected["sessions"] == 0)
    {
        assert!(truth::read(Format::GeminiCli, &truth.path, &mut Report::default()).is_err());
    }
}
