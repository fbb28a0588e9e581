//! Random options: every step alone and with others, every limit, every policy.

use super::super::head_tail::TextLimit;
use super::super::trigger::TriggerExpression;
use super::super::{CompactOptions, LevelAlgorithm, Mask, Media, Steps, ThinkingOption};
use crate::filter::summarize::{Dates, Instructions, SummaryStyle};
use crate::model::message::Category;
use crate::model::retention::Overflow;
use proptest::prelude::*;

/// Options that are not fitted to a session yet.
#[derive(Clone, Debug)]
pub struct Choices {
    pub options: CompactOptions,
    /// The budget in ten-thousandths of the view.
    pub budget: Option<u64>,
    /// The number of the trigger.
    pub trigger: Option<usize>,
    /// The pinned messages, in thousandths of the view.
    pub pins: Vec<usize>,
    pub tokenizer: &'static str,
}

fn steps() -> impl Strategy<Value = Steps> {
    let one = (0u8..8).prop_map(|nth| 1u8 << nth);
    let bits = prop_oneof![3 => Just(255u8), 2 => one, 2 => any::<u8>(), 1 => Just(0b1011_1111)];
    bits.prop_map(|bits| Steps {
        dedupe: bits & 1 > 0,
        media: bits & 2 > 0,
        thinking: bits & 4 > 0,
        head_tail: bits & 8 > 0,
        mask: bits & 16 > 0,
        digest: bits & 32 > 0,
        summary: bits & 64 > 0,
        drop: bits & 128 > 0,
    })
}

fn mask() -> impl Strategy<Value = Mask> {
    let gain = prop_oneof![Just(None), Just(Some(0)), (0u64..5000).prop_map(Some)];
    let protect = prop_oneof![3 => Just(0u64), 1 => 0u64..3000];
    (0usize..5, prop::bool::weighted(0.2), any::<bool>(), protect, gain).prop_map(
        |(keep, excludes, inputs, protect, min_gain)| Mask {
            keep,
            exclude: if excludes {
                vec!["search".to_string()]
            } else {
                Vec::new()
            },
            inputs,
            protect,
            min_gain,
        },
    )
}

fn limit() -> impl Strategy<Value = TextLimit> {
    let bytes = prop_oneof![Just(10_240usize), 0usize..300, 300usize..4000];
    let lines = prop_oneof![Just(256usize), 0usize..12];
    (bytes, lines).prop_map(|(bytes, lines)| TextLimit { bytes, lines })
}

fn order() -> impl Strategy<Value = Vec<Category>> {
    use Category::{Context, Dialog, SystemOutput};
    prop_oneof![
        4 => Just(vec![]),
        1 => Just(vec![SystemOutput, Dialog, Context]),
        1 => Just(vec![Dialog]),
    ]
}

fn shares() -> impl Strategy<Value = Vec<(Category, u64)>> {
    prop_oneof![
        5 => Just(vec![]),
        1 => (0u64..1000).prop_map(|share| vec![(Category::Dialog, share), (Category::SystemOutput, 1000 - share)]),
    ]
}

fn options() -> impl Strategy<Value = CompactOptions> {
    let choice = prop_oneof![Just(LevelAlgorithm::Tiered), Just(LevelAlgorithm::Optimize)];
    let media = prop_oneof![2 => Just(Media::KeepLast), 1 => Just(Media::Keep), 1 => Just(Media::Drop)];
    let thinking = prop_oneof![2 => Just(ThinkingOption::KeepOpen), 1 => Just(ThinkingOption::Keep), 1 => Just(ThinkingOption::Drop)];
    let overflow = prop_oneof![
        4 => Just(Overflow::TruncateOldest),
        2 => Just(Overflow::TruncateSummary),
        1 => Just(Overflow::Error)
    ];
    let keep = prop_oneof![3 => Just(None), 2 => (0usize..9).prop_map(Some)];
    let most = prop_oneof![3 => Just(None), 1 => (0u64..2000).prop_map(Some)];
    let small = (
        overflow,
        keep,
        most,
        prop_oneof![Just(250u64), 0u64..1000],
        prop_oneof![Just(0u64), 0u64..300],
    );
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), 0u32..60);
    (
        choice,
        steps(),
        media,
        thinking,
        limit(),
        mask(),
        order(),
        shares(),
        small,
        flags,
    )
        .prop_map(
            |(choice, steps, media, thinking, tool_output, mask, drop_order, shares, small, flags)| {
                let (overflow, keep_last, summary_budget, summary_share, min_gain) = small;
                let (pin_first_user, best_effort, finds, instruction_share) = flags;
                CompactOptions {
                    choice,
                    steps,
                    media,
                    thinking,
                    tool_output,
                    mask,
                    drop_order,
                    shares,
                    overflow,
                    keep_last,
                    summary_budget,
                    summary_share,
                    min_gain,
                    pin_first_user: pin_first_user && finds,
                    best_effort,
                    keep_prefix: instruction_share % 3 > 0,
                    style: SummaryStyle {
                        instructions: if finds {
                            Instructions::Auto
                        } else {
                            Instructions::Off
                        },
                        instruction_share,
                        dates: if best_effort { Dates::Short } else { Dates::Full },
                        ..SummaryStyle::default()
                    },
                    retry: true,
                    ..CompactOptions::default()
                }
            },
        )
}

/// Generates any choices.
pub fn choices() -> impl Strategy<Value = Choices> {
    let budget = prop_oneof![
        6 => (1u64..10_000).prop_map(Some),
        1 => (10_000u64..11_000).prop_map(Some),
        1 => Just(Some(0)),
        3 => Just(None),
    ];
    let trigger = prop_oneof![4 => Just(None), 1 => (0usize..8).prop_map(Some)];
    let pins = prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(0usize..1000, 1..3)];
    let tokenizer = prop_oneof![4 => Just("chars4"), 2 => Just("o200k_base"), 1 => Just("cl100k_base")];
    (options(), budget, trigger, pins, tokenizer, 0u64..600).prop_map(
        |(mut options, budget, trigger, pins, tokenizer, hysteresis)| {
            options.hysteresis = hysteresis;
            Choices {
                options,
                budget,
                trigger,
                pins,
                tokenizer,
            }
        },
    )
}

impl Choices {
    /// The trigger for a view of this size.
    pub fn when(&self, tokens: u64, messages: usize) -> Option<TriggerExpression> {
        let text = match self.trigger? {
            0 => format!("tokens>={}", tokens / 2),
            1 => format!("messages>{}", messages / 2),
            2 => "exchanges>=3".to_string(),
            3 => format!("tool_tokens>={}", tokens / 4 + 1),
            4 => "fraction>=0.5".to_string(),
            5 => format!("tokens>{} && messages>=4 || exchanges==2", tokens / 3),
            6 => "tokens<=1000000".to_string(),
            _ => format!("tokens>={}", tokens + 1),
        };
        Some(TriggerExpression::read(&text).unwrap())
    }
}
