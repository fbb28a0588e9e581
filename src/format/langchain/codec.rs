//! Implements the kit's codec for LangChain messages; each message is an element.

use super::read::{self, DictElement};
use super::{row, write};
use crate::format::kit::{Codec, Decoded, DocumentLayout, Editor};
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::{Format, content};
use crate::model::json;

/// The codec, for one of the two serialized forms.
#[derive(Clone, Copy)]
pub struct Langchain {
    /// Whether messages are constructors, as from `dumpd`.
    pub is_constructor: bool,
}

/// The form of `messages_to_dict`.
pub static DICT: Langchain = VARIANTS[0];
const VARIANTS: [Langchain; 2] = [
    Langchain {
        is_constructor: false,
    },
    Langchain { is_constructor: true },
];

impl Codec for Langchain {
    const FORMAT: Format = Format::Langchain;
    const NAME: &'static str = "langchain";
    const PHRASE: &'static str = "LangChain messages";
    const LINES: bool = true;
    const MAY_BE_COLLECTION: bool = true;
    const LAYOUT: DocumentLayout = DocumentLayout::List;
    const IDS: bool = false;
    const COPIES_LAYOUT: bool = true;
    const HEADER: &'static [&'static str] = &["type", "version", "id", "key", "source"];
    const VARIANTS: &'static [Langchain] = &VARIANTS;
    const QUOTES_SUMMARIES: bool = true;
    type ElementOutline = ();

    fn variant(&self) -> &'static str {
        if self.is_constructor {
            "constructor"
        } else {
            "dict"
        }
    }

    fn has_variant(&self, element: &[u8]) -> bool {
        self.is_constructor == json::member(element, "kwargs").is_some()
    }

    fn row(&self, element: &[u8]) -> Option<(String, Vec<u8>)> {
        row::of(element)
    }

    fn with_row(&self, row: &[u8], element: &[u8], is_new: bool) -> Vec<u8> {
        row::with(row, element, is_new)
    }

    fn outline(&self, _: &[Vec<u8>]) {}

    fn decode(&self, (): &(), _: usize, raw: &[u8]) -> Decoded {
        let message = read::message(raw);
        let removes = || DictElement::of(raw).is_some_and(|element| element.kind() == Some("remove"));
        match message {
            Some(message) => Decoded::Messages(vec![message.into()]),
            None if removes() => Decoded::Passthrough,
            None => Decoded::Unrecognized,
        }
    }

    fn fault(&self, raw: &[u8]) -> Option<String> {
        let element = DictElement::of(raw)?;
        element.kind().filter(|kind| *kind != "remove")?;
        content::fault(element.members, &["tool_calls"])
    }

    fn id(&self, raw: &[u8]) -> Option<String> {
        let id = json::member_text(DictElement::of(raw)?.members, "id")?;
        Some(id.into_owned()).filter(|id| !id.is_empty())
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        let message = messages.first()?;
        Some(write::element(message, self.is_constructor, report))
    }
}

impl Editor for Langchain {
    type EditContext = ();
    const LOST: &'static [Loss] = &[Loss::Timestamp, Loss::Category];
    const REPRESENTED_METADATA: &'static [&'static str] = &[Self::NAME, "is_error", "invalid"];
}
