//! Converts standard input to standard output.

use super::MigrateCommand;
use crate::args::{EditArgs, InputLocation, OutputArgs, TargetFormat};
use crate::context::Context;
use crate::edit::{self, EditRequest};
use crate::input::InputSettings;
use convo::error::Error;
use convo::filter::Plan;
use convo::format::Format;

impl MigrateCommand {
    /// Converts standard input to standard output.
    pub fn pipe(&self, context: &Context) -> anyhow::Result<()> {
        if self.paths.len() > 1 || self.out.is_some() || self.mark {
            return Err(
                Error::usage("standard input conflicts with other inputs, --output-dir and --mark")
                    .hint("give files to import them or to convert them with --output-dir DIR")
                    .into(),
            );
        }
        // A migration includes everything that the target can represent.
        let is_native = self.format() == Format::Native;
        let reading = InputSettings {
            include_branches: is_native,
            ..(&self.reading).into()
        };
        let args = EditArgs {
            writing: OutputArgs {
                to: self.to.map(TargetFormat::Format),
                packing: self.packing,
                ..OutputArgs::default()
            },
            dry_run: self.dry_run,
            json: self.json,
            ..EditArgs::default()
        };
        let edit = EditRequest {
            full_log: is_native,
            ..EditRequest::new(reading, &args)
        };
        edit::run(context, &[InputLocation::Stdin], edit, |session, _| {
            Ok(match session.header().is_empty() && !session.is_empty() {
                true => Plan::Nothing("bare messages are already a stream".to_string()),
                false => Plan::Nothing("converted".to_string()),
            })
        })
    }
}
