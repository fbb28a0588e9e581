//! The subcommands of `alias`.

use clap::{Args, Subcommand};

#[derive(Subcommand, Debug)]
pub enum AliasAction {
    /// Add an alias (status 73 if it is taken)
    Add {
        /// Take over an alias that is in use
        #[arg(long = "move")]
        moved: bool,
        /// New alias
        alias: String,
        /// Session: id, prefix, alias, key or @last
        name: String,
        #[command(flatten)]
        form: PrintForm,
    },
    /// Rename an alias
    Rename {
        /// Alias
        #[arg(value_name = "OLD")]
        alias: String,
        /// Its new name (status 73 if it is taken)
        #[arg(value_name = "NEW")]
        new: String,
        #[command(flatten)]
        form: PrintForm,
    },
    /// Remove an alias and keep the session
    Remove {
        /// Alias
        alias: String,
        #[command(flatten)]
        form: PrintForm,
    },
    /// List aliases and their sessions
    List {
        /// Only aliases of this session
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// End each line with NUL and print names unchanged
        #[arg(short = '0', long)]
        null: bool,
        #[command(flatten)]
        form: PrintForm,
    },
    /// Print the session id of an alias
    Resolve {
        /// Alias
        alias: String,
        #[command(flatten)]
        form: PrintForm,
    },
    /// Adopt the history stored under an older name
    ///
    /// Copies view and summary of the first session named by an ALIAS (default: those in the header) into the session,
    /// which must be empty, and points the ALIAS to it. The old log is kept and records the move; repeating the command
    /// changes nothing. The shared name of an agent's main session is never a source. Exits with 1 without a
    /// history to adopt.
    Promote {
        /// Session without history
        name: String,
        /// Older names, in order of preference
        #[arg(value_name = "ALIAS")]
        aliases: Vec<String>,
    },
}

/// How the result is printed.
#[derive(Args, Clone, Copy, Debug)]
pub struct PrintForm {
    /// Print one object per alias
    #[arg(long)]
    pub json: bool,
}

impl AliasAction {
    /// Whether the result is printed as JSON.
    pub fn json(&self) -> bool {
        match self {
            AliasAction::Add { form, .. }
            | AliasAction::Rename { form, .. }
            | AliasAction::Remove { form, .. }
            | AliasAction::List { form, .. }
            | AliasAction::Resolve { form, .. } => form.json,
            AliasAction::Promote { .. } => false,
        }
    }
}
