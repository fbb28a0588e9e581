//! The order in which the signatures of other programs' formats are tested; the first match wins. They are tested
//! before generic formats, so that no specific format is mistaken for a generic one.

use super::foreign;
use super::shape::ObjectShape;
use super::signature::{LineKind, RoleMessage, Signature, is_own};
use crate::format::{
    aichat, aider, anthropic, atif, chatgpt_export, claude_ai_export, claude_code, cline, cline_roo, codex,
    continue_ide, copilot_cli, cursor, droid, gemini, gemini_cli, goaitools, goose, grok, kimi, langchain,
    openai_responses, opencode, pi, qwen_code, sharegpt, sts, vercel_ui,
};
use crate::model::json::Dialect;

/// Tested from the top.
pub(super) static ORDER: &[&Signature] = &[
    &atif::SIGNATURE,
    &kimi::SIGNATURE,
    &grok::SIGNATURE,
    &grok::STREAM,
    &copilot_cli::SIGNATURE,
    &droid::SIGNATURE,
    &droid::STREAM,
    &chatgpt_export::SIGNATURE,
    &claude_ai_export::SIGNATURE,
    &qwen_code::SIGNATURE,
    &claude_code::SIGNATURE,
    &codex::SIGNATURE,
    &gemini_cli::SIGNATURE,
    &sts::SIGNATURE,
    &pi::SIGNATURE,
    &cursor::SIGNATURE,
    &continue_ide::SIGNATURE,
    &opencode::SIGNATURE,
    &vercel_ui::SIGNATURE,
    &goose::SIGNATURE,
    &sharegpt::SIGNATURE,
    &langchain::SIGNATURE,
    &aider::SIGNATURE,
    &aichat::SIGNATURE,
    &cline::SIGNATURE,
    &cline_roo::SIGNATURE,
    &goaitools::SIGNATURE,
    &openai_responses::SIGNATURE,
    &gemini::SIGNATURE,
    &anthropic::SIGNATURE,
];

/// All signatures, unsupported formats first, so that none of them is read as another format.
pub(super) fn all() -> impl Iterator<Item = &'static Signature> {
    foreign::KNOWN.iter().chain(ORDER.iter().copied())
}

fn first(is: impl Fn(&Signature) -> bool) -> Option<&'static Signature> {
    all().find(|signature| is(signature))
}

/// The formats of which this line may be the first.
pub(super) fn headers(line: &ObjectShape<'_>) -> impl Iterator<Item = &'static Signature> {
    all().filter(move |signature| (signature.header)(line))
}

/// The number of messages in these lines that the format does not support; `None` if it supports any.
pub(super) fn unsupported_messages(signature: &Signature, lines: &[&[u8]]) -> Option<usize> {
    let mut unrecognized = 0;
    for shape in lines
        .iter()
        .filter_map(|line| ObjectShape::of(line, Dialect::Python))
    {
        match (signature.content)(&shape) {
            LineKind::Known => return None,
            LineKind::Unknown => unrecognized += 1,
            LineKind::None => {}
        }
    }
    (unrecognized > 0).then_some(unrecognized)
}

/// The format of text that is not JSON.
pub(super) fn text(text: &[u8]) -> Option<&'static Signature> {
    first(|signature| (signature.text)(text))
}

/// The format of a document, an element of a list, or a line.
pub(super) fn named(shape: &ObjectShape<'_>) -> Option<&'static Signature> {
    if shape.is_text("role") {
        return message(shape);
    }
    first(|signature| (signature.document)(shape))
        .or_else(|| line(shape))
        .or_else(|| list(&ObjectShape::elements(shape.get("messages")?), within))
}

/// As [`named`], for an element of `messages`, without testing nested lists, to limit recursion.
fn within(shape: &ObjectShape<'_>) -> Option<&'static Signature> {
    match shape.is_text("role") {
        true => message(shape),
        false => line(shape),
    }
}

fn line(shape: &ObjectShape<'_>) -> Option<&'static Signature> {
    first(|signature| (signature.line)(shape))
}

fn message(shape: &ObjectShape<'_>) -> Option<&'static Signature> {
    let message = RoleMessage::of(shape);
    first(|signature| (signature.message)(&message))
}

/// The format of a list whose elements may include plain messages; `name` tests one element.
pub(super) fn list<'a>(
    elements: &[ObjectShape<'a>],
    name: impl Fn(&ObjectShape<'a>) -> Option<&'static Signature>,
) -> Option<&'static Signature> {
    if let Some(signature) = first(|signature| (signature.list)(elements)) {
        return Some(signature);
    }
    // Members that only OpenAI chats have take precedence over Anthropic blocks, which occur there too.
    let openai = elements.iter().any(is_own);
    elements
        .iter()
        .filter_map(name)
        .find(|signature| !(openai && signature.name == anthropic::SIGNATURE.name))
}
