//! The rules: which, for whom, how grave, and what to do. The report, the manual and the tests read this table.

use crate::format::request::Api;

/// How grave it is to break a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Not looked for.
    Off,
    /// Portable histories keep it.
    Warn,
    /// The provider refuses the request, or the pairing of call and result is lost.
    Error,
}

impl Level {
    /// The name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Off => "off",
            Level::Warn => "warn",
            Level::Error => "error",
        }
    }

    /// The level of this name.
    pub fn from_name(name: &str) -> Option<Level> {
        [Level::Off, Level::Warn, Level::Error]
            .into_iter()
            .find(|level| level.name() == name)
    }
}

/// A rule that a history has to keep.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Two letters of the interface and a number.
    pub id: &'static str,
    /// Whose rule it is; none: of every interface.
    pub api: Option<Api>,
    /// The level, unless options say otherwise.
    pub level: Level,
    /// What must be.
    pub text: &'static str,
    /// What a repair does.
    pub fix: &'static str,
}

impl Rule {
    /// The rule of this id, whatever its case.
    pub fn of(id: &str) -> Option<&'static Rule> {
        RULES
            .iter()
            .chain(&STRUCTURE)
            .chain([&ALTERNATE])
            .find(|rule| rule.id.eq_ignore_ascii_case(id))
    }
}

/// The 43 rules, in the order of the manual.
pub static RULES: [Rule; 43] = [
    chat(
        "OC01",
        "a tool message answers a call of the assistant message that opens its run",
        "drop the result, or turn it into text",
    ),
    chat(
        "OC02",
        "every call is answered before another role appears",
        "insert a result `aborted` behind the run, or drop the call",
    ),
    chat(
        "OC03",
        "call ids are unique inside an assistant message",
        "give the later call a new id, and its result the same",
    ),
    warn(chat(
        "OC04",
        "one tool message for each call",
        "keep the first result, drop the later ones",
    )),
    chat(
        "OC05",
        "a user message has content, an assistant message content or calls",
        "drop the message",
    ),
    chat(
        "OC06",
        "tool_calls is absent rather than empty",
        "remove the member",
    ),
    chat(
        "OC07",
        "the role is system, developer, user, assistant, tool or function",
        "map human, model, bot, ai and gpt; any other is only reported",
    ),
    chat(
        "OC08",
        "content is a string or a list of parts, of text alone in a tool message",
        "null becomes an empty string, other parts a text mark",
    ),
    warn(chat(
        "OC09",
        "the arguments of a call are a string that holds JSON",
        "replace them by {} and keep the text in metadata",
    )),
    chat(
        "OC10",
        "a call id has at most 40 characters",
        "shorten it to a stable id, in call and results alike",
    ),
    chat(
        "OC11",
        "there is at least one message",
        "none: an empty history is not written",
    ),
    responses(
        "OR01",
        "an output has an earlier call of its type and call_id",
        "drop the output, or turn it into text",
    ),
    responses(
        "OR02",
        "a call has a later output of its type and call_id",
        "insert an output `aborted`, or drop the call and the reasoning before it",
    ),
    responses(
        "OR03",
        "a reasoning item is followed by the model's item that it belongs to",
        "drop the reasoning item",
    ),
    responses(
        "OR04",
        "an assistant item does not keep its id once its reasoning is gone",
        "remove the id",
    ),
    responses(
        "OR05",
        "without state at the provider a reasoning item has encrypted_content",
        "drop the reasoning item",
    ),
    responses(
        "OR06",
        "the types of parts fit the role: input_*, or output_text and refusal",
        "rename the type to fit the role",
    ),
    responses(
        "OR07",
        "a compaction item is whole, with encrypted_content, or absent",
        "drop the item",
    ),
    responses("OR08", "ids of items are unique", "give the later item a new id"),
    responses(
        "OR09",
        "input_image has image_url or file_id, input_file a source",
        "drop the part, leave a text mark",
    ),
    anthropic(
        "AN01",
        "the role is user or assistant",
        "tool becomes user with a result; a leading system moves to the system field",
    ),
    anthropic(
        "AN02",
        "the first message is the user's",
        "drop what comes before the user's first message, or put a mark in front",
    ),
    anthropic(
        "AN03",
        "a result names a call of the message just before",
        "drop the result, or turn it into text",
    ),
    anthropic(
        "AN04",
        "a call has its result in the message just behind",
        "insert a result `aborted` first in the next user message, or drop the call",
    ),
    anthropic(
        "AN05",
        "results come first in their message",
        "move them to the front",
    ),
    anthropic(
        "AN06",
        "call ids are unique, and answered once",
        "drop the later result; give the later call a new id",
    ),
    anthropic(
        "AN07",
        "no text is empty or blank",
        "drop the block; `(no text)` where nothing else is left",
    ),
    anthropic(
        "AN08",
        "content is not empty, but for a final assistant message",
        "drop the message",
    ),
    warn(anthropic(
        "AN09",
        "a history to go on with ends with the user",
        "only reported",
    )),
    anthropic(
        "AN10",
        "thinking is in assistant messages only, and signed",
        "drop the thinking block",
    ),
    anthropic(
        "AN11",
        "with thinking on, the open loop begins with a thinking block",
        "drop the open loop whole",
    ),
    anthropic(
        "AN12",
        "without tools in the request there are no tool blocks",
        "turn them into text",
    ),
    anthropic(
        "AN13",
        "a compaction block has null or text as content, and what signs it",
        "drop the block",
    ),
    anthropic(
        "AN14",
        "there are at most 4 cache_control marks",
        "keep the last ones",
    ),
    gemini(
        "GE01",
        "the role is user or model",
        "assistant becomes model, function becomes user",
    ),
    gemini(
        "GE02",
        "a turn with calls follows a user's turn",
        "merge the neighbouring model turns",
    ),
    gemini(
        "GE03",
        "the next turn has as many responses as the turn has calls",
        "insert responses `aborted`, or drop the calls; drop surplus responses",
    ),
    gemini(
        "GE04",
        "a turn with responses follows a turn with calls",
        "drop the responses, or turn them into text",
    ),
    gemini(
        "GE05",
        "a turn has parts, and no empty one",
        "drop the empty part, then the empty turn",
    ),
    gemini(
        "GE06",
        "the first turn is the user's",
        "drop what comes before the user's first turn, or put a mark in front",
    ),
    gemini(
        "GE07",
        "in the open turn the first call of a step has its thoughtSignature",
        "put in the placeholder that the interface takes",
    ),
    gemini(
        "GE08",
        "without ids, responses have the names of the calls in their order",
        "order the responses by the calls",
    ),
    warn(gemini(
        "GE09",
        "a history to go on with ends with the user or a response",
        "only reported",
    )),
];

/// What every history keeps, whichever provider it is for.
pub static STRUCTURE: [Rule; 8] = [
    structure("ST01", "a result answers a call before it", UNREPAIRED),
    structure(
        "ST02",
        "a call has a result, unless it is the last of the session",
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
    warn(structure("ST08", "times do not go back", "only reported")),
];

/// What to do about a broken structure.
const UNREPAIRED: &str = "none by itself; --for API --fix repairs what that API refuses";

const fn structure(id: &'static str, text: &'static str, fix: &'static str) -> Rule {
    Rule {
        id,
        api: None,
        level: Level::Error,
        text,
        fix,
    }
}

/// Looked for on request only: what templates of open models refuse.
pub static ALTERNATE: Rule = Rule {
    id: "ALT",
    api: None,
    level: Level::Error,
    text: "two messages of one role do not stand side by side (results excepted)",
    fix: "merge them",
};

const fn rule(api: Api, id: &'static str, text: &'static str, fix: &'static str) -> Rule {
    Rule {
        id,
        api: Some(api),
        level: Level::Error,
        text,
        fix,
    }
}

const fn chat(id: &'static str, text: &'static str, fix: &'static str) -> Rule {
    rule(Api::OpenaiChat, id, text, fix)
}

const fn responses(id: &'static str, text: &'static str, fix: &'static str) -> Rule {
    rule(Api::OpenaiResponses, id, text, fix)
}

const fn anthropic(id: &'static str, text: &'static str, fix: &'static str) -> Rule {
    rule(Api::Anthropic, id, text, fix)
}

const fn gemini(id: &'static str, text: &'static str, fix: &'static str) -> Rule {
    rule(Api::Gemini, id, text, fix)
}

const fn warn(rule: Rule) -> Rule {
    Rule {
        level: Level::Warn,
        ..rule
    }
}
