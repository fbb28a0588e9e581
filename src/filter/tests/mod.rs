//! Properties that hold for every filter.

mod agreement;
pub(in crate::filter) mod histories;
mod reshaping;
