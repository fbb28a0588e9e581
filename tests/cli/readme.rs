//! Runs every example of the README and of the pages in `docs/`, each page in a directory of its own.
//!
//! `CONVO_UPDATE_DOCS=1` writes what the commands of `console` blocks print into the pages.

use crate::env::Env;
use std::fmt::Write;
use std::path::Path;

/// Fenced block of a page.
struct Block {
    line: usize,
    tag: String,
    text: Vec<String>,
}

/// Page whose examples are running.
struct Page<'a> {
    env: &'a Env,
    name: &'a str,
}

fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
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
    assert!(open.is_none(), "{page}: a block does not end");
    found
}

/// The expected exit status: that of the last line with `# status N`, else 0.
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

/// Whether the programs exist that a block names with `# requires NAME...` in its first line.
fn has_requirements(page: &Page, block: &Block) -> bool {
    let Some(names) = block
        .text
        .first()
        .and_then(|line| line.strip_prefix("# requires "))
    else {
        return true;
    };
    let missing = names.split_whitespace().find(|name| {
        let found = page.env.shell(&format!("command -v {name}"));
        found.status != 0
    });
    if let Some(name) = missing {
        eprintln!("skipped: {}:{}: no {name}", page.name, block.line);
    }
    missing.is_none()
}

/// Runs a shell block, one run up to and including each line with `# status N`.
fn shell(page: &Page, block: &Block) {
    let mut part: Vec<String> = Vec::new();
    let run = |part: &mut Vec<String>| {
        if part.iter().any(|line| !line.trim().is_empty()) {
            let done = page.env.shell(&format!("set -e\n{}\n", part.join("\n")));
            let status = expected(part);
            assert_eq!(
                done.status,
                status,
                "{}:{}: {}\n{done}",
                page.name,
                block.line,
                part.join("\n")
            );
        }
        part.clear();
    };
    for line in &block.text {
        part.push(line.clone());
        if line.contains("# status ") {
            run(&mut part);
        }
    }
    run(&mut part);
}

/// The commands of a crontab, of a unit of systemd or of a workflow.
fn commands(block: &Block) -> Vec<String> {
    let command = |line: &String| match block.tag.as_str() {
        "crontab" => {
            let fields = line.split_whitespace().take(5).collect::<Vec<_>>();
            let after = fields.iter().fold(line.as_str(), |rest, field| {
                rest.trim_start().strip_prefix(field).unwrap()
            });
            Some(after.trim().to_string())
        }
        "ini" => line.strip_prefix("ExecStart=").map(str::to_string),
        _ => line.trim_start().strip_prefix("run: ").map(str::to_string),
    };
    block.text.iter().filter_map(command).collect()
}

/// Runs a block of commands, each after `$ `, and returns the block with their actual output.
fn console(page: &Page, block: &Block) -> String {
    let mut actual = String::new();
    let mut lines = block.text.iter().peekable();
    while let Some(line) = lines.next() {
        let command = line
            .strip_prefix("$ ")
            .unwrap_or_else(|| panic!("{}:{}: not a command: {line}", page.name, block.line));
        let mut command = command.to_string();
        while command.ends_with('\\') {
            command = format!("{command}\n{}", lines.next().unwrap());
        }
        while lines.next_if(|line| !line.starts_with("$ ")).is_some() {}
        // As on a terminal: standard error is mixed with standard output.
        let run = page.env.shell(&format!("{{ {command}\n}} 2>&1"));
        write!(actual, "$ {command}\n{}", run.out()).unwrap();
    }
    actual
}

/// Address of the model in the examples.
const MODEL: &str = "http://127.0.0.1:11434/v1";

/// Address of the model in this test; none without the plugin that asks it.
#[cfg(feature = "llm")]
fn model() -> Option<String> {
    Some(crate::llm::greeting())
}

#[cfg(not(feature = "llm"))]
fn model() -> Option<String> {
    None
}

/// Runs the examples of a page, which must have some.
fn run_page(name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let env = Env::new();
    copy(&root.join("examples"), &env.work().join("examples"));
    let page = Page { env: &env, name };
    let (model, update) = (model(), std::env::var_os("CONVO_UPDATE_DOCS").is_some());
    let (mut run, mut updated) = (0, text.clone());
    for mut block in blocks(name, &text) {
        if block.text.iter().any(|line| line.contains(MODEL)) {
            let Some(url) = &model else { continue };
            let real = |line: &String| line.replace(MODEL, url);
            block.text = block.text.iter().map(real).collect();
        }
        match block.tag.as_str() {
            "sh" if has_requirements(&page, &block) => shell(&page, &block),
            "sh" => continue,
            "crontab" | "ini" | "yaml" => {
                block.text = commands(&block);
                shell(&page, &block);
            }
            "console" => {
                let written = block
                    .text
                    .iter()
                    .fold(String::new(), |all, line| all + line + "\n");
                let actual = console(&page, &block);
                if update {
                    updated = updated.replacen(&written, &actual, 1);
                } else {
                    assert_eq!(
                        actual, written,
                        "{name}:{}: CONVO_UPDATE_DOCS=1 updates the page",
                        block.line
                    );
                }
            }
            _ => continue,
        }
        run += 1;
    }
    assert!(run > 0, "{name} has no examples");
    if updated != text {
        std::fs::write(root.join(name), updated).unwrap();
    }
}

#[test]
fn every_example_of_the_readme_works() {
    run_page("README.md");
}

#[test]
fn every_example_of_the_guide_works() {
    run_page("docs/guide.md");
}

#[test]
fn every_recipe_of_the_cookbook_works() {
    run_page("docs/cookbook.md");
}

#[test]
fn every_example_of_the_compaction_page_works() {
    run_page("docs/compaction.md");
}

#[test]
fn every_example_of_the_store_page_works() {
    run_page("docs/store.md");
}

#[test]
fn every_command_of_the_skill_works() {
    run_page("docs/skill/SKILL.md");
}

#[test]
fn every_recipe_for_many_sessions_works() {
    run_page("docs/scale.md");
}

#[test]
fn the_readme_has_at_most_150_lines() {
    let readme = include_str!("../../README.md");
    assert!(readme.lines().count() <= 150, "{}", readme.lines().count());
}

#[test]
fn every_link_between_the_pages_leads_to_a_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = std::fs::read_dir(root.join("docs")).unwrap();
    let mut pages: Vec<_> = docs.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.extend(["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root.join(name)));
    let mut links = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            if !file.is_empty() && !file.contains("://") {
                let path = page.parent().unwrap().join(file);
                assert!(path.exists(), "{}: {target}", page.display());
                links += 1;
            }
        }
    }
    assert!(links > 10, "{links} links found");
}
