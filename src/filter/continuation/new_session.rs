//! The session that continues another: its id, layout and limit.

use crate::format::Format;
use crate::format::continuation::{dated_id, dates_copies};
use crate::model::key;

/// Layout of the new session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionLayout {
    /// Copies keep the order of the view and their times.
    #[default]
    Native,
    /// For documents that date copies: instructions, then context messages, with the time of the continuation.
    Dated,
}

impl SessionLayout {
    /// The layout for a session in this format.
    pub fn of(format: Format) -> SessionLayout {
        match dates_copies(format) {
            true => SessionLayout::Dated,
            false => SessionLayout::Native,
        }
    }

    /// The id of the continuation with this number, derived only from the session that it continues.
    pub fn id(self, source: &str, index: u64, created_at: Option<&str>) -> String {
        match self {
            SessionLayout::Native => ids(source, index).next().unwrap_or_default(),
            SessionLayout::Dated => dated_id(source, created_at),
        }
    }
}

/// Properties of the new session.
#[derive(Clone, Copy, Debug)]
pub struct NewSession<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its creation time.
    pub created_at: Option<&'a str>,
    /// Its layout.
    pub layout: SessionLayout,
    /// The maximum number of messages of the new session.
    pub limit: Option<u64>,
}

/// Candidate ids for the continuation, in a stable order: the session's own id with the number of the continuation,
/// then alternatives for when those are taken.
pub fn ids(source: &str, index: u64) -> impl Iterator<Item = String> {
    let before = format!(".{}", index.saturating_sub(1));
    let stem = match index {
        0 | 1 => source,
        _ => source.strip_suffix(&before).unwrap_or(source),
    };
    let (source, stem) = (source.to_string(), stem.to_string());
    let digest = key::sha256(source.as_bytes());
    let fit = move |ending: String| match stem.len() + ending.len() <= key::LONGEST {
        true => format!("{stem}{ending}"),
        false => format!("session_{}{ending}", &digest[..16]),
    };
    let ending = move |nth: u64| match nth {
        0 => format!(".{index}"),
        1 => format!("-{}.{index}", &key::sha256(source.as_bytes())[..8]),
        _ => format!(
            "-{}.{index}",
            &key::sha256(format!("{source}\n{nth}").as_bytes())[..16]
        ),
    };
    (0..).map(move |nth| fit(ending(nth)))
}
