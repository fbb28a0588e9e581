//! The program from outside: one file a verb.
#![allow(clippy::unwrap_used)]

mod generated;
