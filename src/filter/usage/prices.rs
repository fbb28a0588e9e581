//! Model prices, and the cost of a request in integers of 10^-12 dollars.

use crate::error::Result;
use crate::filter::toml_error;
use crate::format::recorded::RecordedRequest;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The built-in price table.
const BUILT_IN: &str = include_str!("prices.toml");

/// 10^-12 dollars.
pub type Picodollars = u128;

/// Picodollars in a dollar.
pub const DOLLAR: f64 = 1e12;

/// Input sizes above which litellm's files have other prices for the whole input.
const BORDERS: [(u64, &str); 3] = [
    (128_000, "_above_128k_tokens"),
    (200_000, "_above_200k_tokens"),
    (272_000, "_above_272k_tokens"),
];

/// Prices in dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table", rename_all = "kebab-case")]
struct Rates {
    input: f64,
    output: f64,
    read: Option<f64>,
    write: Option<f64>,
    #[serde(rename = "write-1h")]
    write_1h: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table", rename_all = "kebab-case")]
struct Model {
    input: f64,
    output: f64,
    read: Option<f64>,
    write: Option<f64>,
    #[serde(rename = "write-1h")]
    write_1h: Option<f64>,
    above: Option<u64>,
    over: Option<Rates>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PriceFile {
    as_of: String,
    #[serde(default = "dollars")]
    currency: String,
    #[serde(default, rename = "source")]
    _source: BTreeMap<String, String>,
    model: BTreeMap<String, Model>,
}

fn dollars() -> String {
    "USD".to_string()
}

/// A price table and its date.
#[derive(Debug)]
pub struct Prices {
    /// The date of the table; empty if it has none.
    pub as_of: String,
    /// ISO 4217.
    pub currency: String,
    /// Entries that were skipped because a price is missing or invalid.
    pub rejected: Vec<String>,
    models: BTreeMap<String, Model>,
}

impl Prices {
    /// Loads the built-in table.
    pub fn built_in() -> Result<Prices> {
        Prices::read(BUILT_IN)
    }

    /// Parses a file: TOML like the built-in table, or litellm's JSON.
    ///
    /// # Errors
    /// [`Config`](crate::error::ErrorKind::Config) with line and column.
    pub fn read(text: &str) -> Result<Prices> {
        let mut prices = match text.trim_start().starts_with('{') {
            true => {
                let entries: BTreeMap<String, serde_json::Value> =
                    serde_json::from_str(text).map_err(|error| {
                        let what = error.to_string();
                        let what = what.split(" at line ").next().unwrap_or_default();
                        toml_error::error_at(error.line(), error.column(), what)
                    })?;
                Prices::of_litellm(&entries)
            }
            false => {
                let file: PriceFile = toml_error::read(text)?;
                Prices {
                    as_of: file.as_of,
                    currency: file.currency,
                    rejected: Vec::new(),
                    models: file.model,
                }
            }
        };
        let is_price = |price: &f64| price.is_finite() && *price >= 0.0;
        let rejected = &mut prices.rejected;
        prices.models.retain(|name, model| {
            let over = model.over.unwrap_or_default();
            let all = [
                Some(model.input),
                Some(model.output),
                model.read,
                model.write,
                model.write_1h,
            ];
            let all_over = [
                Some(over.input),
                Some(over.output),
                over.read,
                over.write,
                over.write_1h,
            ];
            let is_whole = all.iter().chain(&all_over).flatten().all(is_price);
            if !is_whole {
                rejected.push(name.clone());
            }
            is_whole
        });
        Ok(prices)
    }

    /// Source: `model_prices_and_context_window.json` of litellm, with prices in dollars per token.
    fn of_litellm(entries: &BTreeMap<String, serde_json::Value>) -> Prices {
        let (mut models, mut rejected) = (BTreeMap::new(), Vec::new());
        for (name, entry) in entries.iter().filter(|(name, _)| *name != "sample_spec") {
            let price =
                |member: &str, border: &str| Some(entry.get(format!("{member}{border}"))?.as_f64()? * 1e6);
            let rates = |border: &str| {
                Some(Rates {
                    input: price("input_cost_per_token", border)?,
                    output: price("output_cost_per_token", border)?,
                    read: price("cache_read_input_token_cost", border),
                    write: price("cache_creation_input_token_cost", border),
                    write_1h: price("cache_creation_input_token_cost_above_1hr", border),
                })
            };
            let Some(base) = rates("") else {
                // Image and audio models have other price members.
                if entry.get("input_cost_per_token").is_some() {
                    rejected.push(name.clone());
                }
                continue;
            };
            let over = BORDERS
                .iter()
                .find_map(|(border, ending)| Some((*border, rates(ending)?)));
            models.insert(
                name.clone(),
                Model {
                    input: base.input,
                    output: base.output,
                    read: base.read,
                    write: base.write,
                    write_1h: base.write_1h,
                    above: over.map(|(border, _)| border),
                    over: over.map(|(_, rates)| rates),
                },
            );
        }
        Prices {
            as_of: String::new(),
            currency: dollars(),
            rejected,
            models,
        }
    }

    /// The cost of a request; none for a model without a price.
    pub fn cost(&self, request: &RecordedRequest) -> Option<Picodollars> {
        let model = self.model(&request.model)?;
        let figures = &request.figures;
        let base = Rates {
            input: model.input,
            output: model.output,
            read: model.read,
            write: model.write,
            write_1h: model.write_1h,
        };
        let is_over = model.above.is_some_and(|above| figures.sent() > above);
        let rates = model.over.filter(|_| is_over).unwrap_or(base);
        // Dollars per million tokens equal millions of picodollars per token.
        let each = |price: f64| (price * 1e6).round() as Picodollars;
        let write = rates.write.unwrap_or(rates.input);
        let hour = request.written_1h.min(figures.written);
        Some(
            each(rates.input) * Picodollars::from(figures.input)
                + each(rates.output) * Picodollars::from(figures.output)
                + each(rates.read.unwrap_or(rates.input)) * Picodollars::from(figures.read)
                + each(write) * Picodollars::from(figures.written - hour)
                + each(rates.write_1h.unwrap_or(write)) * Picodollars::from(hour),
        )
    }

    /// Finds a model by its name: exact, without a date suffix, or without a provider prefix.
    fn model(&self, name: &str) -> Option<&Model> {
        let bare = name.rsplit('/').next().unwrap_or(name);
        // A region may precede the provider, such as `us.anthropic.`.
        let bare = bare.split_once("anthropic.").map_or(bare, |(_, bare)| bare);
        [name, undated(name), bare, undated(bare)]
            .iter()
            .find_map(|name| self.models.get(*name))
    }
}

/// Removes a date suffix, such as `-20250929`, `-2025-08-07` or `@20250929`, and what follows it.
fn undated(name: &str) -> &str {
    let name = name.strip_suffix("-latest").unwrap_or(name);
    let name = name.split_once("-v1:").map_or(name, |(name, _)| name);
    let is_date = |text: &str| {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        digits == 8 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    for length in [8, 10] {
        let Some(at) = name.len().checked_sub(length + 1) else {
            continue;
        };
        if name.is_char_boundary(at) && name[at..].starts_with(['-', '@']) && is_date(&name[at + 1..]) {
            return &name[..at];
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::format::request::token_figures::Figures;

    fn request(model: &str, input: u64) -> RecordedRequest {
        RecordedRequest {
            model: model.to_string(),
            figures: Figures {
                input,
                output: 10,
                reasoning: 5,
                read: 1000,
                written: 100,
            },
            written_1h: 40,
            ..RecordedRequest::default()
        }
    }

    #[test]
    fn a_cost_is_exact() {
        let prices = Prices::built_in().unwrap();
        assert!(prices.rejected.is_empty() && prices.as_of.len() == 10);
        let cost = |model: &str, input| prices.cost(&request(model, input));
        // 100 * 3 + 10 * 15 + 1000 * 0.3 + 60 * 3.75 + 40 * 6 dollars a million
        let expected = Some(1_215_000_000);
        for name in [
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "anthropic/claude-sonnet-4-5",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ] {
            assert_eq!(cost(name, 100), expected, "{name}");
        }
        // The size of the whole input determines the rate.
        assert_eq!(cost("claude-sonnet-4-5", 198_900), Some(597_615_000_000));
        assert_eq!(cost("claude-sonnet-4-5", 198_901), Some(1_195_161_000_000));
        for none in ["claude-sonnet-4-6", "gpt-5-ultra", "", "sonnet"] {
            assert_eq!(cost(none, 1), None, "{none}");
        }
    }

    #[test]
    fn other_files_replace_the_table() {
        let json = r#"{"sample_spec":{"input_cost_per_token":0},"m":{"input_cost_per_token":3e-06,"output_cost_per_token":1.5e-05,
            "cache_read_input_token_cost":3e-07,"input_cost_per_token_above_200k_tokens":6e-06,"output_cost_per_token_above_200k_tokens":2.25e-05},
            "bad":{"input_cost_per_token":-1,"output_cost_per_token":1},"half":{"input_cost_per_token":1e-6},"image":{"output_cost_per_image":1}}"#;
        let prices = Prices::read(json).unwrap();
        assert_eq!(prices.rejected, ["half", "bad"]);
        assert_eq!(
            prices.cost(&request("m", 100)),
            Some(100 * 3_000_000 + 10 * 15_000_000 + 1000 * 300_000 + 100 * 3_000_000)
        );
        assert_eq!(
            prices.cost(&request("m", 300_000)),
            Some(300_000 * 6_000_000 + 10 * 22_500_000 + 1000 * 6_000_000 + 100 * 6_000_000)
        );
        for (text, place) in [
            ("{\"m\":\n tru}", "line 2, column 5"),
            ("as-of = \"2026-01-01\"\nmodel = 1", "line 2, column 9"),
        ] {
            let error = Prices::read(text).unwrap_err();
            assert!(
                error.kind == ErrorKind::Config && error.message.starts_with(place),
                "{}",
                error.message
            );
        }
    }
}
