//! The kinds of findings, and their certainty.

/// How certain a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Its shape alone proves it.
    Definite,
    /// A word next to it suggests it.
    Likely,
    /// Personal data, which is looked for on request.
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

/// The kinds that are known by where they are or by more than a prefix; the others are in the table of shapes.
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

/// More kinds of this sort.
pub const BY_FORM: [Kind; 2] = ["telegram-bot-token", "terraform-token"];

/// Personal data.
pub const PERSONAL: [Kind; 6] = ["email", "phone", "ip-address", "home-path", "card-number", "iban"];

/// Contents of messages that are no text, which are replaced on request.
pub const MEDIA: [Kind; 3] = ["image", "audio", "file"];

/// Names that the user gives.
pub const NAME: Kind = "name";

/// Kinds whose values can be guessed, so that a hash of one would confirm a guess.
pub fn is_guessable(kind: Kind) -> bool {
    matches!(kind, "password" | "url-password" | "basic-auth" | NAME) || PERSONAL.contains(&kind)
}
