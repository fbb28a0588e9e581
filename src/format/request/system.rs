//! Converts the instructions next to a history to a message.

use super::{Api, encode_request};
use crate::model::json;

/// The native message for the instructions next to a history.
pub fn system_record(api: Api, raw: &[u8]) -> Vec<u8> {
    let mut draft = api.interface().instructions(raw);
    let back = encode_request(api, std::slice::from_ref(&draft));
    let exact = back.system.is_some_and(|system| json::same(&system, raw));
    if !exact {
        draft.note("system", Some(raw.to_vec()));
    }
    draft.body(api)
}
