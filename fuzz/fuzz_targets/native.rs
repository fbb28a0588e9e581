//! Reading lines returns every byte, except for packed sessions, which are unpacked; the view of any log can be
//! replayed and materialized.
#![no_main]

use convo::filter::materialize::materialize;
use convo::format::native::NativeReader;
use convo::format::report::Report;
use convo::format::{Reader, Sessions, Stream, packed};
use convo::error::Position;
use convo::model::record::Record;
use convo::model::stats::Stats;
use convo::model::view::View;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut reader = NativeReader::new(Vec::new(), bytes);
    let mut report = Report::default();
    let mut back = Vec::new();
    let whole = loop {
        match reader.next(&mut report) {
            Ok(Some(record)) => back.extend_from_slice(record.full),
            Ok(None) => break true,
            Err(_) => break false, // a newer version
        }
    };
    let place = Position { line: 1, offset: 1 };
    let is_packed = |line: &[u8]| packed::unpack(&Record::parse(line, place)).is_some();
    let packed = bytes.split_inclusive(|byte| *byte == b'\n').any(is_packed);
    assert!(!whole || packed || back == bytes);
    let mut sessions = Sessions::new(Stream::Records(Box::new(NativeReader::new(Vec::new(), bytes))));
    while let Ok(Some(session)) = sessions.next(&mut report) {
        let view = View::replay(&session);
        Stats::of(&session);
        assert!(materialize(&session, &view, &mut Vec::new()).is_ok());
    }
});
