//! The options of `--compat`: the strategies of each system and the options that they support.

use super::given::Given;
use super::limits::Limits;
use super::options::{Strategy, Who};
use crate::args::Window;
use clap::Args;
use convo::error::{Error, Kind, Result};
use convo::filter::compact::{Options, Overflow};
use convo::filter::compat::langchain::{ClearToolUses, Keep, Strategy as End, Trim};
use convo::filter::compat::openai_agents::TrimOutputs;
use convo::filter::compat::picoclaw::Cut;
use convo::filter::compat::{Rules, System, Way, goaitools, langchain, penguiflow, penguin};

#[derive(Args, Clone, Debug)]
pub struct Compat {
    /// Cut as this system would
    ///
    /// One of langchain, openai-agents, picoclaw, penguin, penguiflow, goaitools. Uses the system's algorithm, adjusted so
    /// that providers accept the result. An option selects one of its strategies; docs/compaction.md lists options and
    /// differences.
    #[arg(long, value_name = "SYSTEM", value_parser = system, hide_short_help = true, help_heading = HEADING)]
    pub compat: Option<System>,
    /// Do not adjust the result so that providers accept it
    #[arg(long, requires = "compat", hide_short_help = true, help_heading = HEADING)]
    pub compat_exact: bool,
    /// langchain, with --budget: keep the last or first messages [default: last]
    #[arg(long, value_name = "END", value_parser = ["last", "first"], requires = "compat", hide_short_help = true, help_heading = HEADING)]
    keep_end: Option<String>,
    /// langchain, with --budget: roles of the first kept message
    #[arg(long, value_name = "ROLES", value_delimiter = ',', value_parser = kind, requires = "compat", hide_short_help = true, help_heading = HEADING)]
    start_on: Vec<langchain::Kind>,
    /// langchain, with --budget: roles of the last kept message
    #[arg(long, value_name = "ROLES", value_delimiter = ',', value_parser = kind, requires = "compat", hide_short_help = true, help_heading = HEADING)]
    end_on: Vec<langchain::Kind>,
    /// langchain, with --budget: keep a leading system message
    #[arg(long, requires = "compat", hide_short_help = true, help_heading = HEADING)]
    include_system: bool,
    /// langchain, with --budget: cut the boundary message to fit
    #[arg(long, requires = "compat", hide_short_help = true, help_heading = HEADING)]
    allow_partial: bool,
    /// langchain, with --mask-tools: replacement text [default: [cleared]]
    #[arg(long, value_name = "TEXT", requires = "compat", hide_short_help = true, help_heading = HEADING)]
    placeholder: Option<String>,
    /// langchain: keep the newest N messages, summarize the rest
    #[arg(long, value_name = "N", requires = "compat", hide_short_help = true, help_heading = HEADING)]
    keep_messages: Option<usize>,
    /// langchain: keep the newest messages up to TOKENS, summarize the rest
    #[arg(long, value_name = "TOKENS", requires = "compat", hide_short_help = true, help_heading = HEADING)]
    keep_tokens: Option<u64>,
    /// openai-agents: keep the newest N items
    #[arg(long, value_name = "N", requires = "compat", hide_short_help = true, help_heading = HEADING)]
    keep_items: Option<u32>,
    /// openai-agents: characters kept of a long result [default: 200]
    ///
    /// With --tool-output-max.
    #[arg(long, value_name = "N", requires = "compat", hide_short_help = true, help_heading = HEADING)]
    preview: Option<usize>,
    /// openai-agents, with --tool-output-max: only results of this tool (repeatable)
    #[arg(long, value_name = "NAME", requires = "compat", hide_short_help = true, help_heading = HEADING)]
    only_tool: Vec<String>,
    /// picoclaw: drop the older half
    #[arg(long, requires = "compat", hide_short_help = true, help_heading = HEADING)]
    half: bool,
    /// picoclaw: drop messages that PicoClaw considers invalid
    #[arg(long = "sanitize", alias = "sanitise", requires = "compat", hide_short_help = true, help_heading = HEADING)]
    sanitise: bool,
    /// penguin: maximum number of images [default: 5]
    #[arg(long, value_name = "N", requires = "compat", hide_short_help = true, help_heading = HEADING)]
    max_images: Option<usize>,
    /// penguin: trim even if not over the limit, without borrowing
    #[arg(long, requires = "compat", hide_short_help = true, help_heading = HEADING)]
    always: bool,
    #[command(flatten)]
    limits: Limits,
}

const HEADING: &str = "Compatibility";

/// A way of a system, as it is asked for.
#[derive(Clone, Copy, Debug)]
enum Asked {
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

/// How a way is asked for.
struct Offer {
    system: System,
    way: Asked,
    /// One of these asks for it.
    by: &'static [&'static str],
    /// What else it takes.
    takes: &'static [&'static str],
}

const fn offer(
    system: System,
    way: Asked,
    by: &'static [&'static str],
    takes: &'static [&'static str],
) -> Offer {
    Offer {
        system,
        way,
        by,
        takes,
    }
}

const OFFERS: [Offer; 14] = [
    offer(
        System::Langchain,
        Asked::Trim,
        &["budget"],
        &[
            "keep_end",
            "start_on",
            "end_on",
            "include_system",
            "allow_partial",
        ],
    ),
    offer(
        System::Langchain,
        Asked::Clear,
        &["mask_tools"],
        &[
            "keep_tools",
            "exclude_tool",
            "mask_inputs",
            "mask_min_gain",
            "placeholder",
        ],
    ),
    offer(
        System::Langchain,
        Asked::Summarization,
        &["keep_messages", "keep_tokens"],
        &["with"],
    ),
    offer(System::OpenaiAgents, Asked::LastItems, &["keep_items"], &[]),
    offer(System::OpenaiAgents, Asked::Candidates, &["with"], &[]),
    offer(
        System::OpenaiAgents,
        Asked::TrimOutputs,
        &["tool_output_max"],
        &["preview", "keep_last", "only_tool"],
    ),
    offer(System::Picoclaw, Asked::Window, &["budget"], &[]),
    offer(System::Picoclaw, Asked::Summarise, &["with"], &[]),
    offer(System::Picoclaw, Asked::Half, &["half"], &[]),
    offer(System::Picoclaw, Asked::Sanitise, &["sanitise"], &[]),
    offer(
        System::Penguin,
        Asked::Shares,
        &["budget", "window"],
        &["max_images", "always"],
    ),
    offer(
        System::Penguiflow,
        Asked::Zone,
        &["keep_last", "budget", "with"],
        &["summary_budget", "overflow"],
    ),
    offer(
        System::Goaitools,
        Asked::Limits,
        &["message_limit", "token_limit"],
        &["prompt_tokens"],
    ),
    offer(
        System::Goaitools,
        Asked::Design,
        &["keep_last", "budget"],
        &["with", "digest_tools"],
    ),
];

/// What every way takes: when it acts, and how it is told.
const ALWAYS: [&str; 9] = [
    "compat",
    "compat_exact",
    "when",
    "window",
    "tokenizer",
    "best_effort",
    "on_no_gain",
    "retry",
    "trust_usage",
];

/// What a way with a summary takes beside.
const SUMMARY: [&str; 5] = [
    "summary_budget",
    "summary_role",
    "dates",
    "pin_rules",
    "pin_share",
];

impl Offer {
    fn has(&self, option: &str) -> bool {
        let own = |name: &str| self.by.contains(&name) || self.takes.contains(&name);
        own(option)
            || ALWAYS.contains(&option)
            || option == "reserve" && own("budget")
            || SUMMARY.contains(&option) && (own("with") || own("keep_messages"))
    }

    fn text(&self) -> String {
        let list = |names: &[&str], between: &str| {
            let names: Vec<String> = names.iter().map(|name| flag(name)).collect();
            names.join(between)
        };
        match self.takes {
            [] => list(self.by, " or "),
            takes => format!("{} with {}", list(self.by, " or "), list(takes, ", ")),
        }
    }
}

/// An option as it is spelled.
fn flag(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

fn refused(system: System, what: String) -> Error {
    let offers = OFFERS.iter().filter(|offer| offer.system == system);
    let texts: Vec<String> = offers.map(Offer::text).collect();
    Error::new(Kind::Usage, what).hint(format!("{} takes {}", system.name(), texts.join("; ")))
}

impl Compat {
    /// The way that is asked for, and whose rules win; none without `--compat`.
    pub fn way(&self, strategy: &Strategy, given: &Given, options: &Options) -> Result<Option<(Way, Rules)>> {
        let Some(system) = self.compat else {
            return Ok(None);
        };
        let name = system.name();
        let mut offers = OFFERS
            .iter()
            .filter(|offer| offer.system == system && offer.by.iter().any(|option| given.has(option)));
        let (Some(offer), second) = (offers.next(), offers.next()) else {
            return Err(refused(
                system,
                format!("nothing says which way of {name} is meant"),
            ));
        };
        if let Some(second) = second {
            let one = |offer: &Offer| {
                offer
                    .by
                    .iter()
                    .find(|option| given.has(option))
                    .map_or(String::new(), |name| flag(name))
            };
            let what = format!("{} and {} are two ways of {name}", one(offer), one(second));
            return Err(refused(system, what));
        }
        if let Some(other) = given.strategies().find(|option| !offer.has(option)) {
            let by = offer
                .by
                .iter()
                .find(|option| given.has(option))
                .map_or(String::new(), |name| flag(name));
            let what = format!("{} is nothing that {name} with {by} knows", flag(other));
            return Err(refused(system, what));
        }
        let rules = if self.compat_exact {
            Rules::Theirs
        } else {
            Rules::Convo
        };
        let way = self.build(offer.way, strategy, given, options);
        way.map(|way| Some((way, rules)))
            .map_err(|what| refused(system, what))
    }

    fn build(
        &self,
        asked: Asked,
        strategy: &Strategy,
        given: &Given,
        options: &Options,
    ) -> std::result::Result<Way, String> {
        let budget = options.budget.unwrap_or(0);
        Ok(match asked {
            Asked::Trim => Way::Trim(self.trim(budget)?),
            Asked::Clear => {
                let defaults = ClearToolUses::default();
                Way::ClearToolUses(ClearToolUses {
                    trigger: 0,
                    keep: options.mask.keep,
                    min_gain: options.mask.min_gain.unwrap_or(defaults.min_gain),
                    inputs: options.mask.inputs,
                    exclude: options.mask.exclude.clone(),
                    placeholder: self.placeholder.clone().unwrap_or(defaults.placeholder),
                })
            }
            Asked::Summarization => Way::Summarization(match (self.keep_messages, self.keep_tokens) {
                (Some(_), Some(_)) => return Err("--keep-messages and --keep-tokens".to_string()),
                (Some(0), None) | (None, Some(0) | None) => {
                    return Err("a summary must leave something to keep".to_string());
                }
                (Some(messages), None) => Keep::Messages(messages),
                (None, Some(tokens)) => Keep::Tokens(tokens),
            }),
            Asked::LastItems => Way::LastItems(self.keep_items.map(i64::from)),
            Asked::Candidates => Way::Candidates,
            Asked::TrimOutputs => Way::TrimOutputs(self.trim_outputs(strategy)?),
            Asked::Window => Way::Picoclaw(Cut::Window(budget)),
            Asked::Summarise => Way::Picoclaw(Cut::Summarise),
            Asked::Half => Way::Picoclaw(Cut::Force),
            Asked::Sanitise => Way::Sanitise,
            Asked::Shares => Way::Penguin(self.shares(strategy, options)?),
            Asked::Zone => Way::Penguiflow(zone(strategy, options)?),
            Asked::Limits => Way::Limits {
                limits: self.limits.in_order(given),
                forced: options.when.is_some(),
            },
            Asked::Design => {
                let design = match (strategy.keep_last, options.budget, &strategy.with) {
                    (Some(keep), None, Some(_)) => goaitools::Design::Summary(keep),
                    (Some(keep), None, None) => goaitools::Design::KeepLast(keep),
                    (None, Some(budget), None) => goaitools::Design::Budget(budget),
                    _ => return Err("--budget stands alone, and --with goes with --keep-last".to_string()),
                };
                if strategy.digest_tools && matches!(design, goaitools::Design::Summary(_)) {
                    return Err("what is summed up needs no --digest-tools".to_string());
                }
                Way::Design {
                    design,
                    digests: strategy.digest_tools,
                }
            }
        })
    }

    fn trim(&self, max: u64) -> std::result::Result<Trim, String> {
        let end = match self.keep_end.as_deref() {
            Some("first") => End::First,
            _ => End::Last,
        };
        if end == End::First && (self.include_system || !self.start_on.is_empty()) {
            return Err("--keep-end first takes neither --start-on nor --include-system".to_string());
        }
        Ok(Trim {
            max,
            strategy: end,
            start_on: self.start_on.clone(),
            end_on: self.end_on.clone(),
            include_system: self.include_system,
            allow_partial: self.allow_partial,
        })
    }

    fn trim_outputs(&self, strategy: &Strategy) -> std::result::Result<TrimOutputs, String> {
        let defaults = TrimOutputs::default();
        let options = TrimOutputs {
            recent_turns: strategy.keep_last.unwrap_or(defaults.recent_turns),
            most: strategy.tool_output_max.unwrap_or(defaults.most),
            preview: self.preview.unwrap_or(defaults.preview),
            tools: (!self.only_tool.is_empty()).then(|| self.only_tool.clone()),
        };
        match options {
            TrimOutputs { recent_turns: 0, .. } => Err("--keep-last is at least 1".to_string()),
            TrimOutputs { most: 0, .. } => Err("--tool-output-max is at least 1".to_string()),
            options => Ok(options),
        }
    }

    fn shares(&self, strategy: &Strategy, options: &Options) -> std::result::Result<penguin::Trim, String> {
        let is_share = strategy.fitting.is_share();
        let window = match (options.budget, strategy.fitting.window) {
            (Some(_), Some(_)) if !is_share && options.when.is_none() => {
                return Err("--budget and --window say the same".to_string());
            }
            (Some(budget), _) => budget,
            (None, window) => penguin::Shares::window_of(window.map_or(0, |Window(tokens)| tokens)),
        };
        let defaults = penguin::Trim::of(window);
        Ok(penguin::Trim {
            images: self.max_images.unwrap_or(defaults.images),
            always: self.always,
            ..defaults
        })
    }
}

/// PenguiFlow's configuration: what is not said is as there, but that a summary never is larger than the total.
fn zone(strategy: &Strategy, options: &Options) -> std::result::Result<penguiflow::Options, String> {
    let defaults = penguiflow::Options::default();
    let total = options.budget.unwrap_or(defaults.total);
    let zone = penguiflow::Options {
        strategy: match strategy.with {
            Some(Who::Writes(_)) => penguiflow::Strategy::RollingSummary,
            _ => penguiflow::Strategy::Truncation,
        },
        zone: strategy.keep_last.unwrap_or(defaults.zone),
        summary: options.summary_budget.unwrap_or(defaults.summary.min(total)),
        total,
        overflow: match options.overflow {
            Overflow::TruncateOldest => penguiflow::Overflow::TruncateOldest,
            Overflow::TruncateSummary => penguiflow::Overflow::TruncateSummary,
            Overflow::Error => penguiflow::Overflow::Error,
        },
        ..defaults
    };
    zone.check().map_err(|error| error.message)?;
    Ok(zone)
}

fn system(name: &str) -> std::result::Result<System, String> {
    let names = System::ALL.map(System::name).join(", ");
    System::from_name(name).ok_or_else(|| format!("there are {names}"))
}

fn kind(name: &str) -> std::result::Result<langchain::Kind, String> {
    langchain::Kind::from_name(name).ok_or_else(|| "there are user, assistant, system and tool".to_string())
}
