//! Formats whose sessions are lists of elements: an array, the `messages` of an object, an element a line; or many
//! objects with `messages`, in an array or one a line. Read element by element into native messages, and written back
//! with every element that did not change as the bytes it was.
//!
//! | `metadata.<format>` of | holds |
//! |---|---|
//! | a message: `raw` | the element, where it could not be made again of the message and its other notes |
//! | a message: `apart` | that it begins an element of its own, although the one before it could go on |
//! | a message: anything else | what its format notes |
//! | the header: `form` | how the elements are spelled, where there are several ways |
//! | the header: `input` | `lines` for an element a line |
//! | the header: `document` | the other members of the object with `messages` |

mod layout;
mod read;
mod row;
mod spelling;
#[cfg(test)]
pub mod tests;
mod write;

pub use read::open;
pub use spelling::Spelling;
pub use write::{back, write};

use super::Format;
use super::request::draft::Draft;
use super::request::piece::Said;

/// A format of listed elements.
#[derive(Clone, Copy)]
pub struct Kind {
    /// The format.
    pub format: Format,
    /// Its name, under which notes are kept.
    pub name: &'static str,
    /// The native messages of an element; none of what is no message.
    pub read: fn(&[u8]) -> Option<Vec<Draft>>,
    /// What is wrong with a message whose content the format does not have.
    pub fault: fn(&[u8]) -> Option<String>,
    /// Whether an element that is no message is one that the format has.
    pub others: fn(&[u8]) -> bool,
    /// The form that an element has.
    pub form: fn(&[u8]) -> &'static str,
    /// The forms that there are; the first is that of what came from elsewhere.
    pub forms: &'static [&'static str],
    /// Writes messages that follow one another as elements.
    pub spell: fn(&[Said<'_>], &mut Spelling) -> Vec<Vec<u8>>,
    /// Whether an element may lie in a row of a table, beside the id of its session.
    pub rows: bool,
    /// Whether messages of the model and of tools that follow one another become one element.
    pub joins: bool,
}

impl Kind {
    /// The form of what came from elsewhere.
    fn usual(&self) -> &'static str {
        self.forms.first().copied().unwrap_or_default()
    }
}
