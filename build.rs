//! Generates binary tables of the tokenizer vocabularies and character classes. The program reads them in place,
//! without any work at startup. The vocabularies are those of tiktoken-rs, the classes those of the version of
//! regex-syntax that its patterns use.

use std::path::{Path, PathBuf};

#[path = "src/tokens/hash.rs"]
mod hash;

/// The parts of the summarizer that write its table of weights.
#[allow(dead_code)]
#[path = "src/filter/summarize"]
mod summarize {
    pub mod keys;
    pub mod learned {
        pub mod slots;
        pub mod table;
    }
    pub mod numbers;
}

use hash::{ENTRY_HEAD, PLACE_BITS, SHORT_SLOT, first_slot, hash, mark, short_hash, short_key};

/// Extra slots after the last hash slot, so that probing never wraps around.
const SPARE: usize = 64;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokens/hash.rs");
    find_sample_data();
    find_tools();
    link_at_fixed_address();
    let dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    type Load = fn() -> &'static tiktoken_rs::CoreBPE;
    // p50k_base is r50k_base followed by runs of blanks: one table serves both.
    let vocabularies: [(&str, u32, Load); 3] = [
        ("o200k_base", 199_998, tiktoken_rs::o200k_base_singleton),
        ("cl100k_base", 100_256, tiktoken_rs::cl100k_base_singleton),
        ("p50k_base", 50_281, tiktoken_rs::p50k_base_singleton),
    ];
    for (name, ranks, load) in vocabularies {
        let core = load();
        let tokens: Vec<(u32, Vec<u8>)> = (0..ranks)
            .filter_map(|rank| Some((rank, core.decode_bytes(&[rank]).ok()?)))
            .filter(|(_, token)| !is_special(token))
            .collect();
        assert!(
            core.decode_bytes(&[ranks])
                .map_or(true, |token| is_special(&token)),
            "{name} has more ranks"
        );
        write_vocabulary(&dir, name, &tokens);
    }
    let (small, whole) = (
        tiktoken_rs::r50k_base_singleton(),
        tiktoken_rs::p50k_base_singleton(),
    );
    for rank in 0..50_256 {
        let same = small.decode_bytes(&[rank]).ok() == whole.decode_bytes(&[rank]).ok();
        assert!(same, "r50k_base and p50k_base differ at rank {rank}");
    }
    write_classes(&dir);
    write_weights(&dir);
}

/// Writes the weights that recognize standing instructions; see `src/filter/summarize/learned/mod.rs`.
fn write_weights(dir: &Path) {
    println!("cargo::rerun-if-changed=src/filter/summarize/learned");
    println!("cargo::rerun-if-changed=src/filter/summarize/keys.rs");
    println!("cargo::rerun-if-changed=src/filter/summarize/numbers.rs");
    let tables = ["rules", "changes"].map(|class| {
        let path = format!("src/filter/summarize/learned/{class}.weights");
        std::fs::read_to_string(path).expect("the package contains the weights")
    });
    let (biases, slots) = summarize::learned::table::table_of([&tables[0], &tables[1]]);
    std::fs::write(dir.join("learned_weights"), slots).expect("OUT_DIR is writable");
    std::fs::write(dir.join("learned_biases.rs"), format!("{biases:?}")).expect("OUT_DIR is writable");
}

/// Links a dynamic program at a fixed address: of the 1.1 million instructions of a start, the loader needs 470,000 to
/// add the address of a movable program to 34,000 pointers in tables. Static programs remain movable, see SECURITY.md.
fn link_at_fixed_address() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    let is_static = std::env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|set| set.contains("crt-static"));
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && !is_static {
        println!("cargo::rustc-link-arg-bin=convo=-no-pie");
    }
}

/// Sets `sample_data` where the data of other programs is at hand: tests that need it are ignored elsewhere.
fn find_sample_data() {
    println!("cargo::rustc-check-cfg=cfg(sample_data)");
    println!("cargo::rerun-if-env-changed=CONVO_FIXTURES");
    let default = || PathBuf::from("../shared/fixtures");
    if std::env::var_os("CONVO_FIXTURES")
        .map_or_else(default, PathBuf::from)
        .is_dir()
    {
        println!("cargo::rustc-cfg=sample_data");
    }
}

/// Sets `chromium`, `script` and `opencode` if these programs are installed, and `root` for that user: tests that need
/// them are ignored elsewhere. `PATH` is not watched, because each change would rebuild the tables: run
/// `touch build.rs` after installing one.
fn find_tools() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_installed = |name: &str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    for name in ["chromium", "script", "opencode"] {
        println!("cargo::rustc-check-cfg=cfg({name})");
        if is_installed(name) {
            println!("cargo::rustc-cfg={name}");
        }
    }
    println!("cargo::rustc-check-cfg=cfg(root)");
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if std::fs::metadata("/proc/self").is_ok_and(|owner| owner.uid() == 0) {
            println!("cargo::rustc-cfg=root");
        }
    }
}

fn is_special(token: &[u8]) -> bool {
    token.starts_with(b"<|") && token.ends_with(b"|>")
}

fn write(dir: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(dir.join(name), bytes).expect("the build folder can be written");
}

/// Writes four tables: the ranks of all byte pairs, indexed by the pair; tokens of up to eight bytes, by hash; longer
/// tokens in the order of their ranks, so that common ones are close together; and the hash slots that refer to those.
fn write_vocabulary(dir: &Path, name: &str, tokens: &[(u32, Vec<u8>)]) {
    let (short, long): (Vec<_>, Vec<_>) = tokens.iter().partition(|(_, token)| token.len() <= 8);

    let mut pairs = vec![0xff; 3 << 16];
    for (rank, token) in &short {
        if let [first, second] = token[..] {
            let at = 3 * usize::from(u16::from_be_bytes([first, second]));
            pairs[at..at + 3].copy_from_slice(&rank.to_le_bytes()[..3]);
        }
    }
    write(dir, &format!("{name}.pairs"), &pairs);

    let begin = u32::try_from(short.len() * 3 / 2).expect("few tokens");
    let mut slots = vec![[0; SHORT_SLOT]; begin as usize + SPARE];
    for (rank, token) in &short {
        let (key, length) = (short_key(token), u8::try_from(token.len()).expect("it is short"));
        let from = first_slot(short_hash(key, length.into()), begin);
        let slot = free(&slots, from, |slot| slot[11] == 0);
        slots[slot][..8].copy_from_slice(&key.to_le_bytes());
        slots[slot][8..11].copy_from_slice(&rank.to_le_bytes()[..3]);
        slots[slot][11] = length;
    }
    write(dir, &format!("{name}.short"), &slots.concat());

    let mut entries = vec![0; ENTRY_HEAD]; // no entry has offset 0, which marks an empty slot
    let begin = u32::try_from(long.len() * 2).expect("few tokens");
    let mut slots = vec![0u32; begin as usize + SPARE];
    for (rank, token) in &long {
        let place = u32::try_from(entries.len()).expect("few bytes");
        assert!(place < 1 << PLACE_BITS, "{name} has too many bytes");
        entries.push(u8::try_from(token.len()).expect("tokens are short"));
        entries.extend_from_slice(&rank.to_le_bytes()[..3]);
        entries.extend_from_slice(token);
        let hash = hash(token);
        let slot = free(&slots, first_slot(hash, begin), |slot| *slot == 0);
        slots[slot] = mark(hash) << PLACE_BITS | place;
    }
    let slots: Vec<u8> = slots.iter().flat_map(|slot| slot.to_le_bytes()).collect();
    write(dir, &format!("{name}.slots"), &slots);
    write(dir, &format!("{name}.entries"), &entries);
}

/// Finds the first free slot from `from` on. The very last slot is kept free, so that probing ends.
fn free<T>(slots: &[T], from: usize, is_free: impl Fn(&T) -> bool) -> usize {
    let found = slots[from..slots.len() - 1].iter().position(is_free);
    from + found.expect("no cluster is longer than the spare slots")
}

/// Writes a byte for each block of 128 characters, then the distinct blocks with a byte for each character.
fn write_classes(dir: &Path) {
    // The bits of `split::class`.
    let sets = [
        (r"\p{Ll}", 1),
        (r"[\p{Lu}\p{Lt}]", 2),
        (r"[\p{Lm}\p{Lo}]", 4),
        (r"\p{M}", 8),
        (r"\p{N}", 16),
        (r"[\s--[\r\n]]", 32),
        (r"[\r\n]", 64),
    ];
    let mut classes = vec![128u8; 0x11_0000];
    for (set, bit) in sets {
        let parsed = regex_syntax::parse(set).expect("the set is a pattern");
        let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) = parsed.kind()
        else {
            panic!("{set} is no set of characters");
        };
        for range in class.iter() {
            for code in u32::from(range.start())..=u32::from(range.end()) {
                assert_eq!(classes[code as usize], 128, "U+{code:04X} is in two sets");
                classes[code as usize] = bit;
            }
        }
    }
    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut index = Vec::new();
    for block in classes.chunks(128) {
        let at = blocks
            .iter()
            .position(|known| *known == block)
            .unwrap_or_else(|| {
                blocks.push(block);
                blocks.len() - 1
            });
        index.push(u8::try_from(at).expect("few different blocks"));
    }
    index.extend(blocks.concat());
    write(dir, "classes", &index);
}
