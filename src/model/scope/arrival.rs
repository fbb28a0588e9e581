//! A message that came in together with what it says about sessions, and what counts where it says nothing.

use super::identity::Links;
use super::inbound::{Dimension, Inbound};
use super::owner::Parts;
use super::{Form, Scope};
use std::borrow::Cow;
use std::sync::LazyLock;

/// A message that came in, and what it says about sessions.
#[derive(Clone, Debug, Default)]
pub struct Arrival<'a> {
    /// Where it came from.
    pub inbound: Inbound<'a>,
    /// What tells conversations apart, where it says so.
    pub dimensions: Option<Vec<Dimension>>,
    /// Persons of several ids, where it names them.
    pub links: Option<Links>,
}

/// What is settled for every question, whatever it says itself.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Where messages come from, and for which agent; what is blank is up to the message.
    pub inbound: Inbound<'static>,
    /// What tells conversations apart.
    pub dimensions: Option<Vec<Dimension>>,
    /// Persons of several ids.
    pub links: Option<Links>,
    /// What tells conversations apart where nothing says so.
    pub default_dimensions: Option<Vec<Dimension>>,
    /// Persons of several ids where nothing names any.
    pub default_links: Option<Links>,
    /// Whose sessions they are.
    pub owner: Parts,
    /// Whose they are where nothing says so.
    pub default_owner: Parts,
}

impl Settings {
    /// The parts that count for these.
    pub fn owner(&self, parts: &Parts) -> Parts {
        self.owner
            .clone()
            .or(parts.clone())
            .or(self.default_owner.clone())
    }
}

/// Nobody.
static NO_LINKS: LazyLock<Links> = LazyLock::new(Links::default);

impl Arrival<'_> {
    /// What tells its conversations apart.
    pub fn dimensions<'d>(&'d self, settings: &'d Settings) -> &'d [Dimension] {
        let own = settings.dimensions.as_deref().or(self.dimensions.as_deref());
        own.or(settings.default_dimensions.as_deref())
            .unwrap_or(&Dimension::DEFAULT)
    }

    /// The persons of several ids.
    pub fn links<'d>(&'d self, settings: &'d Settings) -> &'d Links {
        let own = settings.links.as_ref().or(self.links.as_ref());
        own.or(settings.default_links.as_ref()).unwrap_or(&NO_LINKS)
    }

    /// Where it came from, as far as that is not settled.
    pub fn inbound<'d>(&'d self, settings: &'d Settings) -> Cow<'d, Inbound<'d>> {
        if settings.inbound == Inbound::default() {
            return Cow::Borrowed(&self.inbound);
        }
        Cow::Owned(settings.inbound.or(&self.inbound))
    }

    /// The scope of which a key of this form is made.
    pub fn scope(&self, form: Form, settings: &Settings) -> Scope {
        let (dimensions, links) = (self.dimensions(settings), self.links(settings));
        match form {
            Form::Convo | Form::Penguiflow => self.inbound(settings).exact(dimensions, links),
            Form::Picoclaw => self.inbound(settings).folded(dimensions, links),
        }
    }

    /// The names that PicoClaw gives the session, and where the key is another form, the one that PicoClaw has for it.
    pub fn aliases(&self, form: Form, settings: &Settings) -> Vec<String> {
        let inbound = self.inbound(settings);
        let mut aliases = inbound.aliases(self.links(settings));
        if form == Form::Convo {
            let folded = inbound.folded(self.dimensions(settings), self.links(settings));
            aliases.extend(folded.key(Form::Picoclaw));
        }
        aliases
    }
}
