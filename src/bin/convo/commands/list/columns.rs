//! The columns of the list, and the keys by which it is sorted.

use super::home_facts::HomeFacts;
use super::row::ListRow;
use crate::homes;
use crate::output::path_name;
use crate::terminal::table::{Cell, Column};
use clap::ValueEnum;
use convo::home::FileKind;
use convo::model::time;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListColumn {
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
    Branch,
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
    Resume,
    Path,
}

/// The columns of sessions in homes, when piped and on a terminal.
pub const HOMES: [ListColumn; 6] = [
    ListColumn::Name,
    ListColumn::Messages,
    ListColumn::Updated,
    ListColumn::Size,
    ListColumn::Project,
    ListColumn::Title,
];

/// The columns when piped. A fifth value is the status of the summarizer.
pub const PIPED: [ListColumn; 4] = [
    ListColumn::Id,
    ListColumn::Messages,
    ListColumn::Updated,
    ListColumn::Title,
];

/// Returns the columns on a terminal: those that have values.
pub fn visible_columns(rows: &[ListRow]) -> Vec<ListColumn> {
    let any = |has: fn(&ListRow) -> bool| rows.iter().any(has);
    let tokens = any(|row| row.overview.tokens.is_some());
    let columns = [
        (ListColumn::ShortId, true),
        (ListColumn::Updated, true),
        (ListColumn::Messages, true),
        (ListColumn::Tokens, tokens),
        (ListColumn::Size, !tokens && any(|row| row.bytes.is_some())),
        (ListColumn::Program, any(|row| row.program().is_some())),
        (ListColumn::Project, any(|row| row.project().is_some())),
        (ListColumn::Title, true),
    ];
    let columns = columns.into_iter().filter(|(_, shows)| *shows);
    columns.map(|(key, _)| key).collect()
}

impl ListColumn {
    /// Returns the column of the table. `chosen` columns are not omitted on a narrow terminal.
    pub fn column(self, chosen: bool) -> Column {
        let column = match self {
            ListColumn::Id | ListColumn::ShortId => Column::text("ID"),
            ListColumn::Name => Column::text("NAME"),
            ListColumn::Title => Column::rest("TITLE"),
            ListColumn::Messages => Column::number("MSGS").needs_width(45),
            ListColumn::Tokens => Column::number("TOKENS").needs_width(60),
            ListColumn::Size => Column::number("SIZE").needs_width(60),
            ListColumn::Project => Column::dim("PROJECT").needs_width(70).at_most(16),
            ListColumn::Cwd => Column::dim("CWD"),
            ListColumn::Branch => Column::dim("BRANCH"),
            ListColumn::Program => Column::dim("PROGRAM").needs_width(80).at_most(12),
            ListColumn::Model => Column::dim("MODEL"),
            ListColumn::Format => Column::dim("FORMAT"),
            ListColumn::Created => Column::dim("CREATED"),
            ListColumn::Updated => Column::dim("UPDATED").needs_width(32),
            ListColumn::Aliases => Column::text("ALIASES"),
            ListColumn::Tags => Column::text("TAGS"),
            ListColumn::Running => Column::text("RUNNING"),
            ListColumn::Archived => Column::text("ARCHIVED"),
            ListColumn::Due => Column::dim("DUE"),
            ListColumn::Subagents => Column::number("SUBAGENTS"),
            ListColumn::Resume => Column::text("RESUME"),
            ListColumn::Path => Column::dim("PATH"),
        };
        if chosen { column.needs_width(0) } else { column }
    }

    /// Returns the value of a row.
    pub fn cell(self, row: &ListRow, is_terminal: bool) -> Cell {
        let text = |text: Option<&str>| Cell::Text(text.unwrap_or_default().to_string());
        let overview = &row.overview;
        let home = row.home.as_deref();
        let yes = |is_so: bool| if is_so { "yes" } else { "no" };
        match self {
            ListColumn::Id => Cell::Id {
                id: row.id.clone(),
                short: row.id.clone(),
                unique: 0,
                depth: row.depth,
            },
            ListColumn::ShortId if is_terminal => Cell::Id {
                id: row.id.clone(),
                short: row.short.clone(),
                unique: row.unique,
                depth: row.depth,
            },
            ListColumn::ShortId => text(Some(&row.short)),
            ListColumn::Name => text(Some(&row.name(is_terminal))),
            ListColumn::Title => Cell::Text(row.title(is_terminal)),
            ListColumn::Messages => Cell::Number(Some(row.messages())),
            ListColumn::Tokens => Cell::Number(overview.tokens.as_ref().map(|(tokens, _)| *tokens)),
            ListColumn::Size => Cell::Bytes(row.bytes),
            ListColumn::Project if row.home.is_some() && !is_terminal => {
                text(overview.cwd.as_deref().or(Some("-")))
            }
            ListColumn::Project => text(row.project()),
            ListColumn::Cwd => text(overview.cwd.as_deref()),
            ListColumn::Branch => text(overview.branch.as_deref()),
            ListColumn::Program => text(row.program()),
            ListColumn::Model => text(overview.model.as_deref()),
            ListColumn::Format => text(Some(row.format())),
            ListColumn::Created => Cell::Time(overview.created.clone()),
            ListColumn::Updated => Cell::Time(overview.updated.clone()),
            ListColumn::Aliases => Cell::Text(row.aliases.join(",")),
            ListColumn::Tags => Cell::Text(overview.tags.join(",")),
            ListColumn::Running => text(home.map(|home| yes(home.session.running.is_some()))),
            ListColumn::Archived => {
                text(home.map(|home| yes(home.session.transcript.kind == FileKind::Archived)))
            }
            ListColumn::Due => Cell::Time(home.and_then(|home| homes::rfc3339(home.session.due?))),
            ListColumn::Subagents => Cell::Number(home.map(|home| home.session.subagents)),
            ListColumn::Resume => text(home.and_then(HomeFacts::resume).as_deref()),
            ListColumn::Path => text(home.map(|home| path_name(home.session.path())).as_deref()),
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
enum SortValue {
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
    pub fn apply(self, rows: Vec<ListRow>, reverse: bool) -> Vec<ListRow> {
        let values: Vec<Option<SortValue>> = rows.iter().map(|row| self.value(row)).collect();
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

    fn value(self, row: &ListRow) -> Option<SortValue> {
        let overview = &row.overview;
        let moment = |time: &Option<String>| time.as_deref().and_then(time::seconds).map(SortValue::Time);
        let text = |text: Option<&str>| text.map(|text| SortValue::Text(text.to_lowercase()));
        match self.key {
            SortKey::Updated => moment(&overview.updated),
            SortKey::Created => moment(&overview.created),
            SortKey::Messages => Some(SortValue::Number(row.messages())),
            SortKey::Tokens => overview
                .tokens
                .as_ref()
                .map(|(tokens, _)| SortValue::Number(*tokens)),
            SortKey::Size => row.bytes.map(SortValue::Number),
            SortKey::Title => text(overview.title.as_ref().map(|title| title.text.as_str())),
            SortKey::Id => Some(SortValue::Text(row.id.clone())),
            SortKey::Project => text(row.project()),
            SortKey::Program => text(row.program()),
            SortKey::Due => row
                .home
                .as_ref()
                .and_then(|home| home.session.due)
                .map(SortValue::Time),
        }
    }
}

/// Reorders the rows. Moves each row once, because rows are large.
pub fn in_order(rows: Vec<ListRow>, order: &[usize]) -> Vec<ListRow> {
    let mut rows: Vec<Option<ListRow>> = rows.into_iter().map(Some).collect();
    order.iter().filter_map(|nth| rows[*nth].take()).collect()
}
