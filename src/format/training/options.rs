//! Options of training data.

/// The variant of training data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrainingKind {
    /// For OpenAI.
    Finetune,
    /// For TRL.
    Trl,
}

/// Options of training data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrainingOptions {
    /// OpenAI: number of latest assistant messages with weight; `None`: all.
    pub train_last: Option<usize>,
    /// TRL: `prompt` and `completion` instead of `messages`.
    pub prompt_completion: bool,
    /// How reasoning is written.
    pub thinking: TrainingThinking,
}

/// How reasoning is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrainingThinking {
    /// Not at all.
    #[default]
    Drop,
    /// In `<think>` before the text.
    Inline,
    /// In the member `reasoning_content`.
    Field,
}
