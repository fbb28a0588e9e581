//! Every example of the README is run, through a shell, in one place of their own.

use crate::env::Env;
use std::path::Path;

/// A fenced block of the README.
struct Block {
    line: usize,
    tag: String,
    text: Vec<String>,
}

fn blocks(readme: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in readme.lines().enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(tag), None) => {
                open = Some(Block {
                    line: number + 1,
                    tag: tag.trim().to_string(),
                    text: Vec::new(),
                });
            }
            (Some(_), Some(block)) => found.push(block),
            (None, Some(mut block)) => {
                block.text.push(line.to_string());
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block of the README does not end");
    found
}

/// The status that a block is to end with: a last line `# status N` says which, else 0.
fn expected(lines: &[String]) -> i32 {
    let note = lines
        .iter()
        .rev()
        .find_map(|line| line.trim_start().split_once("# status "));
    note.map_or(0, |(_, number)| number.trim().parse().unwrap())
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, to).unwrap();
        }
    }
}

/// A shell block: cut behind every `# status N`, so that each piece has the status that is written there.
fn shell(env: &Env, block: &Block) {
    let mut piece: Vec<String> = Vec::new();
    let run = |piece: &mut Vec<String>| {
        if piece.iter().any(|line| !line.trim().is_empty()) {
            let done = env.shell(&format!("set -e\n{}\n", piece.join("\n")));
            let status = expected(piece);
            assert_eq!(
                done.status,
                status,
                "README.md:{}: {}\n{done}",
                block.line,
                piece.join("\n")
            );
        }
        piece.clear();
    };
    for line in &block.text {
        piece.push(line.clone());
        if line.contains("# status ") {
            run(&mut piece);
        }
    }
    run(&mut piece);
}

/// A block of commands, each behind `$ `, with what they print.
fn console(env: &Env, block: &Block) {
    let mut lines = block.text.iter().peekable();
    while let Some(line) = lines.next() {
        let command = line
            .strip_prefix("$ ")
            .unwrap_or_else(|| panic!("README.md:{}: no command: {line}", block.line));
        let mut command = command.to_string();
        while command.ends_with('\\') {
            command = format!("{command}\n{}", lines.next().unwrap());
        }
        let mut printed = String::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
            printed += line;
            printed += "\n";
        }
        // As on a terminal, what it says stands among what it prints.
        let run = env.shell(&format!("{{ {command}\n}} 2>&1"));
        assert_eq!(run.out(), printed, "README.md:{}: {command}", block.line);
    }
}

/// Where the README says that a model is.
const MODEL: &str = "http://127.0.0.1:11434/v1";

/// Where one is in this test; none when what asks it was not built.
#[cfg(feature = "llm")]
fn model() -> Option<String> {
    Some(crate::llm::greeting())
}

#[cfg(not(feature = "llm"))]
fn model() -> Option<String> {
    None
}

#[test]
fn every_example_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).expect("there is a README.md");
    let env = Env::new();
    if root.join("examples").is_dir() {
        copy(&root.join("examples"), &env.work().join("examples"));
    }
    let model = model();
    let mut run = 0;
    for mut block in blocks(&readme) {
        if block.text.iter().any(|line| line.contains(MODEL)) {
            let Some(url) = &model else { continue };
            let real = |line: &String| line.replace(MODEL, url);
            block.text = block.text.iter().map(real).collect();
        }
        match block.tag.as_str() {
            "sh" => shell(&env, &block),
            "console" => console(&env, &block),
            _ => continue,
        }
        run += 1;
    }
    assert!(run > 0, "README.md has no examples");
}
