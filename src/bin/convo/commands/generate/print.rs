//! `completions` and `man`: print the completion script of a shell, and the manual page of a command.

use super::{Run, man};
use crate::context::Context;
use crate::programs::{plugin, plugin_command};
use crate::{commands, completion};
use clap::Args;
use convo::error::Error;
use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

/// Print the completion script of a shell
///
/// The script completes commands, options, session names, aliases, ids and files by running convo. Write the script to the
/// directory in which the shell looks for completions, or load it with eval.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo completions bash > ~/.local/share/bash-completion/completions/convo
  convo completions zsh > ~/.zfunc/_convo            with fpath+=~/.zfunc before compinit
  convo completions fish > ~/.config/fish/completions/convo.fish
  eval \"$(convo completions bash)\"                   in the current shell")]
pub struct CompletionsCommand {
    /// Shell: bash, zsh, fish
    #[arg(value_name = "SHELL", value_parser = ["bash", "zsh", "fish"], hide_possible_values = true)]
    shell: String,
}

impl Run for CompletionsCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        match completion::shell(self.shell.into()) {
            Some(shell) => context
                .output
                .print(completion::script(shell, "convo")?.trim_end()),
            None => Err(Error::usage("unknown shell").into()),
        }
    }
}

/// Show the manual page of a command
///
/// Shows the page with man or mandoc on a terminal. If standard output is not a terminal, prints the source of the page.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo man                               the overview: exit statuses, files, environment
  convo man compact                       the page of a command
  convo man format                        convo-format(5), the native format
  convo man > ~/.local/share/man/man1/convo.1")]
pub struct ManualCommand {
    /// Command or plugin, or format for convo-format(5) [default: convo(1)]
    #[arg(value_name = "COMMAND")]
    name: Option<String>,
}

impl Run for ManualCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let stem = match self.name.as_deref() {
            None => "convo.".to_string(),
            Some(name) => format!("convo-{}.", commands::find(name).map_or(name, |spec| spec.name)),
        };
        let page = man::pages()?
            .into_iter()
            .find(|(file, _)| file.starts_with(&stem));
        let Some((_, page)) = page else {
            return Err(match self.name.as_deref() {
                Some(name) if plugin::find(name).is_none() => plugin_command::unknown(name),
                name => {
                    let name = name.unwrap_or_default();
                    Error::usage(format!("'{name}': no manual page"))
                        .hint(format!("see: convo {name} --help"))
                }
            }
            .into());
        };
        match std::io::stdout().is_terminal() && is_shown(&page) {
            true => Ok(()),
            false => context.output.page(&page),
        }
    }
}

/// Shows a page with the first formatter that succeeds.
fn is_shown(page: &str) -> bool {
    let formatters: [(&str, &[&str]); 2] = [("man", &["-l", "-"]), ("mandoc", &["-a"])];
    formatters.iter().any(|(program, arguments)| {
        let child = Command::new(program)
            .args(*arguments)
            .stdin(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else { return false };
        // Quitting the pager closes the pipe.
        let _ = child
            .stdin
            .take()
            .is_some_and(|mut stdin| stdin.write_all(page.as_bytes()).is_ok());
        child.wait().is_ok_and(|status| status.success())
    })
}
