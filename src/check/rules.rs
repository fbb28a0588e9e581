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

/// Defines rules, grouped by API: the id, the level, the requirement, and the repair.
macro_rules! rules {
    ($($api:expr => { $($id:literal $level:ident $text:literal => $fix:expr;)* })*) => {
        [$($(HistoryRule { id: $id, api: $api, level: Severity::$level, text: $text, fix: $fix }),*),*]
    };
}

/// The 43 rules, in the order of the manual.
pub static RULES: [HistoryRule; 43] = rules! {
    Some(Api::OpenaiChat) => {
        "OC01" Error "a tool message answers a call of the assistant message before its run"
            => "drop the result, or convert it to text";
        "OC02" Error "every call is answered before a message of another role"
            => "insert a result `aborted` after the run, or drop the call";
        "OC03" Error "call ids are unique within an assistant message"
            => "give the later call and its result a new id";
        "OC04" Warn "each call has one tool message" => "keep the first result, drop the later ones";
        "OC05" Error "a user message has content, an assistant message content or calls" => "drop the message";
        "OC06" Error "tool_calls is absent instead of empty" => "remove the member";
        "OC07" Error "the role is system, developer, user, assistant, tool or function"
            => "map human, model, bot, ai and gpt; others are only reported";
        "OC08" Error "content is a string or a list of parts; in a tool message only of text"
            => "replace null by an empty string, and other parts by a text placeholder";
        "OC09" Warn "the arguments of a call are a string with valid JSON"
            => "replace the arguments by {}, and keep the text in the metadata";
        "OC10" Error "a call id has at most 40 characters" => "shorten the id in call and results";
        "OC11" Error "there is at least one message" => NEVER_WRITTEN;
    }
    Some(Api::OpenaiResponses) => {
        "OR01" Error "an output follows a call of the same type and call_id"
            => "drop the output, or convert it to text";
        "OR02" Error "a call is followed by an output of the same type and call_id"
            => "insert an output `aborted`, or drop the call and the reasoning before it";
        "OR03" Error "a reasoning item is followed by its output item" => "drop the reasoning item";
        "OR04" Error "an assistant item without its reasoning item has no id" => "remove the id";
        "OR05" Error "with --stateless, a reasoning item has encrypted_content" => "drop the reasoning item";
        "OR06" Error "the types of parts match the role: input_*, or output_text and refusal"
            => "change the type to match the role";
        "OR07" Error "a compaction item has encrypted_content" => "drop the item";
        "OR08" Error "ids of items are unique" => "give the later item a new id";
        "OR09" Error "input_image has image_url or file_id, input_file a source"
            => "replace the part by a text placeholder";
    }
    Some(Api::Anthropic) => {
        "AN01" Error "the role is user or assistant"
            => "convert tool to user with a result; move a leading system message to the system field";
        "AN02" Error "the first message is from the user"
            => "drop the messages before the first user message, or insert a placeholder";
        "AN03" Error "a result answers a call of the message before" => "drop the result, or convert it to text";
        "AN04" Error "a call has its result in the next message"
            => "insert a result `aborted` first in the next user message, or drop the call";
        "AN05" Error "results come first in their message" => "move the results to the front";
        "AN06" Error "call ids are unique, and each call has one result"
            => "drop the later result; give the later call a new id";
        "AN07" Error "no text block is empty or blank" => "drop the block, or replace the last one by `(no text)`";
        "AN08" Error "only a final assistant message has empty content" => "drop the message";
        "AN09" Warn "the request ends with a user message" => REPORTED;
        "AN10" Error "thinking blocks are signed, and only in assistant messages" => "drop the thinking block";
        "AN11" Error "with extended thinking, the open tool loop starts with a thinking block"
            => "drop the complete open tool loop";
        "AN12" Error "a request without tools has no tool blocks" => "convert the blocks to text";
        "AN13" Error "a compaction block has null or text as content, and its signature" => "drop the block";
        "AN14" Error "there are at most 4 cache_control markers" => "keep the last 4";
    }
    Some(Api::Gemini) => {
        "GE01" Error "the role is user or model" => "convert assistant to model, and function to user";
        "GE02" Error "content with calls follows content of the user" => "merge adjacent model contents";
        "GE03" Error "the next content has one response per call"
            => "insert responses `aborted`, or drop the calls; drop surplus responses";
        "GE04" Error "content with responses follows content with calls"
            => "drop the responses, or convert them to text";
        "GE05" Error "every content has parts, none of them empty" => "drop the empty part, then the empty content";
        "GE06" Error "the first content is from the user"
            => "drop the contents before the first of the user, or insert a placeholder";
        "GE07" Error "in the open exchange, the first call of each step has a thoughtSignature"
            => "insert the placeholder that the API accepts";
        "GE08" Error "responses without ids have the names and order of the calls"
            => "sort the responses by the calls";
        "GE09" Warn "the request ends with a user message or a response" => REPORTED;
    }
};

/// Rules for every history, regardless of the provider.
pub static STRUCTURE: [HistoryRule; 8] = rules! {
    None => {
        "ST01" Error "a result answers a call before it" => UNREPAIRED;
        "ST02" Error "a call has a result, unless the call is the last of the session" => UNREPAIRED;
        "ST03" Error "call ids are unique in a message" => UNREPAIRED;
        "ST04" Warn "a call has one result" => UNREPAIRED;
        "ST05" Error "message ids are unique" => UNREPAIRED;
        "ST06" Error "the role is system, developer, user, assistant, tool or function" => UNREPAIRED;
        "ST07" Warn "the arguments of a call are JSON" => UNREPAIRED;
        "ST08" Warn "timestamps do not decrease" => REPORTED;
    }
};

/// The repair of structure rules.
const UNREPAIRED: &str = "none; repair for an API with: --for API --fix";

/// The repair of a rule whose violations are only reported.
const REPORTED: &str = "only reported";

/// The repair of an empty request.
const NEVER_WRITTEN: &str = "none: an empty request is never written";

/// Only checked on request: a requirement of open models' chat templates.
pub static ALTERNATE: HistoryRule = HistoryRule {
    id: "ALT",
    api: None,
    level: Severity::Error,
    text: "adjacent messages have different roles (except results)",
    fix: "merge the messages",
};
