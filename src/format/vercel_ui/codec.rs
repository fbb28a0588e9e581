//! Implements the kit's codec for UI messages of the AI SDK; each exchange is an element.

use super::{encode_new, encode_old, read};
use crate::format::kit::{Codec, Decoded, DocumentLayout, Editor, Writer, losses};
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::{Format, content};
use crate::model::json::{self, quoted};
use crate::model::key;
use crate::model::message::Role;

/// The codec, for one version.
#[derive(Clone, Copy)]
pub struct VercelUi {
    /// Whether it is version 4.
    is_old: bool,
}

/// Version 5.
pub static NEW: VercelUi = VARIANTS[0];
/// Version 4.
pub static OLD: VercelUi = VARIANTS[1];
const VARIANTS: [VercelUi; 2] = [VercelUi { is_old: false }, VercelUi { is_old: true }];

impl Codec for VercelUi {
    const FORMAT: Format = Format::VercelUi;
    const NAME: &'static str = "vercel-ui";
    const PHRASE: &'static str = "UI messages";
    const LINES: bool = true;
    const MAY_BE_COLLECTION: bool = true;
    const LAYOUT: DocumentLayout = DocumentLayout::List;
    const IDS: bool = false;
    const COPIES_LAYOUT: bool = true;
    const HEADER: &'static [&'static str] = &["type", "version", "id", "key", "source"];
    const VARIANTS: &'static [VercelUi] = &VARIANTS;
    const QUOTES_SUMMARIES: bool = true;
    type ElementOutline = ();

    fn variant(&self) -> &'static str {
        if self.is_old { "v4" } else { "v5" }
    }

    fn has_variant(&self, element: &[u8]) -> bool {
        self.is_old == read::is_old(element)
    }

    fn outline(&self, _: &[Vec<u8>]) {}

    fn decode(&self, (): &(), _: usize, raw: &[u8]) -> Decoded {
        match read::messages(raw) {
            Some(messages) => Decoded::Messages(messages.into_iter().map(Into::into).collect()),
            None if json::member(raw, "role") == Some(b"\"data\"") => Decoded::Passthrough,
            None => Decoded::Unrecognized,
        }
    }

    fn fault(&self, raw: &[u8]) -> Option<String> {
        read::role(raw)?;
        let annotated = json::member(raw, "content").is_some_and(|raw| raw != b"\"\"");
        match json::member(raw, "parts") {
            Some(parts) => content::unknown_parts(parts).filter(|_| !annotated),
            None => content::fault(raw, &["toolInvocations", "reasoning"]),
        }
    }

    fn id(&self, raw: &[u8]) -> Option<String> {
        let id = json::member_text(raw, "id")?;
        Some(id.into_owned()).filter(|id| !id.is_empty())
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        match self.is_old {
            true => encode_old::element(messages, report),
            false => encode_new::element(messages, report),
        }
    }
}

impl Editor for VercelUi {
    /// Number of new messages.
    type EditContext = usize;

    fn joins(&self, before: Role, role: Role) -> bool {
        let is_model = |role| matches!(role, Role::Assistant | Role::Tool);
        is_model(before) && is_model(role)
    }

    fn new_element(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Option<Vec<u8>> {
        let element = self.encode(messages, out.report)?;
        *out.context += 1;
        if json::member(&element, "id").is_some() {
            return Some(element);
        }
        // The id is derived from the message, so it is reproducible.
        let text = [(*out.context - 1).to_string().as_bytes(), b"\n", &element].concat();
        let id = quoted(&key::id_from("msg_", &text));
        json::with_members(&element, &[("id", Some(&id))]).ok()
    }

    fn losses(&self, annotated: &AnnotatedMessage<'_>, joined: bool, report: &mut Report) {
        let mut lost = vec![Loss::Usage, Loss::Model, Loss::Category, Loss::Name];
        // An id that the reader generated is not a loss.
        lost.extend((joined && annotated.noted("of").is_none()).then_some(Loss::Id));
        lost.extend((joined || !self.is_old).then_some(Loss::Timestamp));
        let known = [Self::NAME, "is_error", "denied", "invalid"];
        losses::of(annotated, &lost, &known, report);
        // Messages of other roles become user messages.
        let is_other = annotated.message.role() == Role::Other;
        report.count_loss(Loss::Part, u64::from(is_other));
    }
}
