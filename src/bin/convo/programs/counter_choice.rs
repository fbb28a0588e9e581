//! How tokens are counted: flag before environment before config file before the session.

use crate::args::Counting;
use crate::context::Context;
use crate::programs::counter_program;
use convo::Result;
use convo::error::Kind;
use convo::model::session::Session;
use convo::tokens::{Counter, Tokenizer, counter};

impl Counting {
    /// The tokenizer that flag, environment or config file asks for.
    pub fn asked(&self, context: &Context) -> Result<Option<Tokenizer>> {
        match (self.tokenizer, context.tokenizer()) {
            (Some(tokenizer), _) => Ok(Some(tokenizer)),
            (None, Some(name)) => counter_program::tokenizer(name)
                .map(Some)
                .map_err(|error| error.kind(Kind::Config)),
            (None, None) => Ok(None),
        }
    }

    /// Says so where the tokenizer that is asked for is an estimate in the place of one that is not public.
    pub fn tell_estimate(&self, context: &Context) -> Result<()> {
        if let Some(note) = self.asked(context)?.and_then(Tokenizer::note) {
            context.output.tell("", note);
        }
        Ok(())
    }

    /// How a session's messages are counted: as asked for, else as its own line says, else by the default.
    pub fn counter(&self, context: &Context, label: &str, session: &Session) -> Result<Counter> {
        let own = counter::named_by(session);
        let tokenizer = match (self.asked(context)?, own.as_deref()) {
            (Some(asked), _) => asked,
            (None, Some(name)) => Tokenizer::named(name).unwrap_or_else(|_| {
                let default = Tokenizer::DEFAULT.name();
                let what = format!("unknown tokenizer '{name}'; counting with {default}");
                context.output.tell(label, &what);
                Tokenizer::DEFAULT
            }),
            (None, None) => Tokenizer::DEFAULT,
        };
        let counter = Counter::new(tokenizer, own.as_deref());
        counter.prepare(session);
        Ok(counter)
    }
}

/// The tokenizer under whose name a session keeps counts, if it is known here. A session names no program to run: one that counts for it is
/// configured here too.
pub fn kept(context: &Context, name: Option<&str>) -> Option<Tokenizer> {
    let name = name?;
    let configured = || {
        let configured = counter_program::tokenizer(context.tokenizer()?).ok()?;
        (configured.name() == name).then_some(configured)
    };
    Tokenizer::named(name).ok().or_else(configured)
}
