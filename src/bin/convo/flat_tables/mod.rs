//! Tables of sessions: one row per session, a JSON object without nested members. Each member has its name, type,
//! meaning and value in one place, from which rows and their documentation are derived.

mod counts;
mod origin;
mod recorded;
mod violations;

pub use counts::SessionCounts;
pub use origin::SessionOrigin;
pub use recorded::{RecordedUsage, UsageSource};
pub use violations::{FirstViolation, SessionViolations};

use serde_json::{Map, Value};
use std::fmt;

/// A member of a row.
pub struct RowMember<T> {
    name: &'static str,
    value: MemberValue<T>,
    /// The meaning, as documented.
    about: &'static str,
}

/// The type of a member, with the function that returns its value; an absent value is null.
pub enum MemberValue<T> {
    Text(fn(&T) -> Option<String>),
    Integer(fn(&T) -> Option<u64>),
    Number(fn(&T) -> Option<f64>),
    Boolean(fn(&T) -> Option<bool>),
}

/// Defines members, a row each: the name, the value with its type, and the meaning.
macro_rules! members {
    ($($name:literal: $kind:ident($value:expr), $about:literal;)*) => {
        &[$(RowMember { name: $name, value: $crate::flat_tables::MemberValue::$kind($value), about: $about }),*]
    };
}

use members;

impl<T> RowMember<T> {
    fn of(&self, part: &T) -> Value {
        match self.value {
            MemberValue::Text(value) => value(part).into(),
            MemberValue::Integer(value) => value(part).into(),
            MemberValue::Number(value) => value(part).into(),
            MemberValue::Boolean(value) => value(part).into(),
        }
    }

    fn description(&self) -> MemberDescription {
        MemberDescription {
            name: self.name,
            kind: match self.value {
                MemberValue::Text(_) => "text",
                MemberValue::Integer(_) => "integer",
                MemberValue::Number(_) => "number",
                MemberValue::Boolean(_) => "boolean",
            },
            about: self.about,
        }
    }
}

/// A group of members, which several tables may have.
pub trait RowPart: Sized + 'static {
    const MEMBERS: &'static [RowMember<Self>];
}

/// The name, type and meaning of a member.
pub struct MemberDescription {
    pub name: &'static str,
    pub kind: &'static str,
    pub about: &'static str,
}

/// A row under construction.
pub struct TableRow(Map<String, Value>);

impl TableRow {
    /// Starts a row of a table.
    pub fn new(schema: &str) -> TableRow {
        TableRow(Map::from_iter([("schema".to_string(), schema.into())]))
    }

    /// Adds the members of a part.
    pub fn with<T: RowPart>(mut self, part: &T) -> TableRow {
        let members = T::MEMBERS.iter();
        self.0
            .extend(members.map(|member| (member.name.to_string(), member.of(part))));
        self
    }
}

impl fmt::Display for TableRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

/// The schema of `count --flat`.
pub const COUNTS: &str = "convo.session/1";

/// The schema of `check --flat`.
pub const CHECKS: &str = "convo.session-check/1";

/// The schema of `usage --flat`.
pub const USAGE: &str = "convo.session-usage/1";

/// A documented table.
pub struct FlatTable {
    pub command: &'static str,
    pub schema: &'static str,
    pub about: &'static str,
    pub members: Vec<MemberDescription>,
}

impl FlatTable {
    pub fn all() -> [FlatTable; 3] {
        let table = |command, schema, about, parts: [Vec<MemberDescription>; 3]| FlatTable {
            command,
            schema,
            about,
            members: parts.into_iter().flatten().collect(),
        };
        [
            table(
                "count --flat",
                COUNTS,
                "Messages, tokens and calls. `errors` and `warnings` are violations of the structure of a history.",
                [
                    descriptions::<SessionOrigin>(),
                    descriptions::<SessionCounts>(),
                    descriptions::<RecordedUsage>(),
                ],
            ),
            table(
                "check --flat",
                CHECKS,
                "The result of all checks of a session; the status is 1 if a session is not valid.",
                [
                    descriptions::<SessionOrigin>(),
                    descriptions::<SessionViolations>(),
                    vec![],
                ],
            ),
            table(
                "usage --flat",
                USAGE,
                "Recorded tokens and their cost. A request that several sessions record counts for the first of them, so that \
                 the sum of all rows of a run is the usage.",
                [
                    descriptions::<SessionOrigin>(),
                    descriptions::<RecordedUsage>(),
                    descriptions::<UsageSource>(),
                ],
            ),
        ]
    }
}

fn descriptions<T: RowPart>() -> Vec<MemberDescription> {
    T::MEMBERS.iter().map(RowMember::description).collect()
}
