//! Creates a file for `append -i`: a session without messages in the requested format.

use crate::context::Context;
use crate::input::open::OpenInput;
use crate::writing::can_write_back;
use convo::error::{Error, ErrorKind, Result};
use convo::format::native::HeaderBuilder;
use convo::format::{Format, Stream};
use convo::model::key;
use convo::model::session::Session;
use std::path::Path;

/// The initial session of the new file.
///
/// # Errors
/// [`ErrorKind::Usage`] when neither `to` nor the file name determines the format.
pub fn opened(context: &Context, path: &Path, label: &str, to: Option<Format>) -> Result<OpenInput> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let format = match (to, ending) {
        (Some(to), _) => to,
        (None, Some("jsonl" | "ndjson")) => Format::Native,
        (None, _) => {
            let what = "no such file, and no known extension to create one";
            return Err(Error::new(ErrorKind::NotFound, what).hint("create the file with --to FORMAT"));
        }
    };
    let mut session = Session::default();
    if format != Format::Jsonl {
        session.push_new(&header(context, path, format));
    }
    let mut opened = OpenInput {
        label: label.to_string(),
        format,
        stream: Stream::from(vec![session]),
        value: None,
        wrapped: None,
        packed: false,
        never_waits: true,
    };
    // A new file has no source bytes to keep.
    if can_write_back(&opened, format) {
        opened.format = Format::Native;
    }
    Ok(opened)
}

fn header(context: &Context, path: &Path, format: Format) -> Vec<u8> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stem = stem.unwrap_or_default();
    let id = key::id_for_key(&stem);
    let mut header = HeaderBuilder::default();
    if format == Format::Native {
        header.text("created_at", Some(&context.clock.now()));
    }
    header.text("key", (stem != id).then_some(stem.as_str()));
    header.finish(&id)
}
