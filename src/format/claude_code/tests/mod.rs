//! Tests of the format.

use crate::format::Format;
use crate::format::tests::truth;

#[test]
fn the_files_of_others_are_what_they_are_said_to_be() {
    truth::hold(Format::ClaudeCode, truth::anthropic_usage);
}
