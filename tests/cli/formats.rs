//! Files that other programs write, from outside.

mod codex;
mod gemini_cli;
mod goose;
mod opencode;
mod pi;
