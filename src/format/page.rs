//! Output options: for HTML and Markdown pages, and for training data.

use super::training::TrainingOptions;
use crate::model::named_enum::named_enum;

/// Output options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageOptions {
    /// Markdown: include remote images, whose servers learn who opens the page.
    pub remote_images: bool,
    /// Include hidden messages, marked, and events.
    pub hidden: bool,
    /// How reasoning is shown.
    pub thinking: PageThinking,
    /// Maximum size of an image in bytes; 0: no images. A page has at most 8 MiB of images.
    pub largest_image: usize,
    /// Maximum lines of a tool result.
    pub tool_lines: usize,
    /// Messages per page, if a session may have several pages.
    pub messages: usize,
    /// Color theme.
    pub theme: Theme,
    /// Whether the page has a script.
    pub script: bool,
    /// Options of training data.
    pub training: TrainingOptions,
}

/// How a page shows reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageThinking {
    /// Collapsed.
    Fold,
    /// Expanded.
    Show,
    /// Not at all.
    Drop,
}

named_enum! {
    /// The color theme of a page.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Theme {
        /// The theme that the reader's system prefers.
        Auto = "auto",
        /// Dark text on light.
        Light = "light",
        /// Light text on dark.
        Dark = "dark",
    }
}

impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions {
            remote_images: false,
            hidden: false,
            thinking: PageThinking::Fold,
            largest_image: 256 << 10,
            tool_lines: 400,
            messages: 1000,
            theme: Theme::Auto,
            script: true,
            training: TrainingOptions::default(),
        }
    }
}
