//! Checks a history against the rules of a provider's API, and repairs violations.
//!
//! Rules examine *elements*: the messages, items or turns in a request. Each element is parsed once, and again after a
//! repair has changed it.
//!
//! ```
//! use convo::check::{Api, CheckOptions, check};
//!
//! let messages = [r#"{"role":"user","content":"hi"}"#, r#"{"role":"tool","tool_call_id":"c1","content":"22 C"}"#];
//! let findings = check(Api::OpenaiChat, &messages, &CheckOptions::default());
//! assert!(findings.iter().any(|finding| finding.is_error() && finding.index == 1));
//! ```

mod anthropic;
mod finding;
mod gemini;
mod history;
mod ids;
mod openai_chat;
mod openai_responses;
mod options;
mod raw;
mod rules;
mod structure;
#[cfg(test)]
pub(crate) mod tests;

pub use crate::format::request::Api;
pub use finding::{ApiViolation, Repair, RepairMode};
pub use history::{Fixed, RepairChange, RepairedElement};
pub use options::CheckOptions;
pub use rules::{ALTERNATE, HistoryRule, RULES, STRUCTURE, Severity, TableRule};
pub use structure::structure;

use history::Provider;

/// The rules of an API and their repairs.
struct ApiChecker {
    check: fn(&[&[u8]], &CheckOptions) -> Vec<ApiViolation>,
    fix: fn(&[&[u8]], &CheckOptions, &Repair<'_>) -> Fixed,
}

impl ApiChecker {
    const fn of<P: Provider>() -> ApiChecker {
        ApiChecker {
            check: history::check::<P>,
            fix: history::fix::<P>,
        }
    }

    fn of_api(api: Api) -> ApiChecker {
        match api {
            Api::OpenaiChat => ApiChecker::of::<openai_chat::ChatRules>(),
            Api::OpenaiResponses => ApiChecker::of::<openai_responses::ResponsesRules>(),
            Api::Anthropic => ApiChecker::of::<anthropic::AnthropicRules>(),
            Api::Gemini => ApiChecker::of::<gemini::GeminiRules>(),
        }
    }
}

/// Checks elements against the rules of an API.
pub fn check<T: AsRef<[u8]>>(api: Api, elements: &[T], options: &CheckOptions) -> Vec<ApiViolation> {
    (ApiChecker::of_api(api).check)(&slices(elements), options)
}

/// Repairs a history until no repairable violation is left. Other elements keep their bytes.
pub fn fix<T: AsRef<[u8]>>(api: Api, elements: &[T], options: &CheckOptions, repair: &Repair<'_>) -> Fixed {
    (ApiChecker::of_api(api).fix)(&slices(elements), options, repair)
}

fn slices<T: AsRef<[u8]>>(elements: &[T]) -> Vec<&[u8]> {
    elements.iter().map(AsRef::as_ref).collect()
}

/// An id for a message that a repair inserts, derived from the session's id and the subject, so that the same history
/// gets the same ids. `nth` distinguishes subjects with the same name.
pub fn message_id(session: &str, about: &str, nth: usize) -> String {
    ids::IdGenerator::new(session).message(about, "", nth)
}
