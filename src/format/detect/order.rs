//! The order in which the signatures of foreign formats are asked: the first that fits names what it is. They are asked
//! ahead of what is common to many, so that what has a name is never read as something that it is not.

use super::foreign;
use super::shape::Shape;
use super::signature::{Content, Said, Signature, is_own};
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

/// All signatures: those of formats that are not read come first, so that none of them is read as another.
pub(super) fn all() -> impl Iterator<Item = &'static Signature> {
    foreign::KNOWN.iter().chain(ORDER.iter().copied())
}

fn first(is: impl Fn(&Signature) -> bool) -> Option<&'static Signature> {
    all().find(|signature| is(signature))
}

/// The formats of which this may be the first line.
pub(super) fn headers(line: &Shape<'_>) -> impl Iterator<Item = &'static Signature> {
    all().filter(move |signature| (signature.header)(line))
}

/// How many messages these lines hold that a format does not understand; none when it understands one of them.
pub(super) fn strange(signature: &Signature, lines: &[&[u8]]) -> Option<usize> {
    let mut strange = 0;
    for shape in lines.iter().filter_map(|line| Shape::of(line, Dialect::Python)) {
        match (signature.content)(&shape) {
            Content::Known => return None,
            Content::Unknown => strange += 1,
            Content::None => {}
        }
    }
    (strange > 0).then_some(strange)
}

/// Text that is no JSON.
pub(super) fn text(text: &[u8]) -> Option<&'static Signature> {
    first(|signature| (signature.text)(text))
}

/// Whose a document, a record of a list or a line is.
pub(super) fn named(shape: &Shape<'_>) -> Option<&'static Signature> {
    if shape.is_text("role") {
        return message(shape);
    }
    first(|signature| (signature.document)(shape))
        .or_else(|| line(shape))
        .or_else(|| list(&Shape::elements(shape.get("messages")?), within))
}

/// The same of an element of `messages`, which holds no further list: so that no depth is without end.
fn within(shape: &Shape<'_>) -> Option<&'static Signature> {
    match shape.is_text("role") {
        true => message(shape),
        false => line(shape),
    }
}

fn line(shape: &Shape<'_>) -> Option<&'static Signature> {
    first(|signature| (signature.line)(shape))
}

fn message(shape: &Shape<'_>) -> Option<&'static Signature> {
    let said = Said::of(shape);
    first(|signature| (signature.message)(&said))
}

/// The elements of a list, of which some may be plain messages; `name` judges one of them.
pub(super) fn list<'a>(
    elements: &[Shape<'a>],
    name: impl Fn(&Shape<'a>) -> Option<&'static Signature>,
) -> Option<&'static Signature> {
    if let Some(signature) = first(|signature| (signature.list)(elements)) {
        return Some(signature);
    }
    // What only OpenAI's chats have outweighs blocks as Anthropic has them, which stand in those as well.
    let openai = elements.iter().any(is_own);
    elements
        .iter()
        .filter_map(name)
        .find(|signature| !(openai && signature.name == anthropic::SIGNATURE.name))
}
