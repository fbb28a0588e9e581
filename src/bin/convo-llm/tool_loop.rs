//! Replies to a session, with tool calls answered, until the model makes no further call.

use crate::ask::ModelClient;
use crate::output::Output;
use crate::reply::ModelReply;
use crate::tools::Toolbox;
use convo::error::{Error, ErrorKind, Result};
use convo::model::message::ToolCall;
use convo::model::session::Session;

/// Requests replies and runs the tools that they call, then prints all records. If a later request fails, prints the
/// records so far: they are complete, and every call in them has its result.
pub fn run(model: &ModelClient<'_>, mut session: Session, tools: &Toolbox, most: u32) -> Result<()> {
    let mut records: Vec<Vec<u8>> = Vec::new();
    let mut ended = Err(Error::new(
        ErrorKind::No,
        format!("the model still calls tools after {most} requests"),
    )
    .hint("the messages so far are printed, with every call answered; raise --max-steps"));
    let mut answered = 0;
    for _ in 0..most {
        let reply = match model.ask(&session, &tools.offers) {
            Ok(reply) => reply,
            Err(error) => {
                ended = Err(error);
                break;
            }
        };
        report_end(&reply, model.output);
        model.output.end_text()?;
        let results = reply.with_calls(|calls| answer(calls, tools, &mut answered, model.output));
        for record in reply.records.iter().chain(results.iter().flatten()) {
            session.push_new(record);
        }
        records.extend(reply.records);
        match results {
            Some(results) => records.extend(results),
            None => {
                ended = Ok(());
                break;
            }
        }
    }
    if ended.as_ref().is_err_and(|error| error.kind != ErrorKind::No) && !records.is_empty() {
        model
            .output
            .print_notice(&format!("printing the {} messages so far", records.len()));
    }
    model.output.records(&records)?;
    ended
}

/// The results of calls; `None` without calls, or if the caller answers them.
fn answer(
    calls: &[ToolCall<'_>],
    tools: &Toolbox,
    answered: &mut usize,
    output: &Output,
) -> Option<Vec<Vec<u8>>> {
    if calls.is_empty() {
        return None;
    }
    let answers = tools.answers(calls);
    let over = if answers {
        tools.over_limit(calls.len(), *answered)
    } else {
        0
    };
    for call in &calls[..calls.len() - over] {
        let waits = if answers { "" } else { " (no result yet)" };
        output.print_notice(&format!("calls {} {}{waits}", call.name, call.arguments));
    }
    if over > 0 {
        output.print_notice(&format!(
            "{over} more calls are not run; raise --max-calls or --max-total-calls"
        ));
    }
    answers.then(|| tools.run_all(calls, answered))
}

fn report_end(reply: &ModelReply, output: &Output) {
    if reply.is_cut() {
        output.print_notice(&format!(
            "the reply reached its maximum length ({}); raise --max-tokens",
            reply.stop_reason
        ));
    } else if reply.is_filtered() {
        output.print_notice(&format!(
            "the service withheld part of the reply ({})",
            reply.stop_reason
        ));
    }
}
