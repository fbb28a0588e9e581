//! Reading the elements of an array never panics and returns every byte once, in order.
#![no_main]

use convo::format::array::ElementReader;

libfuzzer_sys::fuzz_target!(|input: (u8, &[u8])| {
    let (head, bytes) = input;
    let (head, rest) = bytes.split_at(usize::from(head).min(bytes.len()));
    let mut reader = ElementReader::new(head.to_vec(), rest);
    let mut back = Vec::new();
    while let Ok(Some(element)) = reader.next_element() {
        back.extend_from_slice(element.before);
        assert_eq!(element.place.offset, back.len() as u64);
        back.extend_from_slice(element.bytes);
    }
    back.extend_from_slice(reader.tail());
    back.extend_from_slice(reader.into_parts().1);
    assert_eq!(back, bytes);
});
