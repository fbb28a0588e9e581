//! Reading API requests never panics and produces lines of the record stream; writing them for any API never panics.
#![no_main]

use convo::format::report::Report;
use convo::format::request::{Api, elements, read};
use convo::format::{Format, WritePurpose, DocumentSource, convert, write};
use convo::model::view::View;

libfuzzer_sys::fuzz_target!(|input: (u8, &[u8])| {
    let (which, bytes) = input;
    let api = Api::ALL[usize::from(which) % Api::ALL.len()];
    let format = Format::ALL.into_iter().find(|format| format.api() == Some(api)).unwrap_or(Format::OpenaiChat);
    for unit in read(api, &[bytes, bytes]) {
        assert!(unit.elements.end <= 2);
    }
    let mut report = Report::default();
    for session in convert(format, &DocumentSource::alone(bytes), &mut report).unwrap_or_default() {
        assert!((0..session.len()).all(|index| session.full(index).ends_with(b"\n")));
        let view = View::replay(&session);
        for api in Api::ALL {
            let request = elements(api, &session, &view, &mut report).unwrap_or_default();
            assert!(request.elements.iter().all(|element| !element.items.is_empty()));
        }
        let _ = write(format, &session, &view, WritePurpose::Return, &mut Vec::new(), &mut report);
    }
});
