//! Reading any format never panics and produces lines of the record stream; writing them in any format never panics.
#![no_main]

use convo::format::detect::{Hints, detect};
use convo::format::report::Report;
use convo::format::{Format, WritePurpose, DocumentSource, convert, write};
use convo::model::view::View;

libfuzzer_sys::fuzz_target!(|input: (u8, u8, &[u8])| {
    let (from, to, bytes) = input;
    let format = |which: u8| Format::ALL[usize::from(which) % Format::ALL.len()];
    detect(bytes, true, Hints::default());
    let mut report = Report::default();
    for session in convert(format(from), &DocumentSource::alone(bytes), &mut report).unwrap_or_default() {
        assert!((0..session.len()).all(|index| session.full(index).ends_with(b"\n")));
        let view = View::replay(&session);
        let _ = write(format(to), &session, &view, WritePurpose::Export, &mut Vec::new(), &mut report);
    }
});
