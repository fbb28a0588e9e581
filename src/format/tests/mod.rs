//! What tests of several formats share.

pub mod truth;
