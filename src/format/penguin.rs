//! placeholder
use super::{Source, report::Report};
use crate::error::Result;
use crate::model::session::Session;
/// Reads.
pub fn read(_source: &Source<'_>, _report: &mut Report) -> Result<Vec<Session>> { Ok(Vec::new()) }
