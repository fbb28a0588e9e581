//! Tests with files written by Gemini CLI, if available.

use crate::format::Format;
use crate::format::report::Report;
use crate::format::tests::truth;

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn files_without_sessions_are_refused() {
    for truth in truth::files("gemini-cli")
        .iter()
        .filter(|truth| truth.expected["sessions"] == 0)
    {
        assert!(truth::read(Format::GeminiCli, &truth.path, &mut Report::default()).is_err());
    }
}
