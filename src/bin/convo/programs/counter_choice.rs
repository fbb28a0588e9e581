//! Selects the tokenizer: option, environment, config file, session, in this order.

use crate::args::TokenizerArgs;
use crate::context::Context;
use crate::programs::counter_program;
use convo::Result;
use convo::error::ErrorKind;
use convo::model::session::Session;
use convo::tokens::{Counter, Tokenizer, counter};

impl TokenizerArgs {
    /// The tokenizer that the option, environment or config file requests.
    pub fn requested(&self, context: &Context) -> Result<Option<Tokenizer>> {
        match (self.tokenizer, context.tokenizer()) {
            (Some(tokenizer), _) => Ok(Some(tokenizer)),
            (None, Some(name)) => counter_program::tokenizer(name)
                .map(Some)
                .map_err(|error| error.kind(ErrorKind::Config)),
            (None, None) => Ok(None),
        }
    }

    /// Reports if the requested tokenizer is an estimate because the original is not public.
    pub fn report_estimate(&self, context: &Context) -> Result<()> {
        if let Some(note) = self.requested(context)?.and_then(Tokenizer::note) {
            context.output.notice("", note);
        }
        Ok(())
    }

    /// The counter for a session: as requested, else from its header, else the default.
    pub fn counter(&self, context: &Context, label: &str, session: &Session) -> Result<Counter> {
        let (counter, unknown) = self.chosen(context, session)?;
        if let Some(name) = unknown {
            report_unknown(context, label, &name);
        }
        counter.prepare(session);
        Ok(counter)
    }

    /// The counter for a session, and the tokenizer in its header if that is unknown.
    pub fn chosen(&self, context: &Context, session: &Session) -> Result<(Counter, Option<String>)> {
        let own = counter::named_by(session);
        let named = |name: &str| Tokenizer::named(name).ok();
        let tokenizer = match (self.requested(context)?, own.as_deref()) {
            (Some(requested), _) => Some(requested),
            (None, Some(name)) => named(name),
            (None, None) => Some(Tokenizer::DEFAULT),
        };
        let counter = Counter::new(tokenizer.unwrap_or(Tokenizer::DEFAULT), own.as_deref());
        Ok((counter, own.filter(|_| tokenizer.is_none())))
    }
}

/// Reports that the tokenizer in the header of a session is unknown.
pub fn report_unknown(context: &Context, label: &str, name: &str) {
    let default = Tokenizer::DEFAULT.name();
    let what = format!("unknown tokenizer '{name}'; counting with {default}");
    context.output.notice(label, &what);
}

/// The tokenizer whose counts a session stores, if known. A session cannot name a program to run; a counter program
/// must be configured here too.
pub fn stored_tokenizer(context: &Context, name: Option<&str>) -> Option<Tokenizer> {
    let name = name?;
    let configured = || {
        let configured = counter_program::tokenizer(context.tokenizer()?).ok()?;
        (configured.name() == name).then_some(configured)
    };
    Tokenizer::named(name).ok().or_else(configured)
}
