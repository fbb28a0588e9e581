//! Files that other programs write, from outside.

mod chatgpt_export;
mod claude_ai_export;
mod codex;
mod gemini_cli;
mod goose;
mod opencode;
mod pi;
mod sharegpt;
