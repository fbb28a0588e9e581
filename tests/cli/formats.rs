//! Files that other programs write, from outside.

mod codex;
mod opencode;
mod pi;
