//! Words of a dry run.

/// What a dry run reports for a change with this report.
pub fn would(told: &str) -> String {
    const VERBS: [(&str, &str); 6] = [
        ("appended", "append"),
        ("compacted", "compact"),
        ("dropped", "drop"),
        ("merged", "merge"),
        ("summarized", "summarize"),
        ("undid", "undo"),
    ];
    let verb = VERBS
        .iter()
        .find_map(|(past, verb)| Some((verb, told.strip_prefix(past)?)));
    match verb {
        Some((verb, rest)) => format!("would {verb}{rest}"),
        None => format!("would change: {told}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_becomes_a_plan() {
        assert_eq!(would("dropped 2 of 3 messages"), "would drop 2 of 3 messages");
        assert_eq!(would("split"), "would change: split");
    }
}
