//! Damage that does not change the exit status.

use clap::{ArgMatches, Args};

/// The option of commands that fail on damaged input.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Input")]
pub struct DamageArgs {
    /// Exit with status 0 instead of 65 for damaged lines
    ///
    /// For engines that end the whole run at any other status. Damage is reported as without this option. An input of an
    /// unknown format is still an error (65). Conflicts with --strict, and with -i.
    #[arg(long, hide_short_help = true)]
    damage_ok: bool,
}

impl DamageArgs {
    /// Whether a command line accepts damage; false for a command without the option.
    pub fn accepted(matches: &ArgMatches) -> bool {
        matches!(matches.try_get_one("damage_ok"), Ok(Some(true)))
    }
}
