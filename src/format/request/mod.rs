//! What a provider would be sent: the view as the messages, items or turns of its interface. Writers print it and
//! checks look at it, so that both see the same.

mod order;

pub(super) use order::order;

use super::report::Report;
use super::{Purpose, openai_chat};
use crate::error::{Error, Kind, Result};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::View;

/// The interface of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Api {
    /// OpenAI Chat Completions.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
}

impl Api {
    /// Every interface; the order is that of the manual.
    pub const ALL: [Api; 4] = [Api::OpenaiChat, Api::OpenaiResponses, Api::Anthropic, Api::Gemini];

    /// The name on the command line and in reports; it is that of the format as well.
    pub const fn name(self) -> &'static str {
        match self {
            Api::OpenaiChat => "openai-chat",
            Api::OpenaiResponses => "openai-responses",
            Api::Anthropic => "anthropic",
            Api::Gemini => "gemini",
        }
    }

    /// The interface of this name.
    pub fn from_name(name: &str) -> Option<Api> {
        Api::ALL.into_iter().find(|api| api.name() == name)
    }
}

/// One message, item or turn of a provider's history, and the items of the view that it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its JSON, on one line.
    pub raw: Vec<u8>,
    /// Indexes into the view's items, in order. One item may be in several elements, and one element may hold
    /// several items.
    pub items: Vec<usize>,
}

/// What a provider would be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The instructions that stand beside the history: Anthropic's `system`, Gemini's `systemInstruction`, the
    /// `instructions` of Responses, as JSON.
    pub system: Option<Vec<u8>>,
    /// Indexes of the view's items that the instructions came from.
    pub system_items: Vec<usize>,
    /// The history.
    pub elements: Vec<Element>,
    /// Whether the request defines tools; none when the session did not come in a request.
    pub tools: Option<bool>,
}

/// The view as the elements of an interface. What it cannot carry goes to the report.
pub fn elements(api: Api, session: &Session, view: &View, report: &mut Report) -> Result<Request> {
    built(api, session, view, Purpose::Context, report)
}

/// The same for a purpose, which decides what counts as a loss.
pub(super) fn built(
    api: Api,
    session: &Session,
    view: &View,
    purpose: Purpose,
    report: &mut Report,
) -> Result<Request> {
    let mut request = match api {
        Api::OpenaiChat => openai_chat::request(session, view, purpose, report),
        Api::OpenaiResponses | Api::Anthropic | Api::Gemini => {
            return Err(Error::new(
                Kind::Usage,
                format!("sessions are not written as {} here", api.name()),
            ));
        }
    };
    let members = members(session);
    request.tools = members.map(|members| {
        json::member(&members, "tools").is_some_and(|tools| !matches!(tools, b"null" | b"[]"))
    });
    Ok(request)
}

/// The bodies of the native messages that an element reads as; what is no message of the interface gives none.
/// Calls and results that carry no ids are paired by [`Reading`] only, which sees the elements before.
pub fn records(api: Api, element: &[u8]) -> Vec<Vec<u8>> {
    Reading::new(api).records(element)
}

/// Reads the elements of one history, in order.
#[derive(Debug)]
pub struct Reading {
    api: Api,
    chat: openai_chat::Functions,
}

impl Reading {
    /// At the beginning of a history.
    pub fn new(api: Api) -> Reading {
        Reading {
            api,
            chat: openai_chat::Functions::default(),
        }
    }

    /// The bodies of the native messages that the next element reads as.
    pub fn records(&mut self, element: &[u8]) -> Vec<Vec<u8>> {
        match self.api {
            Api::OpenaiChat => openai_chat::records(&mut self.chat, element),
            Api::OpenaiResponses | Api::Anthropic | Api::Gemini => Vec::new(),
        }
    }
}

/// The members beside the history, of the request that a session came in.
pub(super) fn members(session: &Session) -> Option<Vec<u8>> {
    let header = session.header();
    let (_, metadata) = header.iter().find(|(name, _)| name == "metadata")?;
    json::member(metadata, "request").map(<[u8]>::to_vec)
}

/// Whether a session was read from this interface's own form: then nothing in it is moved.
pub(super) fn came_from(api: Api, session: &Session) -> bool {
    let header = session.header();
    let source = header.iter().find(|(name, _)| name == "source");
    source
        .and_then(|(_, source)| json::member(source, "format"))
        .and_then(json::text)
        .is_some_and(|format| format == api.name())
}
