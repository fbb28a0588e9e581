//! `cat`: the complete log as a stream, or the view in another format.

use super::Run;
use crate::args::{Chained, Following, Input, Reading, Selecting, Writing};
use crate::chains;
use crate::change::{Export, write_to};
use crate::context::{Context, Opened, named, stopped};
use crate::export::{Returning, Sessions, goes_back, single, with_model, wrap};
use crate::follow::follow;
use crate::inputs::{all_sessions_of, each_input, sessions_of};
use crate::sending;
use clap::Args;

use convo::error::{Error, Kind};
use convo::filter::settle::Lines;
use convo::format::report::Report;
use convo::format::{Format, Purpose, Stream};
use convo::model::session::Session;
use convo::model::view::View;
use std::io::Write;
use std::ops::ControlFlow;

/// Print sessions, or convert them to another format
///
/// Prints the complete log as a record stream; unchanged lines are copied byte for byte. With --to, converts the view and
/// reports what the target format cannot represent. With a filter such as --last or --role, prints the header and
/// the matching messages of the view.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo cat chat > chat.jsonl                  export a stored session
  convo cat session.json | jq -r .role         read any format as JSON Lines
  convo cat --to openai-chat chat > body.json  convert the view
  convo cat --category system chat             only the system messages
  convo cat --from picoclaw - < old.json       name the input format")]
pub struct Cat {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    chained: Chained,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    writing: Writing,
    /// Set the model of the exported session, e.g. gpt-4o
    ///
    /// For aichat, CLIENT:MODEL, e.g. openai:gpt-4o. Messages that name a model keep it.
    #[arg(long, value_name = "MODEL", help_heading = "Output", requires = "to")]
    model: Option<String>,
    /// --diagnostics json
    #[arg(long, hide = true)]
    json: bool,
}

impl Run for Cat {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.json);
        let inputs = context.inputs(&self.inputs)?;
        self.writing.settle(&inputs, &self.reading)?;
        if self.following.follow {
            return self.follow(context, &inputs);
        }
        let to = self.writing.to.unwrap_or(Format::Native);
        write_to(context, &self.writing, |out| {
            let mut written = 0;
            if self.chained.chain {
                return chains::each(
                    context,
                    &inputs,
                    &self.reading,
                    self.chained,
                    |label, mut session| {
                        out.separate();
                        written += 1;
                        let narrowed = self.selecting.narrow(label, &mut session)?;
                        match to {
                            Format::Native if narrowed => {
                                sending::write(&session, &View::replay(&session), out)
                            }
                            Format::Native => whole(&session, out),
                            _ => {
                                let session = self.modeled(session, to)?;
                                self.exporter(context, label, to).write(&session, written, out)
                            }
                        }
                    },
                );
            }
            let reading = Reading {
                returns: to != Format::Native,
                ..self.reading.clone()
            };
            each_input(context, &inputs, &reading, |opened| {
                out.separate();
                if to == Format::Native {
                    self.pass(context, opened, out)
                } else {
                    self.export(context, opened, to, &mut written, out)
                }
            })
        })
    }
}

impl Cat {
    /// Prints each record once it is complete.
    fn follow(&self, context: &Context, inputs: &[Input]) -> anyhow::Result<()> {
        let has_to = self.writing.to.is_some_and(|to| to != Format::Native);
        if has_to || self.writing.is_elsewhere() || self.selecting.selection().is_some() {
            let error = Error::new(Kind::Usage, "--follow prints the record stream as it is");
            let error = error.hint("omit --to, --output, --pack and the filters; show --follow has filters");
            return Err(error.into());
        }
        follow(
            context,
            inputs,
            &self.reading,
            self.following,
            &mut |_, session, mut records| {
                context.output.stdout(|out| {
                    let mut lines = Lines::new(out);
                    Ok(records.try_for_each(|index| lines.write(session.full(index)))?)
                })
            },
        )
    }

    /// Record by record, in constant memory.
    fn pass(&self, context: &Context, opened: Opened, out: &mut dyn Write) -> anyhow::Result<()> {
        let label = opened.label.clone();
        if self.selecting.selection().is_some() {
            return sessions_of(context, opened, &self.reading, |mut session| {
                self.selecting.narrow(&label, &mut session)?;
                sending::write(&session, &View::replay(&session), out)
            });
        }
        let mut reader = match opened.stream {
            Stream::Records(reader) if self.reading.session.is_none() && self.reading.branch.is_none() => {
                reader
            }
            _ => {
                // The whole log is wanted, and what was left is in it.
                let reading = Reading {
                    takes_all: true,
                    ..self.reading.clone()
                };
                return sessions_of(context, opened, &reading, |session| whole(&session, out));
            }
        };
        let mut report = Report::default();
        let mut lines = Lines::new(out);
        loop {
            let record = match reader.next(&mut report) {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(error) => return Err(named(error, &label).into()),
            };
            if report.findings.is_empty() {
                lines.write(record.full)?;
                continue;
            }
            if self.reading.strict && report.is_damaged() {
                context.output.report(&label, &mut report);
                return Err(named(stopped(), &label).into());
            }
            lines.write(record.full)?;
            // Told in pieces, so that a file of nothing but damage takes no more memory than another.
            if report.findings.len() >= 4096 {
                context.output.report(&label, &mut report);
            }
        }
        context.output.report(&label, &mut report);
        Ok(())
    }

    fn export(
        &self,
        context: &Context,
        mut opened: Opened,
        to: Format,
        written: &mut usize,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        if let Some(wrapped) = opened.wrapped.take().filter(|_| opened.format == to) {
            let mut inner = Vec::new();
            self.export(context, opened, to, written, &mut inner)?;
            return wrap(&wrapped, &inner, out);
        }
        let label = opened.label.clone();
        let export = Export {
            context,
            label: &label,
            to,
            purpose: Purpose::Export,
            images: self.writing.images,
            strict: self.reading.strict,
        };
        let returns = goes_back(&opened, to) && self.model.is_none();
        if returns && self.reading.session.is_none() && self.reading.branch.is_none() {
            single(to, *written + 1)?;
            let mut sessions = Returning::new(&export);
            let tail = all_sessions_of(context, opened, self.reading.strict, |mut session| {
                let narrowed = self.selecting.narrow(&label, &mut session)?;
                sessions.write(session, narrowed, out).map(ControlFlow::Continue)
            })?;
            return sessions.finish(&tail, written, out);
        }
        let value = opened
            .value
            .take()
            .filter(|_| opened.format == to && self.model.is_none());
        let mut sessions = Sessions::new(value.as_deref());
        let reading = Reading {
            exports: true,
            ..self.reading.clone()
        };
        sessions_of(context, opened, &reading, |mut session| {
            if self.selecting.narrow(&label, &mut session)? {
                sessions.changed();
            }
            sessions.write(self.modeled(session, to)?, &export, written, out)
        })?;
        sessions.finish(&export, written, out)
    }

    /// The session with the model of --model.
    fn modeled(&self, session: Session, to: Format) -> convo::Result<Session> {
        match &self.model {
            Some(model) => with_model(&session, to, model),
            None => Ok(session),
        }
    }

    fn exporter<'e>(&self, context: &'e Context, label: &'e str, to: Format) -> Export<'e> {
        Export {
            context,
            label,
            to,
            purpose: Purpose::Export,
            images: self.writing.images,
            strict: self.reading.strict,
        }
    }
}

/// Every line of a session that is in memory.
fn whole(session: &Session, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut lines = Lines::new(out);
    Ok((0..session.len()).try_for_each(|index| lines.write(session.full(index)))?)
}
