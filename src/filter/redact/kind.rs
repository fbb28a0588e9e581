//! Kinds of secrets, and certainty levels.

/// The certainty of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Its shape alone proves it.
    Definite,
    /// A word next to it suggests it.
    Likely,
    /// Personal data, searched for on request.
    Personal,
}

impl Level {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Definite => "definite",
            Level::Likely => "likely",
            Level::Personal => "personal",
        }
    }
}

/// The name of a kind: `github-token`, `password`, `email`.
pub type Kind = &'static str;

/// Kinds recognized by context or structure; the table of shapes has the others.
pub const BY_PLACE: [Kind; 14] = [
    "aws-secret-key",
    "azure-sas",
    "basic-auth",
    "bearer-token",
    "bitcoin-wif",
    "discord-token",
    "generic-secret",
    "jwt",
    "mailchimp-key",
    "password",
    "pgp-private-key",
    "private-key",
    "session-cookie",
    "url-password",
];

/// Further kinds recognized by structure.
pub const BY_FORM: [Kind; 2] = ["telegram-bot-token", "terraform-token"];

/// Personal data.
pub const PERSONAL: [Kind; 6] = ["email", "phone", "ip-address", "home-path", "card-number", "iban"];

/// Parts of messages that are not text; replaced on request.
pub const MEDIA: [Kind; 3] = ["image", "audio", "file"];

/// Names listed by the user.
pub const NAME: Kind = "name";

/// Whether values of this kind can be guessed, so that a hash would confirm a guess.
pub fn is_guessable(kind: Kind) -> bool {
    matches!(kind, "password" | "url-password" | "basic-auth" | NAME) || PERSONAL.contains(&kind)
}
