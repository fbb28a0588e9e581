//! The APIs of providers.

use crate::model::named_enum::named_enum;

named_enum! {
    /// The API of a provider.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Api {
        /// OpenAI Chat Completions.
        OpenaiChat = "openai-chat",
        /// OpenAI Responses.
        OpenaiResponses = "openai-responses",
        /// Anthropic Messages.
        Anthropic = "anthropic",
        /// Gemini `generateContent`.
        Gemini = "gemini",
    }
}
