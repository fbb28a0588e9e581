//! Tests with sample files.

use crate::format::Format;
use crate::format::tests::truth;

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_file_has_its_expected_counts() {
    truth::hold(Format::Aichat, truth::anthropic_usage);
}
