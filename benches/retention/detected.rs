//! Measures how many standing instructions are detected, and how many other sentences are mistaken for one.

use convo::filter::summarize::strength;

/// Sentence sets: used to write the detector; held out then; written independently and then used to extend it; and
/// held out from that extension.
pub const SETS: [(&str, &str); 4] = [
    (
        "seen: those it was written with",
        include_str!("../../src/filter/summarize/tests/tuned_on.txt"),
    ),
    (
        "held out when it was written",
        include_str!("../../src/filter/summarize/tests/held_out.txt"),
    ),
    ("unseen once, looked at since", include_str!("looked_at.txt")),
    ("unseen", include_str!("unseen.txt")),
];

/// The sentences of a set: its instructions, or the others.
pub fn sentences(set: &str, instructions: bool) -> Vec<String> {
    let mark = if instructions { "+ " } else { "- " };
    set.lines()
        .filter_map(|line| line.strip_prefix(mark))
        .map(str::to_string)
        .collect()
}

pub fn print() {
    println!(
        "{:40}{:>8}{:>12}{:>16}",
        "Standing instructions", "of", "found, %", "false alarms, %"
    );
    let verbose = std::env::var_os("CONVO_BENCH_VERBOSE").is_some();
    for (name, set) in SETS {
        let share = |instructions: bool| {
            let all = sentences(set, instructions);
            let taken = all.iter().filter(|sentence| {
                let taken = strength(sentence).is_some();
                if verbose && taken != instructions {
                    eprintln!("{name}: wrong: {sentence}");
                }
                taken
            });
            100.0 * taken.count() as f64 / all.len().max(1) as f64
        };
        let of = sentences(set, true).len();
        println!("{name:40}{of:>8}{:>12.1}{:>16.1}", share(true), share(false));
    }
    println!();
}
