//! The instructions next to a history in a request, as a message.

use super::draft::Draft;
use super::{Api, written_back};
use crate::format::{anthropic, gemini, openai_responses};
use crate::model::json;

/// The body of the native message that the instructions next to a history read as.
pub fn system_record(api: Api, raw: &[u8]) -> Vec<u8> {
    let mut draft = system_draft(api, raw);
    let back = written_back(api, std::slice::from_ref(&draft));
    let exact = back.system.is_some_and(|system| json::same(&system, raw));
    if !exact {
        draft.note("system", Some(raw.to_vec()));
    }
    draft.body(api)
}

pub(super) fn system_draft(api: Api, raw: &[u8]) -> Draft {
    match api {
        Api::Gemini => gemini::system(raw),
        Api::OpenaiResponses => openai_responses::instructions(raw),
        Api::Anthropic | Api::OpenaiChat => anthropic::system(raw),
    }
}
