//! Conversations of versions before threads: one row per response, with the prompt that it answers.

use super::super::database::{self, Database, number, time};
use super::super::session_lines;
use super::super::system::SystemRow;
use super::message::{self, NAME, OpenCallIds};
use super::turn::{self, TurnMetadata};
use super::{attachment, threads};
use convo::error::Result;
use convo::format::report::{Loss, Report};
use convo::format::workspace::Workspace;
use convo::model::json::{ObjectBuilder, array, quoted};
use convo::model::session::Session;

/// Whether the tables of responses exist.
pub fn have_tables(database: &Database) -> Result<bool> {
    let has = |table: &str, columns: &[&str]| -> Result<bool> {
        let there = database.columns(table)?;
        Ok(columns
            .iter()
            .all(|name| there.iter().any(|column| column == name)))
    };
    Ok(has("conversations", &["id", "name"])?
        && has(
            "responses",
            &[
                "id", "model", "prompt", "system", "response", "conversation_id", "datetime_utc",
            ],
        )?)
}

/// Tables with data of a response.
const RESPONSE_TABLES: [&str; 5] = [
    "tool_calls", "tool_results", "prompt_attachments", "prompt_fragments", "system_fragments",
];

/// Returns the conversations that are not threads, and the responses without a conversation, by id.
pub fn rows(database: &Database) -> Result<Vec<SystemRow>> {
    database.by("responses", "conversation_id")?;
    for table in RESPONSE_TABLES {
        if !database.columns(table)?.is_empty() {
            database.by(table, "response_id")?;
        }
    }
    let (first, other) = match threads::have_tables(database)? {
        true => (
            "WHERE id NOT IN (SELECT id FROM threads)",
            "AND id NOT IN (SELECT id FROM turns)",
        ),
        false => ("", ""),
    };
    // A response whose conversation was deleted represents it.
    let query = format!(
        "SELECT id, NULL, name FROM conversations {first}
         UNION ALL SELECT conversation_id, NULL, NULL FROM responses WHERE conversation_id IS NOT NULL {other}
           AND conversation_id NOT IN (SELECT id FROM conversations) GROUP BY conversation_id
         UNION ALL SELECT id, datetime_utc, NULL FROM responses WHERE conversation_id IS NULL {other}
         ORDER BY 1"
    );
    let mut rows = database.all(&query, &[], |row| {
        Ok(SystemRow {
            id: database::text(row, 0)?.unwrap_or_default(),
            time: time(row, 1)?,
            title: database::text(row, 2)?,
            ..SystemRow::default()
        })
    })?;
    let (from, key) = database.by("responses", "conversation_id")?;
    let times = format!("SELECT min(t.datetime_utc), max(t.datetime_utc) FROM {from} WHERE {key} = ?1");
    for row in rows.iter_mut().filter(|row| row.time.is_none()) {
        let found = database.first(&times, &[&row.id], |row| Ok((time(row, 0)?, time(row, 1)?)))?;
        (row.time, row.updated) = found.unwrap_or_default();
    }
    Ok(rows)
}

/// Returns the FROM clause for the responses of a row.
fn of(database: &Database) -> Result<String> {
    let (from, key) = database.by("responses", "conversation_id")?;
    Ok(format!(
        "{from} WHERE {key} = ?1 UNION ALL SELECT {{columns}} FROM responses t WHERE t.id = ?1 AND t.conversation_id IS NULL"
    ))
}

fn all(database: &Database, columns: &str) -> Result<String> {
    let of = of(database)?.replace("{columns}", columns);
    Ok(format!("SELECT {columns} FROM {of}"))
}

/// Returns the size of the texts of a conversation in bytes.
pub fn bytes(database: &Database, row: &SystemRow) -> Result<u64> {
    let own = "octet_length(coalesce(t.prompt, '')) + octet_length(coalesce(t.system, '')) + \
               octet_length(coalesce(t.response, '')) AS own";
    let query = format!("SELECT sum(own) FROM ({})", all(database, own)?);
    let bytes = database.first(&query, &[&row.id], |row| number(row, 0))?;
    Ok(bytes.flatten().map_or(0, i64::unsigned_abs))
}

/// A response and its prompt.
struct Response {
    id: String,
    prompt: String,
    system: String,
    response: String,
    reasoning: String,
    turn: TurnMetadata,
    /// Whether the database also contains the raw request.
    is_traced: bool,
}

fn responses(database: &Database, row: &SystemRow) -> Result<Vec<Response>> {
    let there = database.columns("responses")?;
    let later = ["reasoning", "prompt_json"].map(|name| match there.iter().any(|column| column == name) {
        true => format!("t.{name}"),
        false => "NULL".to_string(),
    });
    let columns = format!(
        "t.id, t.prompt, t.system, t.response, {}, {}",
        later.join(", "),
        turn::columns(database, "responses")?
    );
    let query = format!("{} ORDER BY 1", all(database, &columns)?);
    database.all(&query, &[&row.id], |row| {
        let text = |column| Ok::<_, rusqlite::Error>(database::text(row, column)?.unwrap_or_default());
        Ok(Response {
            id: text(0)?,
            prompt: text(1)?,
            system: text(2)?,
            response: text(3)?,
            reasoning: text(4)?,
            is_traced: turn::filled(row, 5)?.is_some(),
            turn: TurnMetadata::read(row, 6, ObjectBuilder::default())?,
        })
    })
}

/// Converts a conversation.
pub fn session(database: &Database, row: &SystemRow, report: &mut Report) -> Result<Session> {
    let mut session = Session::default();
    let (own, nowhere) = (ObjectBuilder::default(), Workspace::default());
    let header = session_lines::header(database, (NAME, NAME), row, 0, None, own, &nowhere);
    session.push_new(&header);
    let mut open = OpenCallIds::default();
    for response in responses(database, row)? {
        // The raw request repeats the whole history.
        report.count_loss(Loss::Metadata, u64::from(response.is_traced));
        for record in records(database, &response, &mut open, report)? {
            session.push_new(&record);
        }
    }
    Ok(session)
}

fn records(
    database: &Database,
    response: &Response,
    open: &mut OpenCallIds,
    report: &mut Report,
) -> Result<Vec<Vec<u8>>> {
    let mut records = Vec::new();
    let mut push = |role: &str, which: &str, content: Vec<u8>| {
        let mut message = ObjectBuilder::default();
        message
            .text("role", role)
            .raw("content", content)
            .text("id", &format!("{}.{which}", response.id));
        if let Some(time) = &response.turn.time {
            message.text("timestamp", time);
        }
        records.push(message.finish());
    };
    // Joined as llm does: llm/models.py, class Prompt.
    let mut system = fragments(database, "system_fragments", &response.id)?;
    system.push(response.system.clone());
    let system: Vec<&str> = system
        .iter()
        .map(|text| text.trim())
        .filter(|text| !text.is_empty())
        .collect();
    if !system.is_empty() {
        // A single text is not trimmed.
        let text = if system.len() == 1 && !response.system.trim().is_empty() {
            response.system.clone()
        } else {
            system.join("\n\n")
        };
        push("system", "system", quoted(&text));
    }
    let results = results(database, response, open, report)?;
    let mut prompt = fragments(database, "prompt_fragments", &response.id)?;
    if !response.prompt.is_empty() {
        prompt.push(response.prompt.clone());
    }
    let attached = attachments(
        database, "prompt_attachments", "response_id", &response.id, report,
    )?;
    let mut later = Vec::new();
    if !prompt.is_empty() || !attached.is_empty() {
        let mut message = ObjectBuilder::default();
        message
            .text("role", "user")
            .raw(
                "content",
                message::with_attachments(quoted(&prompt.join("\n")), &attached),
            )
            .text("id", &format!("{}.prompt", response.id));
        if let Some(time) = &response.turn.time {
            message.text("timestamp", time);
        }
        later.push(message.finish());
    }
    later.push(answer(database, response, open)?);
    records.extend(results);
    records.extend(later);
    Ok(records)
}

fn has_table(database: &Database, table: &str) -> Result<bool> {
    Ok(!database.columns(table)?.is_empty())
}

/// Reads the fragments of a response.
fn fragments(database: &Database, table: &str, response: &str) -> Result<Vec<String>> {
    if !has_table(database, table)? {
        return Ok(Vec::new());
    }
    let (from, key) = database.by(table, "response_id")?;
    let query = format!(
        "SELECT f.content FROM {from} JOIN main.fragments f ON f.id = t.fragment_id WHERE {key} = ?1 ORDER BY t.\"order\""
    );
    let found = database.all(&query, &[response], |row| database::text(row, 0))?;
    Ok(found.into_iter().flatten().collect())
}

/// Reads the attachments of a response or a result.
fn attachments(
    database: &Database,
    table: &str,
    column: &str,
    of: &str,
    report: &mut Report,
) -> Result<Vec<Vec<u8>>> {
    if !has_table(database, table)? {
        return Ok(Vec::new());
    }
    let (from, key) = database.by(table, column)?;
    let columns: Vec<String> = attachment::COLUMNS
        .split(", ")
        .map(|name| format!("a.{name}"))
        .collect();
    let query = format!(
        "SELECT {} FROM {from} JOIN main.attachments a ON a.id = t.attachment_id WHERE {key} = ?1 ORDER BY t.\"order\"",
        columns.join(", ")
    );
    let found = database.all(&query, &[of], |row| attachment::of_row(row, 0))?;
    Ok(found
        .iter()
        .map(|one| attachment::part(Some(one), report))
        .collect())
}

/// Returns the tool results that were sent with a prompt.
fn results(
    database: &Database,
    response: &Response,
    open: &mut OpenCallIds,
    report: &mut Report,
) -> Result<Vec<Vec<u8>>> {
    if !has_table(database, "tool_results")? {
        return Ok(Vec::new());
    }
    let (from, key) = database.by("tool_results", "response_id")?;
    let failure = match database
        .columns("tool_results")?
        .iter()
        .any(|name| name == "exception")
    {
        true => "t.exception",
        false => "NULL",
    };
    let query = format!(
        "SELECT t.name, t.output, t.tool_call_id, {failure}, t.id FROM {from} WHERE {key} = ?1 ORDER BY t.id"
    );
    let found = database.all(&query, &[&response.id], |row| {
        let text = |column| database::text(row, column);
        Ok(([text(0)?, text(1)?, text(2)?, text(3)?], number(row, 4)?))
    })?;
    let mut records = Vec::new();
    for (nth, ([name, output, call, failure], id)) in found.into_iter().enumerate() {
        let name = name.unwrap_or_default();
        let call = call.or_else(|| open.result(&name)).unwrap_or_default();
        let attached = match id {
            Some(id) => attachments(
                database,
                "tool_results_attachments",
                "tool_result_id",
                &id.to_string(),
                report,
            )?,
            None => Vec::new(),
        };
        let mut message = ObjectBuilder::default();
        message
            .text("role", "tool")
            .text("tool_call_id", &call)
            .text("name", &name)
            .raw(
                "content",
                message::with_attachments(quoted(&output.unwrap_or_default()), &attached),
            )
            .text("id", &format!("{}.result.{nth}", response.id));
        if let Some(time) = &response.turn.time {
            message.text("timestamp", time);
        }
        let mut own = ObjectBuilder::default();
        if let Some(failure) = &failure {
            own.text("exception", failure);
        }
        records.push(message::finished(message, own, failure.is_some()));
    }
    Ok(records)
}

/// Converts the reply of the model.
fn answer(database: &Database, response: &Response, open: &mut OpenCallIds) -> Result<Vec<u8>> {
    let mut calls = Vec::new();
    if has_table(database, "tool_calls")? {
        let (from, key) = database.by("tool_calls", "response_id")?;
        let query =
            format!("SELECT t.name, t.arguments, t.tool_call_id FROM {from} WHERE {key} = ?1 ORDER BY t.id");
        let found = database.all(&query, &[&response.id], |row| {
            let text = |column| database::text(row, column);
            Ok([text(0)?, text(1)?, text(2)?])
        })?;
        for (nth, [name, arguments, call]) in found.into_iter().enumerate() {
            let name = name.unwrap_or_default();
            let call = call.unwrap_or_else(|| open.call(&name, &format!("{}\n{nth}", response.id)));
            let arguments = quoted(&arguments.unwrap_or_default());
            calls.push(message::encode_call(&call, &name, &arguments));
        }
    }
    let mut built = ObjectBuilder::default();
    built.text("role", "assistant");
    match response.response.is_empty() && !calls.is_empty() {
        true => built.raw("content", "null"),
        false => built.text("content", &response.response),
    };
    built.text("id", &response.id);
    if !calls.is_empty() {
        built.raw("tool_calls", array(&calls));
    }
    if !response.reasoning.is_empty() {
        built.raw(
            "reasoning",
            array(&[super::part::reasoning_part(Some(&response.reasoning), b"{}")]),
        );
    }
    let mut own = ObjectBuilder::default();
    response.turn.add_metadata(&mut built, &mut own);
    Ok(message::finished(built, own, false))
}
