//! Converts usage to the format's members.

use crate::format::request::token_figures::Figures;
use crate::model::json::{self, ObjectBuilder};

/// The format's usage for a provider's report; `None` if its form is unknown.
pub fn tokens(usage: &[u8]) -> Option<Vec<u8>> {
    let has = |name: &str| json::member(usage, name).is_some();
    if has("input") && has("output") && has("total") {
        return Some(usage.to_vec());
    }
    let figures = Figures::of(usage)?;
    let number = |name| json::member(usage, name).and_then(json::number::<u64>);
    // OpenAI includes reasoning in the output.
    let is_apart = has("thoughtsTokenCount") || has("reasoning");
    let within = if is_apart { 0 } else { figures.reasoning };
    let figures = [
        ("input", figures.sent()),
        ("output", figures.output.saturating_sub(within)),
        ("cached", figures.read),
        ("thoughts", figures.reasoning),
        ("tool", number("toolUsePromptTokenCount").unwrap_or(0)),
    ];
    let mut tokens = ObjectBuilder::default();
    for (name, figure) in figures {
        tokens.raw(name, figure.to_string());
    }
    let total = [0, 1, 3, 4]
        .iter()
        .fold(0_u64, |sum, nth| sum.saturating_add(figures[*nth].1));
    tokens.raw("total", total.to_string());
    Some(tokens.finish())
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn usage_of_all_providers_has_the_same_member_names() {
        let cases = [
            (
                r#"{"input_tokens":5,"output_tokens":2,"cache_read_input_tokens":7,"cache_creation_input_tokens":1}"#,
                Some(r#"{"input":13,"output":2,"cached":7,"thoughts":0,"tool":0,"total":15}"#),
            ),
            (
                r#"{"prompt_tokens":5,"completion_tokens":4,"completion_tokens_details":{"reasoning_tokens":3},"prompt_tokens_details":{"cached_tokens":2}}"#,
                Some(r#"{"input":5,"output":1,"cached":2,"thoughts":3,"tool":0,"total":9}"#),
            ),
            (
                r#"{"promptTokenCount":5,"candidatesTokenCount":4,"thoughtsTokenCount":3}"#,
                Some(r#"{"input":5,"output":4,"cached":0,"thoughts":3,"tool":0,"total":12}"#),
            ),
            (
                r#"{"input":1,"output":2,"total":9,"x":5e-06}"#,
                Some(r#"{"input":1,"output":2,"total":9,"x":5e-06}"#),
            ),
            (
                r#"{"input_tokens":9,"cached_input_tokens":6,"output_tokens":4,"reasoning_output_tokens":1}"#,
                Some(r#"{"input":9,"output":3,"cached":6,"thoughts":1,"tool":0,"total":13}"#),
            ),
            (
                r#"{"input":3,"output":2,"cacheRead":7,"cacheWrite":1}"#,
                Some(r#"{"input":11,"output":2,"cached":7,"thoughts":0,"tool":0,"total":13}"#),
            ),
            (r#"{"x":1}"#, None),
        ];
        for (usage, wanted) in cases {
            let built = tokens(usage.as_bytes()).map(|built| String::from_utf8(built).unwrap());
            assert_eq!(built.as_deref(), wanted);
        }
    }
}
