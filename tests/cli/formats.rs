//! Files that other programs write, from outside.

mod aichat;
mod aider;
mod chatgpt_export;
mod claude_ai_export;
mod cline_roo;
mod codex;
mod continue_ide;
mod gemini_cli;
mod goose;
mod langchain;
mod markdown;
mod opencode;
mod pi;
mod sharegpt;
mod vercel_ui;
