//! `generate`: generates manual pages, completions, format table, schema and members of tables from the program itself.

mod formats;
mod man;
mod page;
mod print;
mod schema;
mod tables;

pub use print::{CompletionsCommand, ManualCommand};

use super::Run;
use crate::completion;
use crate::context::Context;
use clap::{Args, Subcommand};
use convo::error::Error;
use page::NamedContent;
use std::path::{Path, PathBuf};

/// Generate manual pages, completions and reference pages
///
/// Writes the generated files of man/, completions/ and docs/.
#[derive(Args, Debug)]
#[command(
    before_long_help = "Examples:
  convo generate man
  convo generate completions
  convo generate formats --output-dir docs
  convo generate schema --output-dir docs
  convo generate tables --output-dir docs",
    subcommand_required = true,
    subcommand_value_name = "WHAT"
)]
pub struct GenerateCommand {
    #[command(subcommand)]
    what: GenerateAction,
}

#[derive(Subcommand, Debug)]
enum GenerateAction {
    /// Write the manual pages
    Man {
        /// Target directory
        #[arg(long = "output-dir", alias = "out", value_name = "DIR", default_value = "man", value_hint = clap::ValueHint::DirPath)]
        out: PathBuf,
    },
    /// Write the shell completions (bash, zsh, fish)
    Completions {
        /// Target directory
        #[arg(long = "output-dir", alias = "out", value_name = "DIR", default_value = "completions", value_hint = clap::ValueHint::DirPath)]
        out: PathBuf,
    },
    /// Print the format table
    Formats {
        /// Write formats.md to DIR instead
        #[arg(long = "output-dir", alias = "out", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
    /// Print the members of the tables of `--flat`
    Tables {
        /// Write tables.md to DIR instead
        #[arg(long = "output-dir", alias = "out", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
    /// Print the JSON schema of a record
    Schema {
        /// Write record.schema.json to DIR instead
        #[arg(long = "output-dir", alias = "out", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
}

impl Run for GenerateCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        match self.what {
            GenerateAction::Man { out } => Ok(save(&out, &man::pages()?)?),
            GenerateAction::Completions { out } => Ok(save(&out, &completions()?)?),
            GenerateAction::Formats { out: Some(out) } => {
                Ok(save(&out, &[("formats.md".into(), formats::text())])?)
            }
            GenerateAction::Formats { out: None } => context.output.print(formats::text().trim_end()),
            GenerateAction::Tables { out: Some(out) } => {
                Ok(save(&out, &[("tables.md".into(), tables::text())])?)
            }
            GenerateAction::Tables { out: None } => context.output.print(tables::text().trim_end()),
            GenerateAction::Schema { out: Some(out) } => {
                Ok(save(&out, &[("record.schema.json".into(), schema::text())])?)
            }
            GenerateAction::Schema { out: None } => context.output.print(schema::text().trim_end()),
        }
    }
}

/// Writes files to a directory, which is created if missing.
fn save(dir: &Path, files: &[NamedContent]) -> convo::Result<()> {
    let failed = |path: &Path, error| Error::io(format!("cannot write {}", path.display()), error);
    std::fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
    for (name, text) in files {
        let path = dir.join(name);
        std::fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// Returns the completion script of each shell, under the file name that the shell expects.
fn completions() -> convo::Result<Vec<NamedContent>> {
    let named = completion::SHELLS.into_iter().map(|shell| {
        let name = match shell.name() {
            "zsh" => "_convo".to_string(),
            other => format!("convo.{other}"),
        };
        Ok((name, completion::script(shell, "convo")?))
    });
    named.collect()
}
