//! External programs: plugins, summarizers, token counters and hooks, and the signals that end them with this program.

pub mod bundled_plugins;
pub mod change_hooks;
pub mod counter_choice;
pub mod counter_program;
pub mod database;
pub mod external_program;
pub mod hooks;
pub mod interrupt;
pub mod plugin;
pub mod plugin_command;
pub mod process;
pub mod program_name;
pub mod summarizer;
pub mod summarizer_process;
pub mod summary_args;
