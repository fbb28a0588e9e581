//! Keeping question and answer: in one piece, or not at all.

use super::asking::{Answered, Asking};
use crate::args::{Changing, Input, Reading};
use crate::change;
use crate::context::named;
use crate::inputs::sessions_of;
use crate::output::{counted, visible};
use crate::remember;
use crate::stamps::{Place, Stamps};
use convo::error::{Error, Kind};
use convo::filter::Plan;
use convo::format::report::Report;
use std::collections::VecDeque;
use std::io::IsTerminal;

/// How often it is tried when the session grows meanwhile.
const TRIES: u32 = 50;

/// A session of the store. Gives back how many messages were added.
pub fn in_store(mut asking: Asking<'_>, name: &str, boundary: Option<u64>) -> anyhow::Result<u64> {
    let context = asking.context;
    let store = context.store()?;
    let id = store.resolve(name)?;
    let mut report = Report::default();
    let session = store.load(&id, &mut report)?;
    let damaged = report.is_damaged();
    context.output.report(name, &mut report);
    if asking.strict && damaged {
        return Err(named(crate::context::stopped(), name).into());
    }
    let stamps = Stamps::new(context, &session, Place::Store);
    let answered = asking.ask(&session, &stamps, name)?;
    let _ = boundary;
    for _ in 0..TRIES {
        let (session, length) = store.load_with_length(&id, &mut Report::default())?;
        let stamps = Stamps::new(context, &session, Place::Store);
        let lines = asking
            .added(&session, &stamps, &answered)
            .map_err(|error| named(error, name))?;
        let planned = remember::added(context, &session, lines.clone(), String::new(), &stamps);
        let Plan::Lines(planned, told) = planned.map_err(|error| named(error, name))? else {
            return Err(named(Error::new(Kind::Locked, "there is nothing to add"), name).into());
        };
        let borrowed: Vec<&[u8]> = planned.iter().map(Vec::as_slice).collect();
        let done = store.append_to(&id, &borrowed, length);
        if done.map_err(|error| named(error, name))? {
            let more = session.len().saturating_sub(answered.lines);
            if !told.is_empty() {
                context.output.tell(name, &told);
            }
            tell_meanwhile(&asking, name, more);
            print(&asking, name, &lines, &answered)?;
            return Ok(lines.len() as u64);
        }
    }
    let error = Error::new(Kind::Locked, "it changes faster than it can be read");
    Err(named(error, name).into())
}

/// A file or a stream. Gives back how many messages were added.
pub fn elsewhere(
    mut asking: Asking<'_>,
    input: &Input,
    reading: &Reading,
    changing: &Changing,
) -> anyhow::Result<u64> {
    let context = asking.context;
    let label = input.label();
    // A file that is replaced is locked meanwhile: it is asked before.
    let mut waiting = VecDeque::new();
    if changing.in_place.is_some() {
        let opened = context.open(input, reading)?;
        sessions_of(context, opened, reading.strict, |session| {
            let stamps = Stamps::new(context, &session, Place::Stream);
            let mut answered = asking.ask(&session, &stamps, &label)?;
            answered.question = None;
            waiting.push_back(answered);
            Ok(())
        })?;
    }
    let mut done: Vec<(Vec<Vec<u8>>, Answered)> = Vec::new();
    let mut meanwhile = 0;
    let mut failed = None;
    let ran = change::run(
        context,
        std::slice::from_ref(input),
        reading,
        changing,
        |session, stamps| {
            let answered =
                match (&changing.in_place, waiting.pop_front()) {
                    (Some(_), Some(mut answered)) => {
                        answered.question = asking.question(session, stamps)?;
                        answered
                    }
                    (Some(_), None) => {
                        return Err(Error::new(Kind::Locked, "it was replaced meanwhile")
                            .hint("nothing was stored: ask again"));
                    }
                    (None, _) => asking.ask(session, stamps, &label).map_err(|error| {
                        match error.downcast::<Error>() {
                            Ok(error) => error,
                            Err(error) => {
                                let stand_in = Error::new(Kind::InputOutput, error.to_string());
                                failed = Some(error);
                                stand_in
                            }
                        }
                    })?,
                };
            meanwhile += session.len().saturating_sub(answered.lines);
            let lines = asking.added(session, stamps, &answered)?;
            let planned = remember::added(context, session, lines.clone(), String::new(), stamps)?;
            done.push((lines, answered));
            Ok(planned)
        },
    );
    if let Some(error) = failed {
        return Err(error);
    }
    ran?;
    tell_meanwhile(&asking, &label, meanwhile);
    let mut count = 0;
    for (lines, answered) in &done {
        count += lines.len() as u64;
        if asking.shows {
            print(&asking, &label, lines, answered)?;
        } else {
            tell_open(&asking, &label, answered);
        }
    }
    Ok(count)
}

/// What was added while the reply was thought about stands before the question.
fn tell_meanwhile(asking: &Asking<'_>, label: &str, lines: usize) {
    if lines > 0 {
        let lines = counted(lines as u64, "line");
        let what =
            format!("{lines} came while the reply was thought about: question and answer stand behind");
        asking.context.output.tell(label, &what);
    }
}

fn tell_open(asking: &Asking<'_>, label: &str, answered: &Answered) {
    for open in &answered.reply.open {
        let what = format!(
            "it calls {}, and waits for the result of the call {:?}",
            open.name, open.id
        );
        asking.context.output.tell(label, &what);
    }
}

/// What is kept can be printed.
fn print(asking: &Asking<'_>, label: &str, lines: &[Vec<u8>], answered: &Answered) -> anyhow::Result<()> {
    let output = &asking.context.output;
    if asking.json {
        let lines: Vec<_> = lines.iter().map(|line| String::from_utf8_lossy(line)).collect();
        output.print_done(&lines.join("\n"))?;
    } else if !answered.shown && !answered.reply.text.is_empty() {
        let text = &answered.reply.text;
        match std::io::stdout().is_terminal() {
            true => output.print_done(&visible(text))?,
            false => output.print_done(text)?,
        }
    }
    tell_open(asking, label, answered);
    Ok(())
}
