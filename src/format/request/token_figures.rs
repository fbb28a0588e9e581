//! Parses the token usage that providers and programs report, in any of their formats.

use crate::model::json;

/// Token counts. Cached input is counted separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Input tokens neither read from nor written to a cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Reasoning tokens; providers differ in whether `output` includes them.
    pub reasoning: u64,
    /// Input tokens read from a cache.
    pub read: u64,
    /// Input tokens written to a cache.
    pub written: u64,
}

impl Figures {
    /// Parses a usage object; `None` if it has no input tokens.
    pub fn of(usage: &[u8]) -> Option<Figures> {
        let number = |object: &[u8], names: &[&str]| -> Option<u64> {
            let mut values = names.iter().filter_map(|name| json::member(object, name));
            values.find_map(json::number)
        };
        let inner = |name| json::member(usage, name).unwrap_or(b"{}");
        let cache = inner("cache");
        let input = number(
            usage,
            &[
                "input_tokens", "prompt_tokens", "promptTokenCount", "promptTokens", "inputTokens",
                "inputOther", "input_other", "input",
            ],
        )?;
        let output = [
            "output_tokens", "completion_tokens", "completionTokens", "candidatesTokenCount", "outputTokens",
            "output",
        ];
        let read = number(
            usage,
            &[
                "cache_read_input_tokens", "cacheRead", "inputCacheRead", "input_cache_read",
            ],
        )
        .or(number(cache, &["read"]));
        let within = [
            "cached_input_tokens", "cachedContentTokenCount", "cacheReadTokens", "cached_tokens",
        ];
        let within = number(usage, &within)
            .or(number(inner("prompt_tokens_details"), &["cached_tokens"]))
            .or(number(inner("input_tokens_details"), &["cached_tokens"]))
            .or(number(inner("input_token_details"), &["cache_read"]))
            .filter(|_| read.is_none());
        let written = number(
            usage,
            &[
                "cache_creation_input_tokens", "cacheWrite", "inputCacheCreation", "input_cache_creation",
            ],
        );
        let written_within = number(usage, &["cacheWriteTokens"])
            .or(number(inner("input_token_details"), &["cache_creation"]))
            .or(number(inner("extra"), &["cache_creation_input_tokens"]));
        let reasoning = number(inner("output_token_details"), &["reasoning"])
            .or(number(inner("output_tokens_details"), &["reasoning_tokens"]))
            .or(number(inner("completion_tokens_details"), &["reasoning_tokens"]))
            .or(number(inner("extra"), &["reasoning_tokens"]));
        Some(Figures {
            // Here, cached tokens are not included in the input.
            input: input
                .saturating_sub(within.unwrap_or(0))
                .saturating_sub(written_within.unwrap_or(0)),
            output: number(usage, &output).unwrap_or(0),
            reasoning: number(
                usage,
                &["reasoning", "reasoning_output_tokens", "thoughtsTokenCount"],
            )
            .or(reasoning)
            .unwrap_or(0),
            read: read.or(within).unwrap_or(0),
            written: written
                .or(number(cache, &["write"]))
                .or(written_within)
                .unwrap_or(0),
        })
    }

    /// All input tokens, cached or not.
    pub fn sent(&self) -> u64 {
        self.input.saturating_add(self.read).saturating_add(self.written)
    }
}

impl std::ops::AddAssign for Figures {
    fn add_assign(&mut self, other: Figures) {
        let add = |one: &mut u64, other: u64| *one = one.saturating_add(other);
        add(&mut self.input, other.input);
        add(&mut self.output, other.output);
        add(&mut self.reasoning, other.reasoning);
        add(&mut self.read, other.read);
        add(&mut self.written, other.written);
    }
}

#[cfg(test)]
mod tests {
    use super::Figures;

    #[test]
    fn cached_tokens_are_counted_once() {
        let cases = [
            (
                r#"{"input_tokens":3,"cache_read_input_tokens":5,"cache_creation_input_tokens":7,"output_tokens":2}"#,
                [3, 5, 7, 2, 0],
            ),
            (
                r#"{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":1}}"#,
                [3, 6, 0, 4, 1],
            ),
            (
                r#"{"input_tokens":15,"output_tokens":4,"input_token_details":{"cache_read":5,"cache_creation":7},"output_token_details":{"reasoning":2}}"#,
                [3, 5, 7, 4, 2],
            ),
            (
                r#"{"input_tokens":9,"cached_input_tokens":6,"output_tokens":4,"reasoning_output_tokens":1}"#,
                [3, 6, 0, 4, 1],
            ),
        ];
        for (usage, [input, read, written, output, reasoning]) in cases {
            let expected = Figures {
                input,
                output,
                reasoning,
                read,
                written,
            };
            assert_eq!(Figures::of(usage.as_bytes()), Some(expected), "{usage}");
        }
        assert_eq!(Figures::of(br#"{"output_tokens":1}"#), None);
    }
}
