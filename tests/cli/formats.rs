//! Files that other programs write, from outside.

mod cline_roo;
mod codex;
mod gemini_cli;
mod goose;
mod opencode;
mod pi;
