//! Files that other programs write, from outside.

mod aider;
mod codex;
mod gemini_cli;
mod goose;
mod opencode;
mod pi;
