//! The columns of the list, and the keys by which it is sorted.

use super::row::Row;
use crate::homes;
use crate::output::path_name;
use crate::terminal::table::{Cell, Column};
use clap::ValueEnum;
use convo::home::Kind;
use convo::model::time;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Key {
    Id,
    ShortId,
    Name,
    Title,
    Messages,
    Tokens,
    #[value(alias = "bytes")]
    Size,
    Project,
    Cwd,
    Program,
    Model,
    Format,
    Created,
    #[value(alias = "age")]
    Updated,
    Aliases,
    Tags,
    Running,
    Archived,
    Due,
    Subagents,
    Path,
}

/// The columns of sessions in homes, when piped and on a terminal.
pub const HOMES: [Key; 6] = [
    Key::Name,
    Key::Messages,
    Key::Updated,
    Key::Size,
    Key::Project,
    Key::Title,
];

/// The columns when piped. A fifth value is the status of the summarizer.
pub const PIPED: [Key; 4] = [Key::Id, Key::Messages, Key::Updated, Key::Title];

/// Returns the columns on a terminal: those that have values.
pub fn shown(rows: &[Row]) -> Vec<Key> {
    let any = |has: fn(&Row) -> bool| rows.iter().any(has);
    let tokens = any(|row| row.overview.tokens.is_some());
    let columns = [
        (Key::ShortId, true),
        (Key::Updated, true),
        (Key::Messages, true),
        (Key::Tokens, tokens),
        (Key::Size, !tokens && any(|row| row.bytes.is_some())),
        (Key::Program, any(|row| row.program().is_some())),
        (Key::Project, any(|row| row.project().is_some())),
        (Key::Title, true),
    ];
    let columns = columns.into_iter().filter(|(_, shows)| *shows);
    columns.map(|(key, _)| key).collect()
}

impl Key {
    /// Returns the column of the table. `chosen` columns are not omitted on a narrow terminal.
    pub fn column(self, chosen: bool) -> Column {
        let column = match self {
            Key::Id | Key::ShortId => Column::text("ID"),
            Key::Name => Column::text("NAME"),
            Key::Title => Column::rest("TITLE"),
            Key::Messages => Column::number("MSGS").needs_width(45),
            Key::Tokens => Column::number("TOKENS").needs_width(60),
            Key::Size => Column::number("SIZE").needs_width(60),
            Key::Project => Column::dim("PROJECT").needs_width(70).at_most(16),
            Key::Cwd => Column::dim("CWD"),
            Key::Program => Column::dim("PROGRAM").needs_width(80).at_most(12),
            Key::Model => Column::dim("MODEL"),
            Key::Format => Column::dim("FORMAT"),
            Key::Created => Column::dim("CREATED"),
            Key::Updated => Column::dim("UPDATED").needs_width(32),
            Key::Aliases => Column::text("ALIASES"),
            Key::Tags => Column::text("TAGS"),
            Key::Running => Column::text("RUNNING"),
            Key::Archived => Column::text("ARCHIVED"),
            Key::Due => Column::dim("DUE"),
            Key::Subagents => Column::number("SUBAGENTS"),
            Key::Path => Column::dim("PATH"),
        };
        match chosen {
            true => column.needs_width(0),
            false => column,
        }
    }

    /// Returns the value of a row.
    pub fn cell(self, row: &Row, is_terminal: bool) -> Cell {
        let text = |text: Option<&str>| Cell::Text(text.unwrap_or_default().to_string());
        let overview = &row.overview;
        let home = row.home.as_deref();
        let yes = |is_so: bool| if is_so { "yes" } else { "no" };
        match self {
            Key::Id => Cell::Id {
                id: row.id.clone(),
                short: row.id.clone(),
                unique: 0,
                depth: row.depth,
            },
            Key::ShortId if is_terminal => Cell::Id {
                id: row.id.clone(),
                short: row.short.clone(),
                unique: row.unique,
                depth: row.depth,
            },
            Key::ShortId => text(Some(&row.short)),
            Key::Name => text(Some(&row.name(is_terminal))),
            Key::Title => Cell::Text(row.title(is_terminal)),
            Key::Messages => Cell::Number(Some(row.messages())),
            Key::Tokens => Cell::Number(overview.tokens.as_ref().map(|(tokens, _)| *tokens)),
            Key::Size => Cell::Bytes(row.bytes),
            Key::Project if row.home.is_some() && !is_terminal => text(overview.cwd.as_deref().or(Some("-"))),
            Key::Project => text(row.project()),
            Key::Cwd => text(overview.cwd.as_deref()),
            Key::Program => text(row.program()),
            Key::Model => text(overview.model.as_deref()),
            Key::Format => text(Some(row.format())),
            Key::Created => Cell::Time(overview.created.clone()),
            Key::Updated => Cell::Time(overview.updated.clone()),
            Key::Aliases => Cell::Text(row.aliases.join(",")),
            Key::Tags => Cell::Text(overview.tags.join(",")),
            Key::Running => text(home.map(|home| yes(home.session.running.is_some()))),
            Key::Archived => text(home.map(|home| yes(home.session.transcript.kind == Kind::Archived))),
            Key::Due => Cell::Time(home.and_then(|home| homes::shown(home.session.due?))),
            Key::Subagents => Cell::Number(home.map(|home| home.session.subagents)),
            Key::Path => text(home.map(|home| path_name(home.session.path())).as_deref()),
        }
    }
}

/// A sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    key: SortKey,
    descending: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SortKey {
    Updated,
    Created,
    Messages,
    Tokens,
    #[value(alias = "bytes")]
    Size,
    Title,
    Id,
    Project,
    Program,
    Due,
}

/// A sort key by name; `-` before it reverses the order.
pub fn sort(text: &str) -> Result<Sort, String> {
    let name = text.strip_prefix('-');
    let key = SortKey::from_str(name.unwrap_or(text), false).map_err(|_| {
        let names: Vec<String> = SortKey::value_variants()
            .iter()
            .filter_map(|key| Some(key.to_possible_value()?.get_name().to_string()))
            .collect();
        format!("expected one of {}", names.join(", "))
    })?;
    Ok(Sort {
        key,
        descending: name.is_some(),
    })
}

/// A value that is compared; missing values sort last in any order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Number(u64),
    Time(i64),
    Text(String),
}

impl Sort {
    /// Newest first.
    pub const NEWEST: Sort = Sort {
        key: SortKey::Updated,
        descending: true,
    };

    /// Sorts rows; equal rows by id.
    pub fn apply(self, rows: Vec<Row>, reverse: bool) -> Vec<Row> {
        let values: Vec<Option<Value>> = rows.iter().map(|row| self.value(row)).collect();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by(|one, other| {
            let compared = match (&values[*one], &values[*other]) {
                (Some(one), Some(other)) if self.descending => other.cmp(one),
                (Some(one), Some(other)) => one.cmp(other),
                (one, other) => other.is_some().cmp(&one.is_some()),
            };
            compared.then_with(|| rows[*one].id.cmp(&rows[*other].id))
        });
        if reverse {
            order.reverse();
        }
        in_order(rows, &order)
    }

    fn value(self, row: &Row) -> Option<Value> {
        let overview = &row.overview;
        let moment = |time: &Option<String>| time.as_deref().and_then(time::seconds).map(Value::Time);
        let text = |text: Option<&str>| text.map(|text| Value::Text(text.to_lowercase()));
        match self.key {
            SortKey::Updated => moment(&overview.updated),
            SortKey::Created => moment(&overview.created),
            SortKey::Messages => Some(Value::Number(row.messages())),
            SortKey::Tokens => overview.tokens.as_ref().map(|(tokens, _)| Value::Number(*tokens)),
            SortKey::Size => row.bytes.map(Value::Number),
            SortKey::Title => text(overview.title.as_ref().map(|title| title.text.as_str())),
            SortKey::Id => Some(Value::Text(row.id.clone())),
            SortKey::Project => text(row.project()),
            SortKey::Program => text(row.program()),
            SortKey::Due => row
                .home
                .as_ref()
                .and_then(|home| home.session.due)
                .map(Value::Time),
        }
    }
}

/// Reorders the rows. Moves each row once, because rows are large.
pub fn in_order(rows: Vec<Row>, order: &[usize]) -> Vec<Row> {
    let mut rows: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
    order.iter().filter_map(|nth| rows[*nth].take()).collect()
}
