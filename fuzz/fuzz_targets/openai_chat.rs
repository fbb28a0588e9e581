//! Reading never panics and produces lines of the record stream.
#![no_main]

use convo::format::report::Report;
use convo::format::{Format, DocumentSource, convert};
use convo::model::view::View;

libfuzzer_sys::fuzz_target!(|input: (&[u8], Option<&[u8]>)| {
    let (bytes, beside) = input;
    let neighbour = |_: &str| Ok(beside.map(<[u8]>::to_vec));
    let source = DocumentSource { name: Some("chat.json"), bytes, neighbor: &neighbour };
    for session in convert(Format::OpenaiChat, &source, &mut Report::default()).unwrap_or_default() {
        View::replay(&session);
        assert!((0..session.len()).all(|index| session.full(index).ends_with(b"\n")));
    }
});
