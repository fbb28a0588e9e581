//! Converts usage to the format's members.

use crate::model::json::{self, ObjectBuilder};

/// The format's usage for a provider's report; `None` if its form is unknown.
pub fn tokens(usage: &[u8]) -> Option<Vec<u8>> {
    let has = |name: &str| json::member(usage, name).is_some();
    if has("input") && has("output") && has("total") {
        return Some(usage.to_vec());
    }
    let number = |path: &[&str]| -> Option<u64> {
        let raw = path.iter().try_fold(usage, |raw, name| json::member(raw, name))?;
        json::number(raw)
    };
    let first = |paths: &[&[&str]]| paths.iter().find_map(|path| number(path));
    let input = first(&[&["promptTokenCount"], &["prompt_tokens"], &["input_tokens"]])?;
    let output = first(&[
        &["candidatesTokenCount"],
        &["completion_tokens"],
        &["output_tokens"],
    ])
    .unwrap_or(0);
    let cached = first(&[
        &["cachedContentTokenCount"],
        &["prompt_tokens_details", "cached_tokens"],
        &["input_tokens_details", "cached_tokens"],
    ]);
    // Anthropic does not include cached tokens in the input; OpenAI includes reasoning in the output.
    let read = number(&["cache_read_input_tokens"]);
    let written = number(&["cache_creation_input_tokens"]).unwrap_or(0);
    let within = first(&[
        &["completion_tokens_details", "reasoning_tokens"],
        &["output_tokens_details", "reasoning_tokens"],
    ])
    .unwrap_or(0);
    let figures = [
        (
            "input",
            input.saturating_add(read.unwrap_or(0)).saturating_add(written),
        ),
        ("output", output.saturating_sub(within)),
        ("cached", cached.or(read).unwrap_or(0)),
        ("thoughts", number(&["thoughtsTokenCount"]).unwrap_or(within)),
        ("tool", number(&["toolUsePromptTokenCount"]).unwrap_or(0)),
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
            (r#"{"x":1}"#, None),
        ];
        for (usage, wanted) in cases {
            let built = tokens(usage.as_bytes()).map(|built| String::from_utf8(built).unwrap());
            assert_eq!(built.as_deref(), wanted);
        }
    }
}
