//! Compares token counting with tiktoken-rs: counts must be equal; prints time ratios. `cargo bench --bench tokens`,
//! with files to count after `--`.
//!
//! `--cold TEXT` counts once with tiktoken-rs only, `--ours TEXT` with convo's tables; tokens.sh uses both to measure
//! startup.

use convo::tokens::Tokenizer;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tiktoken_rs::CoreBPE;

/// Minimum number of compared bytes.
const LEAST: usize = 12_000_000;

/// Repeated characters and short sequences.
const RUNS: [&str; 20] = [
    " ", "\n", "\r\n", "\t", "\u{a0}", "\u{3000}", " \n", "\n ", "a", "A", "aB", "é", "0", "٣", "日", "の",
    "\u{301}", "👍", "-", "'",
];

/// Texts in languages that the repository lacks.
const FOREIGN: [&str; 8] = [
    "東京は日本の首都であり、世界最大の都市圏のひとつです。天気は晴れ、気温は22度です。",
    "人工智能正在改变世界,但我们仍然需要小心地使用它,并且检查每一个结果。",
    "안녕하세요, 오늘 날씨가 정말 좋네요. 내일은 비가 올 것 같습니다.",
    "Привет! Сегодня мы поговорим о том, как устроены разговоры и почему их нужно хранить.",
    "مرحبا بالعالم، كيف حالك اليوم؟ هذا نص قصير للاختبار.",
    "नमस्ते दुनिया, आज मौसम बहुत अच्छा है और हम टहलने जा रहे हैं।",
    "👩‍👩‍👧‍👦🎉 great!!! 😀😀 I can't wait – we'll see you at 17:45, won't we? 🇫🇷",
    "{\"role\":\"tool\",\"tool_call_id\":\"call_9f2c41d0\",\"content\":\"{\\\"temp\\\": 22.5, \\\"ok\\\": true}\"}",
];

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    if let [mode, text] = &arguments[..] {
        match mode.as_str() {
            "--cold" => {
                return println!(
                    "{}",
                    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
                );
            }
            "--ours" => return println!("{}", Tokenizer::DEFAULT.count(text)),
            _ => {}
        }
    }
    let files: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
    let lines = lines(&files);
    let mut different = 0;
    for (name, reference) in [
        ("o200k_base", tiktoken_rs::o200k_base_singleton()),
        ("cl100k_base", tiktoken_rs::cl100k_base_singleton()),
        ("p50k_base", tiktoken_rs::p50k_base_singleton()),
        ("r50k_base", tiktoken_rs::r50k_base_singleton()),
    ] {
        let tokenizer = Tokenizer::named(name).expect("it is there");
        different += mixed(name, tokenizer, reference, &lines);
        different += runs(name, tokenizer, reference);
    }
    assert_eq!(different, 0, "counts differ");
}

/// The lines of the repository's files, of the given files and of foreign texts, shuffled and combined to the length
/// of messages.
fn lines(named: &[PathBuf]) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> = named.to_vec();
    let mut dirs: Vec<PathBuf> = ["src", "tests", "docs", "man", "benches"]
        .map(|name| root.join(name))
        .into();
    while let Some(dir) = dirs.pop() {
        let entries = std::fs::read_dir(dir).expect("the repository is there");
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                dirs.push(path)
            } else {
                paths.push(path)
            }
        }
    }
    paths.sort();
    let mut source: Vec<String> = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        source.extend(text.split_inclusive('\n').map(str::to_string));
    }
    for nth in 0..source.len() / 8 {
        source.push(format!("{}\n", FOREIGN[nth % FOREIGN.len()]));
    }
    let mut seed = 1u64;
    let mut below = |most: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % most
    };
    let (mut texts, mut bytes) = (Vec::new(), 0);
    while bytes < LEAST {
        let from = below(source.len());
        let length = 1 + below(60);
        let mut text = source[from..(from + length).min(source.len())].concat();
        for _ in 0..below(3) {
            text.push_str(FOREIGN[below(FOREIGN.len())]);
        }
        bytes += text.len();
        texts.push(text);
    }
    texts
}

fn best(mut run: impl FnMut()) -> Duration {
    let times = (0..3).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn mixed(name: &str, tokenizer: Tokenizer, reference: &CoreBPE, texts: &[String]) -> usize {
    let bytes: usize = texts.iter().map(String::len).sum();
    let theirs: Vec<u64> = texts
        .iter()
        .map(|text| reference.encode_ordinary(text).len() as u64)
        .collect();
    let different = texts
        .iter()
        .zip(&theirs)
        .filter(|(text, theirs)| tokenizer.count(text) != **theirs)
        .count();
    let our_time = best(|| {
        let count: u64 = texts.iter().map(|text| tokenizer.count(text)).sum();
        assert!(count > 0);
    });
    let their_time = best(|| {
        let count: usize = texts
            .iter()
            .map(|text| reference.encode_ordinary(text).len())
            .sum();
        assert!(count > 0);
    });
    let speed = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    println!(
        "{name}: {:.1} MB in {} texts, {} tokens, {different} counts differ; {:.1} MB/s, tiktoken-rs {:.1} MB/s: {:.2}x",
        bytes as f64 / 1e6,
        texts.len(),
        theirs.iter().sum::<u64>(),
        speed(our_time),
        speed(their_time),
        their_time.as_secs_f64() / our_time.as_secs_f64()
    );
    different
}

/// Compares a megabyte of each run, or less if tiktoken-rs panics or takes too long.
fn runs(name: &str, tokenizer: Tokenizer, reference: &CoreBPE) -> usize {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut different = 0;
    let mut slowest = (Duration::ZERO, "");
    let mut refused = Vec::new();
    for one in RUNS {
        let text = one.repeat(1_000_000 / one.len());
        let start = Instant::now();
        let ours = tokenizer.count(&text);
        slowest = slowest.max((start.elapsed(), one));
        let theirs = |text: &str| {
            let count = std::panic::AssertUnwindSafe(|| reference.encode_ordinary(text).len() as u64);
            std::panic::catch_unwind(count).ok()
        };
        match theirs(&text) {
            Some(theirs) => different += usize::from(ours != theirs),
            None => {
                refused.push(one);
                let short = one.repeat(100_000 / one.len());
                different +=
                    usize::from(theirs(&short).is_none_or(|theirs| tokenizer.count(&short) != theirs));
            }
        }
    }
    std::panic::set_hook(hook);
    println!(
        "{name}: {} runs of 1 MB, {different} counts differ; the slowest {:.0} ms ({:?}); tiktoken-rs panics at {refused:?}",
        RUNS.len(),
        slowest.0.as_secs_f64() * 1e3,
        slowest.1
    );
    different
}
