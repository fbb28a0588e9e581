//! A reply to a session, and the calls in it answered, until the model calls nothing more.

use crate::ask::Model;
use crate::output::Output;
use crate::reply::Reply;
use crate::tools::Toolbox;
use convo::error::{Error, Kind, Result};
use convo::model::message::ToolCall;
use convo::model::session::Session;

/// Asks, runs what is called, asks again; prints what was said. What fails later than at the first question leaves what was
/// said before: those records are whole, every call in them has its result.
pub fn run(model: &Model<'_>, mut session: Session, tools: &Toolbox, most: u32) -> Result<()> {
    let mut records: Vec<Vec<u8>> = Vec::new();
    let mut ended = Err(Error::new(
        Kind::No,
        format!("the model still calls tools after {most} steps"),
    )
    .hint("what was said is printed, every call answered; --max-steps allows more"));
    for _ in 0..most {
        let reply = match model.ask(&session, &tools.offers) {
            Ok(reply) => reply,
            Err(error) => {
                ended = Err(error);
                break;
            }
        };
        tell_end(&reply, model.output);
        model.output.end_text()?;
        let results = reply.with_calls(|calls| answer(calls, tools, model.output));
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
    if ended.as_ref().is_err_and(|error| error.kind != Kind::No) && !records.is_empty() {
        model.output.tell(&format!(
            "what was said before is printed: {} messages",
            records.len()
        ));
    }
    model.output.records(&records)?;
    ended
}

/// The results of calls; none when there are no calls, or when others are to answer them.
fn answer(calls: &[ToolCall<'_>], tools: &Toolbox, output: &Output) -> Option<Vec<Vec<u8>>> {
    if calls.is_empty() {
        return None;
    }
    let answers = tools.answers(calls);
    for call in calls {
        let waits = if answers {
            ""
        } else {
            ", which waits for its result"
        };
        output.tell(&format!("calls {} {}{waits}", call.name, call.arguments));
    }
    answers.then(|| calls.iter().map(|call| tools.run(call)).collect())
}

fn tell_end(reply: &Reply, output: &Output) {
    if reply.is_cut() {
        output.tell(&format!(
            "the reply was cut at its longest ({}); --max-tokens allows more",
            reply.stop_reason
        ));
    } else if reply.is_filtered() {
        output.tell(&format!(
            "the service kept back a part of it ({})",
            reply.stop_reason
        ));
    }
}
