//! Deliberate differences from the recorded steps, with reasons.

/// The expected result instead of the recorded one, and the reason.
pub const DIFFERENT: [(&str, &str); 20] = [
    ("rolling_degraded_recovery-5", "P10: the backlog keeps all"),
    ("rolling_degraded_recovery-6", "P10: the backlog keeps all"),
    ("rolling_empty_summary-2", "P17: a blank summary is a failure"),
    (
        "rolling_overflow_summary_alone_over-2",
        "P9, P8: the summary is cut, the newest turn stays",
    ),
    (
        "rolling_overflow_truncate_summary_ok-2",
        "P8: not the last characters of the summary",
    ),
    (
        "rolling_pending_in_flight-6",
        "P2: only the turns of the request leave",
    ),
    (
        "rolling_retry_not_rescheduled-3",
        "P5: a retry is due when its time has come",
    ),
    (
        "rolling_summary_over_error-2",
        "P7: a summary that is too long is refused",
    ),
    (
        "rolling_summary_over_error-3",
        "P7: a summary that is too long is refused",
    ),
    (
        "rolling_summary_over_truncate_oldest-2",
        "P8: the tags stay whole",
    ),
    ("rolling_summary_zero-1", "P18: no such configuration"),
    ("rolling_summary_zero-2", "P18: no such configuration"),
    ("rolling_summary_zero-3", "P18: no such configuration"),
    ("truncation_overflow_error-2", "P6: what is refused is not kept"),
    ("truncation_overflow_error-3", "P6: what is refused is not kept"),
    ("truncation_overflow_error-4", "P6: what is refused is not kept"),
    ("truncation_overflow_error-5", "P6: what is refused is not kept"),
    (
        "truncation_overflow_truncate_oldest-2",
        "P9: the newest turn stays",
    ),
    (
        "truncation_overflow_truncate_oldest-5",
        "P9: the newest turn stays",
    ),
    ("truncation_total_below_floor-1", "P9: the newest turn stays"),
];
