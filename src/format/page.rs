//! Options of output: of pages for people, HTML and Markdown, and of training data.

use super::training::TrainingOptions;

/// How a page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageOptions {
    /// Markdown: show images of the web, whose servers learn who opens the page.
    pub remote_images: bool,
    /// Include hidden messages, marked, and the changes of the view.
    pub hidden: bool,
    /// How reasoning is shown.
    pub thinking: Thinking,
    /// Largest image in bytes; 0: none. A page has at most 8 MiB of them.
    pub largest_image: usize,
    /// Lines of a tool result.
    pub tool_lines: usize,
    /// Messages of a page, if a session may have several.
    pub messages: usize,
    /// Colors.
    pub theme: Theme,
    /// Whether the page has a script.
    pub script: bool,
    /// Options of training data.
    pub training: TrainingOptions,
}

/// How a page shows reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// Folded.
    Fold,
    /// Unfolded.
    Show,
    /// Not at all.
    Drop,
}

/// The colors of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Those that the reader's system prefers.
    Auto,
    /// Dark text on light.
    Light,
    /// Light text on dark.
    Dark,
}

impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions {
            remote_images: false,
            hidden: false,
            thinking: Thinking::Fold,
            largest_image: 256 << 10,
            tool_lines: 400,
            messages: 1000,
            theme: Theme::Auto,
            script: true,
            training: TrainingOptions::default(),
        }
    }
}
