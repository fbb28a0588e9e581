//! The invariants of changes in place, for samples of every format and for public sample files.

use super::bed::without;
use super::in_place::{change, changed, cut_to, early, is_in, open, opened, restored, shown, untouched};
use super::{damage, truth};
use crate::format::Format;
use crate::model::session::Session;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Formats whose files cannot be cut, with the reason.
const NOT_CUT: [(Format, &str); 1] = [(
    Format::ClineRoo,
    "without tags of Roo Code, omitted messages are in another file",
)];

/// Formats that drop more than one message at a time, with the reason.
const DROPPED_TOGETHER: [(Format, &str); 2] = [
    (Format::Aichat, "a call is kept with its result"),
    (Format::Penguiflow, "a turn is a question and an answer"),
];

/// Whether files of a format are changed in place, other than requests and records, which have tests of their own.
fn is_held(format: Format) -> bool {
    format.spec().is_changed_in_place() && format.api().is_none() && !format.is_lines()
}

/// All files of all formats that are changed in place, with their bytes.
fn files() -> Vec<(Format, PathBuf, Vec<u8>)> {
    let has_files = |format: &Format| truth::dir(format.name()).join("truth.json").exists();
    let of = |format: Format| {
        let files = truth::files(format.name()).into_iter();
        let files = files.filter(|truth| truth.expected["sessions"] != 0);
        let read = files.map(|truth| (format, truth.path.clone(), std::fs::read(&truth.path).unwrap()));
        read.collect::<Vec<_>>()
    };
    let held = Format::ALL.into_iter().filter(|format| is_held(*format));
    held.filter(has_files).flat_map(of).collect()
}

#[test]
fn samples_of_all_formats_are_changed_in_place() {
    let mut wrong = Vec::new();
    for (format, bytes) in damage::samples() {
        if !is_held(format) {
            continue;
        }
        let file = opened(format, bytes);
        let (found, cuts) = changed(&file);
        wrong.extend(found);
        let results_excluded = |session: &Session| {
            let shown = shown(session).into_iter();
            shown.filter(|shown| !shown.starts_with("tool ")).collect()
        };
        let drops = (0..8).flat_map(|from| [1, 2].map(|count| without(&file.sessions[0], from, count)));
        let changes: Vec<_> = drops
            .filter(|_| !is_in(&DROPPED_TOGETHER, format))
            .filter_map(|changed| change(&file, changed, results_excluded).ok())
            .collect();
        let is_cut = cuts > 0 && (changes.len() > 1 || is_in(&DROPPED_TOGETHER, format));
        wrong.extend(
            (is_cut == is_in(&NOT_CUT, format))
                .then(|| format!("{}: {cuts} cuts and {} drops", format.name(), changes.len())),
        );
        let drops = changes.into_iter().filter_map(|change| change.err());
        wrong.extend(drops.map(|found| format!("{}, dropped: {found}", format.name())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn untouched_files_keep_their_bytes() {
    let files = files();
    assert!(files.len() > 40, "{}", files.len());
    let wrong = files
        .into_iter()
        .flat_map(|(format, path, bytes)| untouched(&open(format, path, bytes).unwrap()));
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn the_record_stream_restores_a_file() {
    // The tests of Claude Code compare the logs written from records.
    let files = files()
        .into_iter()
        .filter(|(format, ..)| *format != Format::ClaudeCode);
    let wrong: Vec<_> = files
        .flat_map(|(format, path, bytes)| restored(&open(format, path, bytes).unwrap()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_cut_produces_the_planned_view() {
    let (mut wrong, mut cuts) = (Vec::new(), BTreeMap::new());
    for (format, path, bytes) in files() {
        let cuts: &mut usize = cuts.entry(format).or_default();
        let file = open(format, path, bytes).unwrap();
        // One cut suffices for a large file.
        let keeps: &[usize] = match file.bytes.len() > 1 << 18 {
            true => &[20],
            false => &[0, 1, 2, 3, 5, 8, 40],
        };
        for found in keeps.iter().filter_map(|keep| cut_to(&file, *keep).ok()) {
            *cuts += 1;
            wrong.extend(found);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cuts.values().sum::<usize>() > 100, "{cuts:?}");
    assert!(cuts.values().all(|count| *count > 0), "{cuts:?}");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_file_that_ends_early_is_read_or_refused() {
    let mut wrong = Vec::new();
    for (format, path, bytes) in files() {
        // One truncation suffices for a large file.
        let tenths = if bytes.len() > 1 << 17 { 6..7 } else { 1..10 };
        wrong.extend(tenths.flat_map(|tenth| early(format, &path, &bytes, tenth)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
