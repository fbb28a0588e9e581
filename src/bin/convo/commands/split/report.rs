//! What is told of a split: the pieces as rows or objects, and what stands against a limit.

use crate::context::Context;
use crate::output::{in_line, visible};
use convo::error::{Error, Kind, Place};
use convo::filter::split::Split;
use std::io::Write;

/// A split, and how its session is called in messages.
pub struct Told<'l> {
    label: &'l str,
    /// Whether tokens were counted.
    counted: bool,
}

impl<'l> Told<'l> {
    pub fn of(_: &Split<'_>, label: &'l str, counted: bool) -> Told<'l> {
        Told { label, counted }
    }

    /// One row a piece: id, messages, exchanges, tokens, when it begins, why it begins there.
    pub fn rows(&self, split: &Split<'_>, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
        let write = |out: &mut dyn Write, line: String| {
            writeln!(out, "{line}").map_err(|error| Error::io("cannot write", error))
        };
        if json {
            return Ok(write(out, self.object(split, None).to_string())?);
        }
        for (nth, part) in split.parts.iter().enumerate() {
            let began = split.began(nth);
            let began = began.as_deref().map_or("-".into(), visible);
            let tokens = if self.counted {
                part.tokens.to_string()
            } else {
                "-".to_string()
            };
            let id = split.id(nth);
            let reason = part.reason.name();
            write(
                out,
                format!(
                    "{id}\t{}\t{}\t{tokens}\t{}\t{reason}",
                    part.messages,
                    part.exchanges,
                    in_line(&began)
                ),
            )?;
        }
        Ok(())
    }

    /// The split as an object.
    fn object(&self, split: &Split<'_>, changed: Option<bool>) -> serde_json::Value {
        let pieces = split.parts.iter().enumerate().map(|(nth, part)| {
            let mut piece = serde_json::json!({
                "id": split.id(nth), "messages": part.messages, "exchanges": part.exchanges,
                "began": split.began(nth), "reason": part.reason.name(), "too_large": part.is_too_large,
            });
            if self.counted {
                piece["tokens"] = part.tokens.into();
            }
            piece
        });
        let mut object = serde_json::json!({
            "schema": "convo.split/1", "input": self.label, "pieces": pieces.collect::<Vec<_>>(),
        });
        if let Some(changed) = changed {
            object["changed"] = changed.into();
        }
        object
    }

    /// What a user would like to know, and what no limit could be kept for.
    pub fn notes(&self, context: &Context, split: &Split<'_>) {
        for note in &split.notes {
            context.output.tell(self.label, note);
        }
        for (nth, part) in split
            .parts
            .iter()
            .enumerate()
            .filter(|(_, part)| part.is_too_large)
        {
            let size = if self.counted {
                format!("{} messages, {} tokens", part.messages, part.tokens)
            } else {
                format!("{} messages", part.messages)
            };
            let what = format!(
                "{}: exchange of {size} exceeds the limit; not divided",
                split.id(nth)
            );
            let error = Error::new(Kind::No, what).at(self.label, Place::default());
            context.output.error(&error);
        }
    }

    fn what(split: &Split<'_>) -> String {
        match split.parts.len() {
            1 => "unchanged: nothing to split".to_string(),
            count => format!(
                "split into {count} parts: {} to {}",
                split.id(0),
                split.id(count - 1)
            ),
        }
    }

    /// After the pieces are in the store: their ids on standard output.
    pub fn stored(
        &self,
        context: &Context,
        split: &Split<'_>,
        changed: bool,
        json: bool,
    ) -> anyhow::Result<()> {
        self.notes(context, split);
        if json {
            return context
                .output
                .print_done(&self.object(split, Some(changed)).to_string());
        }
        let what = Told::what(split);
        let what = match (changed, split.is_whole()) {
            (false, false) => format!("unchanged: already split into {what}"),
            _ => what,
        };
        context.output.tell(self.label, &what);
        if split.is_whole() {
            return Ok(());
        }
        let ids: Vec<String> = (0..split.parts.len()).map(|nth| split.id(nth)).collect();
        context.output.print_done(&ids.join("\n"))
    }

    /// After the pieces were written.
    pub fn streamed(&self, context: &Context, split: &Split<'_>) {
        context.output.detail(self.label, &Told::what(split));
        self.notes(context, split);
    }
}
