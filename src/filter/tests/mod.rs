//! Properties of all filters.

mod agreement;
pub(in crate::filter) mod histories;
mod reshaping;
