//! The report of a relocation.

use super::databases::RelocatedDatabase;
use crate::args::TimeOptions;
use crate::context::Context;
use crate::output::path_name;
use crate::terminal::table::{Cell, Column, Table};
use crate::terminal::time_format::Times;
use convo::home::relocation::HomePlan;
use serde_json::json;
use std::path::PathBuf;

/// A change of a file or directory.
pub struct RelocationRow {
    program: &'static str,
    path: PathBuf,
    /// Its new path.
    to: Option<PathBuf>,
    /// The changed members, and their numbers of changes.
    members: Vec<(String, u64)>,
}

impl RelocationRow {
    /// Returns the changes in a home.
    pub fn all(
        program: &'static str,
        plan: &HomePlan,
        databases: &[RelocatedDatabase],
    ) -> Vec<RelocationRow> {
        let row = |path: &PathBuf| RelocationRow {
            program,
            path: path.clone(),
            to: None,
            members: Vec::new(),
        };
        let moves = plan.moves.iter().map(|(from, to)| RelocationRow {
            to: Some(to.clone()),
            ..row(from)
        });
        let files = plan.files.iter().map(|file| RelocationRow {
            members: file
                .counts
                .members
                .iter()
                .map(|(name, count)| (name.to_string(), *count))
                .collect(),
            ..row(&file.path)
        });
        let databases = databases.iter().map(|database| RelocationRow {
            members: database.counts.clone(),
            ..row(&database.path)
        });
        moves.chain(files).chain(databases).collect()
    }

    fn count(&self) -> u64 {
        self.members.iter().map(|(_, count)| count).sum()
    }

    fn what(&self) -> String {
        match &self.to {
            Some(to) => format!("renamed: {}", path_name(to)),
            None => {
                let names: Vec<&str> = self.members.iter().map(|(name, _)| name.as_str()).collect();
                names.join(", ")
            }
        }
    }

    fn object(&self, is_done: bool) -> String {
        let members: serde_json::Map<String, serde_json::Value> = self
            .members
            .iter()
            .map(|(name, count)| (name.clone(), json!(count)))
            .collect();
        json!({
            "schema": "convo.relocated/1", "program": self.program, "path": path_name(&self.path),
            "to": self.to.as_deref().map(path_name), "members": members, "written": is_done,
        })
        .to_string()
    }
}

const COLUMNS: [Column; 4] = [
    Column::text("PROGRAM"),
    Column::number("COUNT"),
    Column::text("CHANGE"),
    Column::rest("FILE"),
];

/// The options of the output.
pub struct RelocationReport {
    pub is_done: bool,
    pub json: bool,
}

impl RelocationReport {
    /// Prints an object per change, or a table.
    pub fn print(&self, context: &Context, rows: &[RelocationRow]) -> anyhow::Result<()> {
        let output = &context.output;
        if self.json {
            return output.done(output.rows(false, rows.iter().map(|row| row.object(self.is_done))));
        }
        if output.is_quiet() {
            return Ok(());
        }
        let cells = rows.iter().map(|row| {
            vec![
                Cell::Text(row.program.to_string()),
                Cell::Number(row.to.is_none().then(|| row.count())),
                Cell::Text(row.what()),
                Cell::Text(path_name(&row.path)),
            ]
        });
        let times = Times::new(TimeOptions::default(), &context.clock);
        let printed = Table::new(&COLUMNS, &times).print(output, cells);
        if self.is_done {
            output.done(printed)
        } else {
            printed
        }
    }
}
