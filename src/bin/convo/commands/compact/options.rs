//! Turns strategy options and settings into the options of a compaction.

use super::settings::CompactSettings;
use super::strategy_args::{StrategyArgs, SummarizerChoice};
use super::values::{category, category_share};
use crate::args::per_cent;
use crate::programs::summarizer::SummarizerSpec;
use crate::programs::summarizer_process::for_programs;
use convo::error::Error;
use convo::filter::compact::head_tail::TextLimit;
use convo::filter::compact::{CompactOptions, LevelAlgorithm, Mask, Media, Steps, ThinkingOption};
use convo::filter::summarize::SummaryStyle;
use convo::filter::summarize_range;
use convo::format::annotations;

/// The strategy that shortens results, alone.
const HEAD_TAIL: Steps = Steps {
    head_tail: true,
    ..Steps::NONE
};

impl StrategyArgs {
    /// Fails if no option selects an action.
    pub fn check(&self, settings: &CompactSettings) -> convo::Result<()> {
        let alone = ["tiered", "optimize"].into_iter().find(|mode| self.lists(mode));
        if let Some(mode) = alone.filter(|_| self.steps.len() > 1) {
            let error = Error::usage(format!("--steps {mode} conflicts with other steps"));
            return Err(error.hint(format!("omit the other steps: {mode} uses all of them")));
        }
        let acts = self.trigger.when.is_some() || self.named(settings) != Steps::NONE;
        if self.budget_args.budget()?.is_none() && !acts {
            let error = Error::usage("no budget, trigger or strategy given");
            return Err(error.hint("try --budget 32000, --budget 60% --window gpt-4o, or --mask-tools"));
        }
        Ok(())
    }

    /// Fails if an option for the summarizer program would have no effect.
    pub fn check_writer(&self) -> convo::Result<()> {
        let asks = self.writer().is_some();
        self.summarizer.check(asks)?;
        self.retry_args.check(asks, asks)?;
        if self.retry_args.if_due && !asks {
            return Err(for_programs("--if-due"));
        }
        if asks && self.is_optimized() {
            let error = Error::usage("--optimize requires the summarizer extract");
            return Err(error.hint("use --tiered with a summarizer program"));
        }
        self.summary.check(asks)
    }

    /// Returns the program that writes the summary; `None` for the built-in summarizer or no summary.
    pub fn writer(&self) -> Option<&SummarizerSpec> {
        match &self.with {
            Some(SummarizerChoice::Writes(with)) if *with != SummarizerSpec::Extract => Some(with),
            _ => None,
        }
    }

    /// Returns the request options of the program.
    pub fn requested(&self) -> convo::Result<summarize_range::SummaryRequestOptions> {
        self.summarizer.requested(self.budget_args.window())
    }

    /// Whether dropped messages are summarized by default.
    pub fn summarizes_dropped(&self) -> bool {
        self.with != Some(SummarizerChoice::Nobody)
    }

    /// Returns the validated options. With `zero`, a budget of 0 is a limit like any other.
    pub fn options(&self, settings: &CompactSettings, zero: bool) -> anyhow::Result<CompactOptions> {
        let defaults = CompactOptions::default();
        let budget = if zero {
            self.budget_args.limit()?
        } else {
            self.budget_args.budget()?
        };
        let has_goal = budget.is_some() || self.trigger.when.is_some();
        let (steps, tiered) = (self.steps(settings, has_goal), self.is_tiered());
        self.trigger.check(self.budget_args.window())?;
        let keep_last = match (self.keep_last, budget) {
            (Some(0), None) if self.trigger.when.is_none() => Some(8), // OpenAI's cookbook
            (Some(0), _) => None,
            (keep, _) => keep,
        };
        Ok(CompactOptions {
            budget,
            window: self.budget_args.window(),
            when: self.trigger.when.clone(),
            hysteresis: thousandths(settings.parsed("hysteresis").unwrap_or(0.2)),
            choice: match (tiered, steps == Steps::ALL) {
                (false, true) if self.writer().is_none() => defaults.choice,
                _ => LevelAlgorithm::Tiered,
            },
            steps,
            media: self.media.unwrap_or_default(),
            thinking: self.thinking.unwrap_or_default(),
            tool_output: TextLimit {
                bytes: self.tool_output_max.unwrap_or(defaults.tool_output.bytes),
                lines: settings
                    .parsed("tool-output-lines")
                    .unwrap_or(defaults.tool_output.lines),
            },
            mask: Mask {
                keep: self.keep_tools,
                exclude: self.exclude_tool.clone(),
                inputs: self.mask_inputs,
                protect: settings.parsed("protect-tool-tokens").unwrap_or(0),
                min_gain: settings.parsed("mask-min-gain"),
            },
            write_tools: match settings.list("write-tools", |name| Some(name.to_string())) {
                tools if tools.is_empty() => defaults.write_tools,
                tools => tools,
            },
            keep_last,
            drop_order: settings.list("drop-order", |name| category(name).ok()),
            shares: settings.list("budget-for", |share| category_share(share).ok()),
            pins: self.pin.clone(),
            pin_first_user: self.pin_first_user,
            unseen: annotations::unseen,
            style: self.style()?,
            summary_share: settings
                .text("summary-share")
                .and_then(|share| per_cent(share).ok())
                .unwrap_or(250),
            summary_budget: self.summary.summary_budget,
            asks: self.writer().is_some(),
            keep_prefix: (self.stable.as_ref().unwrap_or(&self.keep_prefix) == "on")
                && settings.system.is_none(),
            overflow: self.overflow,
            min_gain: self.trigger.min_gain,
            best_effort: self.best_effort,
            retry: self.trigger.ignore_backoff,
            trust_usage: settings.has("trust-usage"),
            explains: defaults.explains,
        })
    }

    /// Returns the style of the summary; with `--steps`, in blocks only if `handoff` is listed.
    fn style(&self) -> convo::Result<SummaryStyle> {
        let mut style = self.summary.style()?;
        style.handoff &= !self.lists("extract") || self.lists("handoff");
        Ok(style)
    }

    fn lists(&self, step: &str) -> bool {
        self.steps.iter().any(|listed| listed == step)
    }

    fn is_tiered(&self) -> bool {
        self.tiered || self.lists("tiered")
    }

    fn is_optimized(&self) -> bool {
        self.optimize || self.lists("optimize")
    }

    /// Returns the strategies selected by name; all of them if none is.
    fn steps(&self, settings: &CompactSettings, has_goal: bool) -> Steps {
        let steps = self.named(settings);
        // Next to a goal, a limit of lines alone selects nothing.
        let limits = steps == HEAD_TAIL && self.tool_output_max.is_none() && !self.lists("headtail");
        let selects = steps != Steps::NONE && !(limits && has_goal);
        if selects && !self.is_tiered() && !self.is_optimized() {
            return steps;
        }
        // None selected by name: all except those that are switched off.
        Steps {
            dedupe: self.dedupe.as_deref() != Some("off"),
            media: self.media != Some(Media::Keep),
            thinking: self.thinking != Some(ThinkingOption::Keep),
            summary: self.summarizes_dropped(),
            ..Steps::ALL
        }
    }

    /// Returns the strategies selected by name.
    fn named(&self, settings: &CompactSettings) -> Steps {
        let keeps = self.media == Some(Media::Keep);
        Steps {
            dedupe: self.dedupe.as_deref() == Some("exact") || self.lists("dedupe"),
            media: (self.media.is_some() || self.lists("media")) && !keeps,
            thinking: (self.thinking.is_some() || self.lists("thinking"))
                && self.thinking != Some(ThinkingOption::Keep),
            head_tail: self.tool_output_max.is_some()
                || settings.has("tool-output-lines")
                || self.lists("headtail"),
            mask: self.mask_tools || self.lists("mask"),
            digest: self.digest_tools || self.lists("digest"),
            summary: matches!(self.with, Some(SummarizerChoice::Writes(_)))
                || (self.lists("handoff") || self.lists("extract")) && self.summarizes_dropped(),
            drop: self.keep_last.is_some()
                || settings.has("drop-order")
                || settings.has("budget-for")
                || self.lists("drop"),
        }
    }
}

/// Converts a share such as 0.2 to thousandths.
fn thousandths(share: f64) -> u64 {
    (share * 1000.0).round() as u64
}
