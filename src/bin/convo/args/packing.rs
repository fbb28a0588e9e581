//! Whether each session is written on one line.

use clap::Args;

/// Options for sessions on one line.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct PackArgs {
    /// Write each session on one line
    ///
    /// For tools that distribute lines, such as Spark. All commands read packed sessions. Without --to, the output is packed
    /// if the first input that is not empty begins with a packed session. With -i, each file keeps its form. With
    /// --output-dir, files are packed only with this option.
    #[arg(long, hide_short_help = true, conflicts_with = "unpack")]
    pub pack: bool,
    /// Write each record on one line, also if the input is packed
    #[arg(long, hide_short_help = true)]
    pub unpack: bool,
}

impl PackArgs {
    /// The option that is given.
    pub fn option(self) -> Option<&'static str> {
        match (self.pack, self.unpack) {
            (true, _) => Some("--pack"),
            (_, true) => Some("--unpack"),
            _ => None,
        }
    }

    /// Whether sessions are packed, if `default` says so without an option.
    pub fn or(self, default: bool) -> bool {
        self.pack || (default && !self.unpack)
    }
}
