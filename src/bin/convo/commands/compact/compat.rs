//! The functions of each system, and the options and settings that they support.

use super::settings::CompactSettings;
use super::strategy_args::{StrategyArgs, SummarizerChoice};
use super::table::written;
use super::values::token_limit;
use crate::args::Window;
use convo::error::{Error, Result};
use convo::filter::compact::CompactOptions;
use convo::filter::compat::goaitools::CompactorLimit;
use convo::filter::compat::langchain::{ClearToolUses, KeepLimit, LangchainTrim, TrimStrategy as End};
use convo::filter::compat::openai_agents::TrimOutputs;
use convo::filter::compat::picoclaw::PicoclawCut;
use convo::filter::compat::{
    CompatStrategy, CompatSystem, Precedence, goaitools, langchain, penguiflow, penguin,
};

/// A function of a system, as selected by options.
#[derive(Clone, Copy, Debug)]
enum CompatFunction {
    Trim,
    Clear,
    Summarization,
    LastItems,
    Candidates,
    TrimOutputs,
    Window,
    Summarise,
    Half,
    Sanitise,
    Shares,
    Zone,
    Limits,
    Design,
}

struct CompatOption {
    system: CompatSystem,
    function: CompatFunction,
    /// Options that select the function.
    by: &'static [&'static str],
    /// Other options that it supports.
    takes: &'static [&'static str],
}

const fn offer(
    system: CompatSystem,
    function: CompatFunction,
    by: &'static [&'static str],
    takes: &'static [&'static str],
) -> CompatOption {
    CompatOption {
        system,
        function,
        by,
        takes,
    }
}

#[rustfmt::skip] // one per line
const OFFERS: [CompatOption; 14] = [
    offer(CompatSystem::Langchain, CompatFunction::Trim, &["budget"], &["keep-end", "start-on", "end-on", "include-system", "allow-partial"]),
    offer(CompatSystem::Langchain, CompatFunction::Clear, &["mask-tools"], &["keep-tools", "exclude-tool", "mask-inputs", "mask-min-gain", "placeholder"]),
    offer(CompatSystem::Langchain, CompatFunction::Summarization, &["keep-messages", "keep-tokens"], &["with"]),
    offer(CompatSystem::OpenaiAgents, CompatFunction::LastItems, &["keep-items"], &[]),
    offer(CompatSystem::OpenaiAgents, CompatFunction::Candidates, &["with"], &[]),
    offer(CompatSystem::OpenaiAgents, CompatFunction::TrimOutputs, &["tool-output-max"], &["preview", "keep-last", "only-tool"]),
    offer(CompatSystem::Picoclaw, CompatFunction::Window, &["budget"], &[]),
    offer(CompatSystem::Picoclaw, CompatFunction::Summarise, &["with"], &[]),
    offer(CompatSystem::Picoclaw, CompatFunction::Half, &["half"], &[]),
    offer(CompatSystem::Picoclaw, CompatFunction::Sanitise, &["sanitize"], &[]),
    offer(CompatSystem::Penguin, CompatFunction::Shares, &["budget", "window"], &["max-images", "always"]),
    offer(CompatSystem::Penguiflow, CompatFunction::Zone, &["keep-last", "budget", "with"], &["summary-budget", "overflow"]),
    offer(CompatSystem::Goaitools, CompatFunction::Limits, &["message-limit", "token-limit"], &["prompt-tokens"]),
    offer(CompatSystem::Goaitools, CompatFunction::Design, &["keep-last", "budget"], &["with", "digest-tools"]),
];

/// Supported by every function.
#[rustfmt::skip]
const ALWAYS: [&str; 8] = [
    "compat-exact", "when", "window", "tokenizer", "best-effort", "on-no-gain", "ignore-backoff", "trust-usage",
];

/// Supported by every function with a summary.
#[rustfmt::skip]
const SUMMARY: [&str; 6] = ["summary-budget", "summary-role", "dates", "pin-rules", "pin-share", "for"];

impl CompatOption {
    fn has(&self, option: &str) -> bool {
        let own = |name: &str| self.by.contains(&name) || self.takes.contains(&name);
        own(option)
            || ALWAYS.contains(&option)
            || option == "reserve" && own("budget")
            || SUMMARY.contains(&option) && (own("with") || own("keep-messages"))
    }

    fn text(&self) -> String {
        let list = |names: &[&str], between: &str| {
            let names: Vec<String> = names.iter().map(|name| written(name)).collect();
            names.join(between)
        };
        match self.takes {
            [] => list(self.by, " or "),
            takes => format!("{} with {}", list(self.by, " or "), list(takes, ", ")),
        }
    }
}

fn refused(system: CompatSystem, what: String) -> Error {
    let offers = OFFERS.iter().filter(|offer| offer.system == system);
    let texts: Vec<String> = offers.map(CompatOption::text).collect();
    Error::usage(what).hint(format!("{} supports {}", system.name(), texts.join("; ")))
}

/// Returns the selected function and the rules that take precedence; `None` without `--compat`.
pub fn selected_function(
    strategy: &StrategyArgs,
    settings: &CompactSettings,
    options: &CompactOptions,
) -> Result<Option<(CompatStrategy, Precedence)>> {
    let Some(system) = settings.system else {
        return Ok(None);
    };
    let by = |offer: &CompatOption| {
        let given = offer.by.iter().find(|option| settings.has(option));
        given.map(|name| written(name))
    };
    let mut offers = OFFERS
        .iter()
        .filter(|offer| offer.system == system)
        .filter_map(|offer| Some((offer, by(offer)?)));
    let (Some((offer, one)), second) = (offers.next(), offers.next()) else {
        let what = format!("--compat {}: no option or key selects a function", system.name());
        return Err(refused(system, what));
    };
    if let Some((_, second)) = second {
        return Err(refused(system, format!("{one} conflicts with {second}")));
    }
    if let Some(other) = settings.given().find(|option| !offer.has(option)) {
        let other = written(other);
        let what = format!("--compat {} with {one} does not support {other}", system.name());
        return Err(refused(system, what));
    }
    let rules = match settings.has("compat-exact") {
        true => Precedence::Theirs,
        false => Precedence::Convo,
    };
    let builder = Builder {
        strategy,
        settings,
        options,
    };
    let built = builder.build(offer.function);
    built
        .map(|built| Some((built, rules)))
        .map_err(|what| refused(system, what))
}

/// Builds the function from options and settings.
struct Builder<'s> {
    strategy: &'s StrategyArgs,
    settings: &'s CompactSettings,
    options: &'s CompactOptions,
}

impl Builder<'_> {
    fn build(&self, requested: CompatFunction) -> std::result::Result<CompatStrategy, String> {
        let (strategy, settings, options) = (self.strategy, self.settings, self.options);
        let budget = options.budget.unwrap_or(0);
        Ok(match requested {
            CompatFunction::Trim => CompatStrategy::Trim(self.trim(budget)?),
            CompatFunction::Clear => {
                let defaults = ClearToolUses::default();
                CompatStrategy::ClearToolUses(ClearToolUses {
                    trigger: 0,
                    keep: options.mask.keep,
                    min_gain: options.mask.min_gain.unwrap_or(defaults.min_gain),
                    inputs: options.mask.inputs,
                    exclude: options.mask.exclude.clone(),
                    placeholder: settings
                        .text("placeholder")
                        .map_or(defaults.placeholder, str::to_string),
                })
            }
            CompatFunction::Summarization => CompatStrategy::Summarization(
                match (settings.parsed("keep-messages"), settings.parsed("keep-tokens")) {
                    (Some(_), Some(_)) => {
                        return Err("keep-messages conflicts with keep-tokens".to_string());
                    }
                    (Some(0), None) | (None, Some(0) | None) => {
                        return Err("keep-messages and keep-tokens: expected at least 1".to_string());
                    }
                    (Some(messages), None) => KeepLimit::Messages(messages),
                    (None, Some(tokens)) => KeepLimit::Tokens(tokens),
                },
            ),
            CompatFunction::LastItems => {
                CompatStrategy::LastItems(settings.parsed::<u32>("keep-items").map(i64::from))
            }
            CompatFunction::Candidates => CompatStrategy::Candidates,
            CompatFunction::TrimOutputs => CompatStrategy::TrimOutputs(self.trim_outputs()?),
            CompatFunction::Window => CompatStrategy::Picoclaw(PicoclawCut::Window(budget)),
            CompatFunction::Summarise => CompatStrategy::Picoclaw(PicoclawCut::Summarise),
            CompatFunction::Half => CompatStrategy::Picoclaw(PicoclawCut::Force),
            CompatFunction::Sanitise => CompatStrategy::Sanitise,
            CompatFunction::Shares => CompatStrategy::Penguin(self.shares()?),
            CompatFunction::Zone => CompatStrategy::Penguiflow(zone(strategy, options)?),
            CompatFunction::Limits => CompatStrategy::Limits {
                limits: limits(settings),
                forced: options.when.is_some(),
            },
            CompatFunction::Design => {
                let design = match (strategy.keep_last, options.budget, &strategy.with) {
                    (Some(keep), None, Some(_)) => goaitools::Design::Summary(keep),
                    (Some(keep), None, None) => goaitools::Design::KeepLast(keep),
                    (None, Some(budget), None) => goaitools::Design::Budget(budget),
                    _ => {
                        return Err(
                            "--budget conflicts with --keep-last and --with; --with requires --keep-last"
                                .to_string(),
                        );
                    }
                };
                if strategy.digest_tools && matches!(design, goaitools::Design::Summary(_)) {
                    return Err("--digest-tools conflicts with --with".to_string());
                }
                CompatStrategy::Design {
                    design,
                    digests: strategy.digest_tools,
                }
            }
        })
    }

    fn trim(&self, max: u64) -> std::result::Result<LangchainTrim, String> {
        let settings = self.settings;
        let roles = |name| settings.list(name, langchain::MessageKind::from_name);
        let include_system = settings.has("include-system");
        let end = match settings.text("keep-end") {
            Some("first") => End::First,
            _ => End::Last,
        };
        if end == End::First && (include_system || settings.has("start-on")) {
            return Err("keep-end=first conflicts with start-on and include-system".to_string());
        }
        Ok(LangchainTrim {
            max,
            strategy: end,
            start_on: roles("start-on"),
            end_on: roles("end-on"),
            include_system,
            allow_partial: settings.has("allow-partial"),
        })
    }

    fn trim_outputs(&self) -> std::result::Result<TrimOutputs, String> {
        let (strategy, settings) = (self.strategy, self.settings);
        let tools = settings.list("only-tool", |name| Some(name.to_string()));
        let defaults = TrimOutputs::default();
        let options = TrimOutputs {
            recent_turns: strategy.keep_last.unwrap_or(defaults.recent_turns),
            most: strategy.tool_output_max.unwrap_or(defaults.most),
            preview: settings.parsed("preview").unwrap_or(defaults.preview),
            tools: (!tools.is_empty()).then_some(tools),
        };
        match options {
            TrimOutputs { recent_turns: 0, .. } => Err("--keep-last: expected at least 1".to_string()),
            TrimOutputs { most: 0, .. } => Err("--tool-output-max: expected at least 1".to_string()),
            options => Ok(options),
        }
    }

    fn shares(&self) -> std::result::Result<penguin::PenguinTrim, String> {
        let (strategy, settings, options) = (self.strategy, self.settings, self.options);
        let is_share = strategy.budget_args.is_share();
        let window = match (options.budget, strategy.budget_args.window) {
            (Some(_), Some(_)) if !is_share && options.when.is_none() => {
                return Err("--budget conflicts with --window".to_string());
            }
            (Some(budget), _) => budget,
            (None, window) => penguin::CategoryLimits::window_of(window.map_or(0, |Window(tokens)| tokens)),
        };
        let defaults = penguin::PenguinTrim::of(window);
        Ok(penguin::PenguinTrim {
            images: settings.parsed("max-images").unwrap_or(defaults.images),
            always: settings.has("always"),
            ..defaults
        })
    }
}

/// Returns PenguiFlow's configuration: its defaults apply, except that the summary is never larger than the total.
fn zone(
    strategy: &StrategyArgs,
    options: &CompactOptions,
) -> std::result::Result<penguiflow::PenguiflowOptions, String> {
    let defaults = penguiflow::PenguiflowOptions::default();
    let total = options.budget.unwrap_or(defaults.total);
    let zone = penguiflow::PenguiflowOptions {
        strategy: match strategy.with {
            Some(SummarizerChoice::Writes(_)) => penguiflow::PenguiflowStrategy::RollingSummary,
            _ => penguiflow::PenguiflowStrategy::Truncation,
        },
        zone: strategy.keep_last.unwrap_or(defaults.zone),
        summary: options.summary_budget.unwrap_or(defaults.summary.min(total)),
        total,
        overflow: options.overflow,
        ..defaults
    };
    zone.check().map_err(|error| error.message)?;
    Ok(zone)
}

/// Returns the ordered limits of goaitools.
fn limits(settings: &CompactSettings) -> Vec<CompactorLimit> {
    let prompt = settings.parsed("prompt-tokens");
    let limit = |(name, value): (&str, &str)| match name {
        "message-limit" => value.parse().ok().map(CompactorLimit::Messages),
        _ => token_limit(value).map(|(max, target)| CompactorLimit::Tokens { max, target, prompt }),
    };
    let given = settings.in_order(&["message-limit", "token-limit"]);
    given.filter_map(limit).collect()
}
