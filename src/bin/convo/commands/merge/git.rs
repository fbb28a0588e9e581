//! The configuration of git.

/// What git needs to merge and to compare sessions; the last line belongs to another file.
pub const CONFIG: &str = "[diff \"convo\"]
\ttextconv = convo show --plain --full
[merge \"convo\"]
\tname = sessions, record by record
\tdriver = convo merge --driver %O %A %B %P
# .gitattributes: *.jsonl diff=convo merge=convo";
