//! Applies the chosen level to a message group.

use super::options::Options;
use super::step;
use super::step::mask::Candidates;
use super::work::{Level, Work};

/// Reduces a message group to this level.
pub fn set(work: &mut Work<'_>, options: &Options, maskable: &Candidates, atom: usize, level: Level) {
    match level {
        Level::Full | Level::Digest => {}
        Level::Dropped if options.steps.summary => work.leave(atom, level, "summary"),
        Level::Dropped => work.leave(atom, level, "drop"),
        Level::HeadTail => {
            for at in work.atoms[atom].items.clone() {
                if work.is_result(at) && work.may_change(at) {
                    step::head_tail::one(work, at, options.tool_output);
                }
            }
        }
        Level::Masked => {
            for at in work.atoms[atom].items.clone() {
                let marked = maskable
                    .get(&at)
                    .and_then(|calls| step::mask::marked(work, at, calls));
                if let Some((body, tokens)) = marked {
                    work.mark(at, body, tokens, "mask");
                }
            }
        }
    }
}
