//! Files that other programs write, from outside.

mod cline_roo;
mod codex;
mod continue_ide;
mod gemini_cli;
mod goose;
mod opencode;
mod pi;
