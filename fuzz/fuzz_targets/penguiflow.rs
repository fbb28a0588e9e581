//! Reading never panics; writing a session, then reading and writing it again, gives equal bytes.
#![no_main]

use convo::format::report::Report;
use convo::format::{Format, WritePurpose, DocumentSource, convert, write};
use convo::model::view::View;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let source = DocumentSource::alone(bytes);
    for session in convert(Format::Penguiflow, &source, &mut Report::default()).unwrap_or_default() {
        assert!((0..session.len()).all(|index| session.full(index).ends_with(b"\n")));
        let view = View::replay(&session);
        let mut once = Vec::new();
        if write(Format::Penguiflow, &session, &view, WritePurpose::Return, &mut once, &mut Report::default()).is_err() {
            continue; // its configuration is invalid
        }
        let again = convert(Format::Penguiflow, &DocumentSource::alone(&once), &mut Report::default()).unwrap();
        let mut twice = Vec::new();
        let view = View::replay(&again[0]);
        write(Format::Penguiflow, &again[0], &view, WritePurpose::Return, &mut twice, &mut Report::default()).unwrap();
        assert_eq!(once, twice);
    }
});
