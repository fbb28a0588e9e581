//! Options to follow an input while it grows.

use super::duration;
use clap::Args;
use std::time::Duration;

/// Whether the input is followed, and how long.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Input")]
pub struct Following {
    /// Print new messages as they arrive
    ///
    /// Prints the messages of the input, then each new message once it is complete. If the input is rewritten, continues
    /// after the common beginning. Ends at Ctrl-C, at the end of standard input, and if the file is removed (status 74).
    #[arg(long, conflicts_with = "chain")]
    pub follow: bool,
    /// With --follow, end after this long without new messages
    #[arg(long, value_name = "TIME", requires = "follow", value_parser = duration, hide_short_help = true)]
    pub until_idle: Option<Duration>,
}
