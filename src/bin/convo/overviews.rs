//! Reads overviews of sessions; those of unchanged stored sessions come from the store's cache.

use crate::args::TokenizerArgs;
use crate::context::Context;
use crate::errors::named;
use convo::filter::overview::Overview;
use convo::model::session::Session;
use convo::store::{OverviewCallbacks, Overviewed};

/// Reads overviews.
pub struct OverviewReader<'c> {
    context: &'c Context,
    /// How to count tokens; none if they are not counted.
    tokenizer_args: Option<&'c TokenizerArgs>,
    /// The requested tokenizer, by which cached counts are labeled.
    tokenizer: String,
}

impl<'c> OverviewReader<'c> {
    /// With `counts`, all overviews have tokens; otherwise only those with a cached count.
    pub fn new(context: &'c Context, tokenizer_args: &'c TokenizerArgs, counts: bool) -> OverviewReader<'c> {
        let requested = tokenizer_args
            .tokenizer
            .map(|tokenizer| tokenizer.name().to_string());
        let configured = || context.tokenizer().map(str::to_string);
        OverviewReader {
            context,
            tokenizer_args: counts.then_some(tokenizer_args),
            tokenizer: requested.or_else(configured).unwrap_or_default(),
        }
    }

    /// Whether all overviews have tokens, for which every text is read.
    pub fn counts(&self) -> bool {
        self.tokenizer_args.is_some()
    }

    /// Computes the overview of a session.
    pub fn read(&self, label: &str, session: &Session, damaged: bool) -> convo::Result<Overview> {
        let counter = self
            .tokenizer_args
            .map(|tokenizer_args| tokenizer_args.counter(self.context, label, session));
        let counter = counter
            .transpose()?
            .map(|counter| (counter, self.tokenizer.as_str()));
        Ok(Overview::of(session, damaged, counter))
    }

    /// Drops counts of another tokenizer from a cached overview; none if the tokens must be counted.
    pub fn known(&self, mut overview: Overview) -> Option<Overview> {
        overview.tokens = overview.tokens.filter(|(_, name)| *name == self.tokenizer);
        let suffices = self.tokenizer_args.is_none() || overview.tokens.is_some();
        suffices.then_some(overview)
    }

    /// Returns the overviews of all stored sessions, unordered; sessions that cannot be read are reported.
    pub fn stored(&self) -> anyhow::Result<Vec<Overviewed<Box<Overview>>>> {
        let output = &self.context.output;
        let read = self.context.store()?.overviews(&OverviewCallbacks {
            // Boxed because large lists are moved and sorted.
            decode: &|bytes| self.known(Overview::decode(bytes)?).map(Box::new),
            read: &|id, session, damaged| Ok(Box::new(self.read(id, session, damaged)?)),
            encode: &|overview| overview.encode(),
        })?;
        let mut overviews = Vec::with_capacity(read.len());
        for overview in read {
            match overview {
                Ok(overview) => {
                    if overview.value.damaged {
                        output.note_damage();
                        output.notice(&overview.id, "has damaged lines; locate them with: convo fsck");
                    }
                    overviews.push(overview);
                }
                Err(error) => output.error(&named(error, "list")),
            }
        }
        Ok(overviews)
    }
}
