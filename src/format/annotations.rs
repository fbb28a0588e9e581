//! What documents of other systems record about a conversation besides its messages: which of them the model has seen,
//! the provider, failed summaries, and the tool activity of a turn.

use super::Format;

pub use super::goaitools::{all_seen, new_state, provider, unseen};
pub use super::penguiflow::{artifacts, digest_of as tool_digest, is_own as has_failure_records};

/// The format whose documents name the provider of their messages.
pub const WITH_PROVIDER: Format = Format::Goaitools;

/// Whether documents of this format record failed summaries.
pub fn records_failures(format: Format) -> bool {
    format == Format::Penguiflow
}
