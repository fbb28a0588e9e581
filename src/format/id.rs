//! The formats by name; `table.rs` describes each of them.

/// Defines [`Format`] from the list of formats.
macro_rules! formats {
    ($($(#[$about:meta])* $variant:ident,)*) => {
        /// A format of sessions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Format {
            $($(#[$about])* $variant,)*
        }

        impl Format {
            /// All formats, in the order of the manual.
            pub const ALL: [Format; [$(Format::$variant),*].len()] = [$(Format::$variant,)*];
        }
    };
}

formats! {
    /// The record stream.
    Native,
    /// Bare messages, one per line.
    Jsonl,
    /// Messages of the OpenAI Chat Completions API: an array, or objects with `messages`.
    OpenaiChat,
    /// Items of the OpenAI Responses API.
    OpenaiResponses,
    /// Messages of the Anthropic API.
    Anthropic,
    /// Contents of the Gemini API.
    Gemini,
    /// PicoClaw: a log of message lines with its sidecar, or an older layout.
    Picoclaw,
    /// PicoClaw: a legacy JSON document.
    PicoclawLegacy,
    /// Penguin: a session document, or an older `conversation_*.json`.
    Penguin,
    /// The request that Penguin would send to a model.
    PenguinContext,
    /// Claude Code: the log of a session.
    ClaudeCode,
    /// goaitools: the state of a conversation.
    Goaitools,
    /// PenguiFlow: a memory state.
    Penguiflow,
    /// The part of PenguiFlow's memory that a model sees.
    PenguiflowContext,
    /// Codex: the log of a session.
    Codex,
    /// pi: a session with all its branches.
    Pi,
    /// Gemini CLI: the recording of a chat.
    GeminiCli,
    /// opencode: the export of a session.
    Opencode,
    /// goose: a session, exported or as lines.
    Goose,
    /// goose: a session as lines.
    GooseJsonl,
    /// aider: its chat history.
    Aider,
    /// Cline and Roo Code: the history of a task.
    ClineRoo,
    /// Continue: a session.
    Continue,
    /// LangChain: messages as its libraries serialize them.
    Langchain,
    /// Vercel AI SDK: UI messages.
    VercelUi,
    /// Vercel AI SDK: messages of version 4.
    VercelUiV4,
    /// Markdown, for human readers.
    Markdown,
    /// An HTML page.
    Html,
    /// ChatGPT: the export of its conversations.
    ChatgptExport,
    /// Claude.ai: the export of its conversations.
    ClaudeAiExport,
    /// ShareGPT: training sets.
    Sharegpt,
    /// aichat: a session in YAML.
    Aichat,
    /// Lines for fine-tuning OpenAI models.
    OpenaiFinetune,
    /// Training data for TRL.
    Trl,
    /// Session traces, for publishing.
    Sts,
    /// Cursor: the transcript of its agent.
    Cursor,
    /// Factory Droid: the log of a session, or a stream.
    Droid,
    /// Cline: a session of its newer store.
    Cline,
    /// Qwen Code: the log of a session.
    QwenCode,
    /// GitHub Copilot: an event log.
    CopilotCli,
    /// Grok Build: a history or a display stream.
    Grok,
    /// ATIF: a trajectory of an agent.
    Atif,
    /// Kimi: a log of Kimi Code, or a context or stream of Kimi CLI.
    Kimi,
}
