//! Tests files of other programs with every command.

mod aichat;
mod aider;
mod atif;
mod chatgpt_export;
mod claude_ai_export;
mod cline;
mod cline_roo;
mod codex;
mod continue_ide;
mod copilot_cli;
mod cursor;
mod droid;
mod gemini_cli;
mod goose;
mod grok;
mod kimi;
mod langchain;
mod markdown;
mod opencode;
mod pi;
mod qwen_code;
mod sharegpt;
mod sts;
mod vercel_ui;

use crate::env::Env;

/// Runs every command on a file: it is detected, its own format returns the original bytes, and another format
/// contains `text`.
fn every_command_takes(env: &Env, path: &str, format: &str, file: &str, text: &str) {
    every_command_reads(env, path, format, text);
    env.run(&["check", "--for", "anthropic", path]).status(0);
    env.run(&["cat", "--to", format, path]).fine().gives(file);
}

/// The same for a format to which no other sessions can be converted.
fn every_command_reads(env: &Env, path: &str, format: &str, text: &str) {
    let detected = env.run(&["detect", path]).fine();
    assert!(detected.out().contains(format), "{detected}");
    env.run(&["count", path]).fine();
    let chat = env.run(&["cat", "--to", "openai-chat", path]).status(0);
    assert!(chat.out().contains(text), "{chat}");
    for command in [&["show"][..], &["migrate"], &["compact", "--budget", "4000"]] {
        env.run(&[command, &[path]].concat()).status(0);
    }
}

/// Truncates in place an array with one element per line: the bracket and the lines from this one on keep their
/// bytes.
fn the_last_exchange_stays_as_it_was(file: &str, from: usize) {
    let env = Env::new();
    env.write("chat.json", file);
    env.run(&["truncate", "--keep-last", "1", "-i", "chat.json"])
        .status(0);
    let lines: Vec<&str> = file.lines().collect();
    let kept = [&lines[..1], &lines[from..]].concat().join("\n") + "\n";
    assert_eq!(env.read("chat.json"), kept);
}
