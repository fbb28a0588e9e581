//! Kinds of secrets, and certainty levels.

use crate::model::named_enum::named_enum;

named_enum! {
    /// The certainty of a finding.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Certainty {
        /// Its shape alone proves it.
        Definite = "definite",
        /// A word next to it suggests it.
        Likely = "likely",
        /// Personal data, searched for on request.
        Personal = "personal",
    }
}

/// The name of a kind: `github-token`, `password`, `email`.
pub type SecretKind = &'static str;

/// Kinds recognized by context or structure; the table of shapes has the others.
pub const BY_PLACE: [SecretKind; 14] = [
    "aws-secret-key", "azure-sas", "basic-auth", "bearer-token", "bitcoin-wif", "discord-token",
    "generic-secret", "jwt", "mailchimp-key", "password", "pgp-private-key", "private-key", "session-cookie",
    "url-password",
];

/// Further kinds recognized by structure.
pub const BY_FORM: [SecretKind; 2] = ["telegram-bot-token", "terraform-token"];

/// Personal data.
pub const PERSONAL: [SecretKind; 6] = ["email", "phone", "ip-address", "home-path", "card-number", "iban"];

/// Parts of messages that are not text; replaced on request.
pub const MEDIA: [SecretKind; 3] = ["image", "audio", "file"];

/// Names listed by the user.
pub const NAME: SecretKind = "name";

/// Whether values of this kind can be guessed, so that a hash would confirm a guess.
pub fn is_guessable(kind: SecretKind) -> bool {
    matches!(kind, "password" | "url-password" | "basic-auth" | NAME) || PERSONAL.contains(&kind)
}
