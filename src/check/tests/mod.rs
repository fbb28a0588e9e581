//! Tests with recorded cases, a table of cases per rule, and generated histories.

mod cases;
mod fixtures;
pub(crate) mod properties;
mod repairs;

use super::*;
use serde_json::Value;

/// The elements of a JSON array.
fn elements(array: &str) -> Vec<Vec<u8>> {
    let values: Vec<Value> = serde_json::from_str(array).unwrap_or_else(|error| panic!("{error}: {array}"));
    values
        .iter()
        .map(|value| value.to_string().into_bytes())
        .collect()
}

fn repair(mode: Option<RepairMode>) -> Repair<'static> {
    Repair {
        mode,
        warnings: true,
        session: "s",
    }
}

/// A repaired history as JSON values.
fn values(fixed: &Fixed) -> Vec<Value> {
    fixed
        .elements
        .iter()
        .map(|element| serde_json::from_slice(&element.raw).unwrap())
        .collect()
}

fn rules(findings: &[ApiViolation]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.rule.id).collect()
}

/// All repair modes, and the default.
const MODES: [Option<RepairMode>; 4] = [
    None,
    Some(RepairMode::Drop),
    Some(RepairMode::Stub),
    Some(RepairMode::Text),
];
