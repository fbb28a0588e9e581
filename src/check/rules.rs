//! The table of rules, from which reports, manual and tests are derived.

use crate::format::request::Api;
use crate::model::named_enum::named_enum;

named_enum! {
    /// The level of a violation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Severity {
        /// Not checked.
        Off = "off",
        /// Accepted by the provider, but not portable.
        Warn = "warn",
        /// The provider rejects the request, or the link between call and result is lost.
        Error = "error",
    }
}

/// A rule for histories.
#[derive(Debug, PartialEq, Eq)]
pub struct HistoryRule {
    /// Two letters for the API, and a number.
    pub id: &'static str,
    /// The API; `None`: the rule applies to all.
    pub api: Option<Api>,
    /// The default level.
    pub level: Severity,
    /// The requirement.
    pub text: &'static str,
    /// The repair.
    pub fix: &'static str,
}

/// A rule of the table.
pub type TableRule = &'static HistoryRule;

impl HistoryRule {
    /// The rule with this id, ignoring case.
    pub fn of(id: &str) -> Option<TableRule> {
        RULES
            .iter()
            .chain(&STRUCTURE)
            .chain([&ALTERNATE])
            .find(|rule| rule.id.eq_ignore_ascii_case(id))
    }

    /// Whether violations have a repair; that of some depends on the history.
    pub fn has_repair(&self) -> bool {
        ![UNREPAIRED, REPORTED, NEVER_WRITTEN].contains(&self.fix)
    }
}

/// The 43 rules, in the order of the manual.
pub static RULES: [HistoryRule; 43] = [
    chat(
        "OC01",
        "a tool message answers a call of the assistant message before its run",
        "drop the result, or convert it to text",
    ),
    chat(
        "OC02",
        "every call is answered before a message of another role",
        "insert a result `aborted` after the run, or drop the call",
    ),
    chat(
        "OC03",
        "call ids are unique within an assistant message",
        "give the later call and its result a new id",
    ),
    warn(chat(
        "OC04",
        "each call has one tool message",
        "keep the first result, drop the later ones",
    )),
    chat(
        "OC05",
        "a user message has content, an assistant message content or calls",
        "drop the message",
    ),
    chat(
        "OC06",
        "tool_calls is absent instead of empty",
        "remove the member",
    ),
    chat(
        "OC07",
        "the role is system, developer, user, assistant, tool or function",
        "map human, model, bot, ai and gpt; others are only reported",
    ),
    chat(
        "OC08",
        "content is a string or a list of parts; in a tool message only of text",
        "replace null by an empty string, and other parts by a text placeholder",
    ),
    warn(chat(
        "OC09",
        "the arguments of a call are a string with valid JSON",
        "replace the arguments by {}, and keep the text in the metadata",
    )),
    chat(
        "OC10",
        "a call id has at most 40 characters",
        "shorten the id in call and results",
    ),
    chat("OC11", "there is at least one message", NEVER_WRITTEN),
    responses(
        "OR01",
        "an output follows a call of the same type and call_id",
        "drop the output, or convert it to text",
    ),
    responses(
        "OR02",
        "a call is followed by an output of the same type and call_id",
        "insert an output `aborted`, or drop the call and the reasoning before it",
    ),
    responses(
        "OR03",
        "a reasoning item is followed by its output item",
        "drop the reasoning item",
    ),
    responses(
        "OR04",
        "an assistant item without its reasoning item has no id",
        "remove the id",
    ),
    responses(
        "OR05",
        "with --stateless, a reasoning item has encrypted_content",
        "drop the reasoning item",
    ),
    responses(
        "OR06",
        "the types of parts match the role: input_*, or output_text and refusal",
        "change the type to match the role",
    ),
    responses("OR07", "a compaction item has encrypted_content", "drop the item"),
    responses("OR08", "ids of items are unique", "give the later item a new id"),
    responses(
        "OR09",
        "input_image has image_url or file_id, input_file a source",
        "replace the part by a text placeholder",
    ),
    anthropic(
        "AN01",
        "the role is user or assistant",
        "convert tool to user with a result; move a leading system message to the system field",
    ),
    anthropic(
        "AN02",
        "the first message is from the user",
        "drop the messages before the first user message, or insert a placeholder",
    ),
    anthropic(
        "AN03",
        "a result answers a call of the message before",
        "drop the result, or convert it to text",
    ),
    anthropic(
        "AN04",
        "a call has its result in the next message",
        "insert a result `aborted` first in the next user message, or drop the call",
    ),
    anthropic(
        "AN05",
        "results come first in their message",
        "move the results to the front",
    ),
    anthropic(
        "AN06",
        "call ids are unique, and each call has one result",
        "drop the later result; give the later call a new id",
    ),
    anthropic(
        "AN07",
        "no text block is empty or blank",
        "drop the block, or replace the last one by `(no text)`",
    ),
    anthropic(
        "AN08",
        "only a final assistant message has empty content",
        "drop the message",
    ),
    warn(anthropic(
        "AN09",
        "the request ends with a user message",
        REPORTED,
    )),
    anthropic(
        "AN10",
        "thinking blocks are signed, and only in assistant messages",
        "drop the thinking block",
    ),
    anthropic(
        "AN11",
        "with extended thinking, the open tool loop starts with a thinking block",
        "drop the complete open tool loop",
    ),
    anthropic(
        "AN12",
        "a request without tools has no tool blocks",
        "convert the blocks to text",
    ),
    anthropic(
        "AN13",
        "a compaction block has null or text as content, and its signature",
        "drop the block",
    ),
    anthropic(
        "AN14",
        "there are at most 4 cache_control markers",
        "keep the last 4",
    ),
    gemini(
        "GE01",
        "the role is user or model",
        "convert assistant to model, and function to user",
    ),
    gemini(
        "GE02",
        "content with calls follows content of the user",
        "merge adjacent model contents",
    ),
    gemini(
        "GE03",
        "the next content has one response per call",
        "insert responses `aborted`, or drop the calls; drop surplus responses",
    ),
    gemini(
        "GE04",
        "content with responses follows content with calls",
        "drop the responses, or convert them to text",
    ),
    gemini(
        "GE05",
        "every content has parts, none of them empty",
        "drop the empty part, then the empty content",
    ),
    gemini(
        "GE06",
        "the first content is from the user",
        "drop the contents before the first of the user, or insert a placeholder",
    ),
    gemini(
        "GE07",
        "in the open exchange, the first call of each step has a thoughtSignature",
        "insert the placeholder that the API accepts",
    ),
    gemini(
        "GE08",
        "responses without ids have the names and order of the calls",
        "sort the responses by the calls",
    ),
    warn(gemini(
        "GE09",
        "the request ends with a user message or a response",
        REPORTED,
    )),
];

/// Rules for every history, regardless of the provider.
pub static STRUCTURE: [HistoryRule; 8] = [
    structure("ST01", "a result answers a call before it", UNREPAIRED),
    structure(
        "ST02",
        "a call has a result, unless the call is the last of the session",
        UNREPAIRED,
    ),
    structure("ST03", "call ids are unique in a message", UNREPAIRED),
    warn(structure("ST04", "a call has one result", UNREPAIRED)),
    structure("ST05", "message ids are unique", UNREPAIRED),
    structure(
        "ST06",
        "the role is system, developer, user, assistant, tool or function",
        UNREPAIRED,
    ),
    warn(structure("ST07", "the arguments of a call are JSON", UNREPAIRED)),
    warn(structure("ST08", "timestamps do not decrease", REPORTED)),
];

/// The repair of structure rules.
const UNREPAIRED: &str = "none; repair for an API with: --for API --fix";

/// The repair of a rule whose violations are only reported.
const REPORTED: &str = "only reported";

/// The repair of an empty request.
const NEVER_WRITTEN: &str = "none: an empty request is never written";

const fn structure(id: &'static str, text: &'static str, fix: &'static str) -> HistoryRule {
    HistoryRule {
        id,
        api: None,
        level: Severity::Error,
        text,
        fix,
    }
}

/// Only checked on request: a requirement of open models' chat templates.
pub static ALTERNATE: HistoryRule = HistoryRule {
    id: "ALT",
    api: None,
    level: Severity::Error,
    text: "adjacent messages have different roles (except results)",
    fix: "merge the messages",
};

const fn rule(api: Api, id: &'static str, text: &'static str, fix: &'static str) -> HistoryRule {
    HistoryRule {
        id,
        api: Some(api),
        level: Severity::Error,
        text,
        fix,
    }
}

const fn chat(id: &'static str, text: &'static str, fix: &'static str) -> HistoryRule {
    rule(Api::OpenaiChat, id, text, fix)
}

const fn responses(id: &'static str, text: &'static str, fix: &'static str) -> HistoryRule {
    rule(Api::OpenaiResponses, id, text, fix)
}

const fn anthropic(id: &'static str, text: &'static str, fix: &'static str) -> HistoryRule {
    rule(Api::Anthropic, id, text, fix)
}

const fn gemini(id: &'static str, text: &'static str, fix: &'static str) -> HistoryRule {
    rule(Api::Gemini, id, text, fix)
}

const fn warn(rule: HistoryRule) -> HistoryRule {
    HistoryRule {
        level: Severity::Warn,
        ..rule
    }
}
