//! Files that other programs write, from outside.

mod codex;
mod gemini_cli;
mod opencode;
mod pi;
