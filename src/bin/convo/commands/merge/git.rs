//! The git configuration for merging and comparing sessions.

/// The git configuration; its last line belongs in `.gitattributes`.
pub const CONFIG: &str = "[diff \"convo\"]
\ttextconv = convo show --plain --full
[merge \"convo\"]
\tname = sessions, record by record
\tdriver = convo merge --driver %O %A %B %P
# .gitattributes: *.jsonl diff=convo merge=convo";
