//! An incoming message with its scope settings, and defaults for missing ones.

use super::identity::Links;
use super::inbound_scope::{Dimension, Inbound};
use super::tenant_scope::OwnerParts;
use super::{KeyForm, Scope};
use std::borrow::Cow;
use std::sync::LazyLock;

/// An incoming message and its scope settings.
#[derive(Clone, Debug, Default)]
pub struct InboundMessage<'a> {
    /// Its origin.
    pub inbound: Inbound<'a>,
    /// The dimensions that separate sessions, if specified.
    pub dimensions: Option<Vec<Dimension>>,
    /// Identity links, if specified.
    pub links: Option<Links>,
}

/// Settings that apply to all requests.
#[derive(Clone, Debug, Default)]
pub struct ScopeSettings {
    /// Origin and agent of messages; blank members are taken from the message.
    pub inbound: Inbound<'static>,
    /// The dimensions that separate sessions.
    pub dimensions: Option<Vec<Dimension>>,
    /// Identity links.
    pub links: Option<Links>,
    /// Default for dimensions.
    pub default_dimensions: Option<Vec<Dimension>>,
    /// Default for identity links.
    pub default_links: Option<Links>,
    /// Owner of the sessions.
    pub owner: OwnerParts,
    /// Default owner.
    pub default_owner: OwnerParts,
}

impl ScopeSettings {
    /// The effective owner for these parts.
    pub fn owner(&self, parts: &OwnerParts) -> OwnerParts {
        self.owner
            .clone()
            .or(parts.clone())
            .or(self.default_owner.clone())
    }
}

/// The empty set of links.
static NO_LINKS: LazyLock<Links> = LazyLock::new(Links::default);

impl InboundMessage<'_> {
    /// The effective dimensions.
    pub fn dimensions<'d>(&'d self, settings: &'d ScopeSettings) -> &'d [Dimension] {
        let own = settings.dimensions.as_deref().or(self.dimensions.as_deref());
        own.or(settings.default_dimensions.as_deref())
            .unwrap_or(&Dimension::DEFAULT)
    }

    /// The effective identity links.
    pub fn links<'d>(&'d self, settings: &'d ScopeSettings) -> &'d Links {
        let own = settings.links.as_ref().or(self.links.as_ref());
        own.or(settings.default_links.as_ref()).unwrap_or(&NO_LINKS)
    }

    /// The effective origin of the message.
    pub fn inbound<'d>(&'d self, settings: &'d ScopeSettings) -> Cow<'d, Inbound<'d>> {
        if settings.inbound == Inbound::default() {
            return Cow::Borrowed(&self.inbound);
        }
        Cow::Owned(settings.inbound.or(&self.inbound))
    }

    /// The scope that a key of this form encodes.
    pub fn scope(&self, form: KeyForm, settings: &ScopeSettings) -> Scope {
        let (dimensions, links) = (self.dimensions(settings), self.links(settings));
        match form {
            KeyForm::Convo | KeyForm::Penguiflow => self.inbound(settings).exact(dimensions, links),
            KeyForm::Picoclaw => self.inbound(settings).folded(dimensions, links),
        }
    }

    /// The names that PicoClaw gives the session, including PicoClaw's key if the key has another form.
    pub fn aliases(&self, form: KeyForm, settings: &ScopeSettings) -> Vec<String> {
        let inbound = self.inbound(settings);
        let mut aliases = inbound.aliases(self.links(settings));
        if form == KeyForm::Convo {
            let folded = inbound.folded(self.dimensions(settings), self.links(settings));
            aliases.extend(folded.key(KeyForm::Picoclaw));
        }
        aliases
    }
}
