//! A message that came in together with what it says about sessions, and what counts where it says nothing.

use super::identity::Links;
use super::inbound::{Dimension, Inbound};
use super::owner::Parts;
use super::{Form, Scope};
use std::borrow::Cow;

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

/// What counts where a question does not say.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// The agent.
    pub agent: String,
    /// What tells conversations apart.
    pub dimensions: Vec<Dimension>,
    /// Persons of several ids.
    pub links: Links,
    /// Parts that say whose it is.
    pub owner: Parts,
}

impl Default for Defaults {
    fn default() -> Self {
        Defaults {
            agent: String::new(),
            dimensions: Dimension::DEFAULT.to_vec(),
            links: Links::default(),
            owner: Parts::default(),
        }
    }
}

impl Arrival<'_> {
    /// What tells its conversations apart.
    pub fn dimensions<'d>(&'d self, defaults: &'d Defaults) -> &'d [Dimension] {
        self.dimensions.as_deref().unwrap_or(&defaults.dimensions)
    }

    /// The persons of several ids.
    pub fn links<'d>(&'d self, defaults: &'d Defaults) -> &'d Links {
        self.links.as_ref().unwrap_or(&defaults.links)
    }

    /// Where it came from, the agent filled in.
    pub fn inbound<'d>(&'d self, defaults: &'d Defaults) -> Cow<'d, Inbound<'d>> {
        if self.inbound.agent.trim().is_empty() && !defaults.agent.is_empty() {
            let mut inbound = self.inbound.clone();
            inbound.agent = Cow::Borrowed(&defaults.agent);
            return Cow::Owned(inbound);
        }
        Cow::Borrowed(&self.inbound)
    }

    /// The scope of which a key of this form is made.
    pub fn scope(&self, form: Form, defaults: &Defaults) -> Scope {
        let (dimensions, links) = (self.dimensions(defaults), self.links(defaults));
        match form {
            Form::Convo | Form::Penguiflow => self.inbound(defaults).exact(dimensions, links),
            Form::Picoclaw => self.inbound(defaults).folded(dimensions, links),
        }
    }

    /// The names that PicoClaw gives the session, and where the key is another form, the one that PicoClaw has for it.
    pub fn aliases(&self, form: Form, defaults: &Defaults) -> Vec<String> {
        let inbound = self.inbound(defaults);
        let mut aliases = inbound.aliases(self.links(defaults));
        if form == Form::Convo {
            let folded = inbound.folded(self.dimensions(defaults), self.links(defaults));
            aliases.extend(folded.key(Form::Picoclaw));
        }
        aliases
    }
}
