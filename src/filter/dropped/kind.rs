//! The kinds of facts.

use crate::model::named_enum::named_enum;

named_enum! {
    /// The kind of a fact.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum FactKind {
        /// A standing instruction.
        Rule = "rule",
        /// A sentence that states a decision.
        Decision = "decision",
        /// An unanswered question.
        Question = "question",
        /// A file or directory.
        Path = "path",
        /// A command that was run.
        Command = "command",
        /// The error of a failed call: its code, and the line with the reason.
        Error = "error",
        /// A number with its unit.
        Figure = "figure",
        /// A date.
        Date = "date",
        /// A URL.
        Url = "url",
        /// A name in code, a hash, or an issue number.
        Identifier = "identifier",
    }
}
