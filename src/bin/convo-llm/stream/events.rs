//! Parses server-sent events, independent of network packet boundaries.
//! Source: HTML Living Standard, 9.2 Server-sent events.

use convo::model::record::without_mark;

/// An incremental parser of events.
#[derive(Debug, Default)]
pub struct Events {
    /// Received bytes.
    bytes: Vec<u8>,
    /// How many of them were parsed.
    at: usize,
    /// Up to where no line end was found.
    searched: usize,
    /// The data of the current event.
    data: Option<Vec<u8>>,
    /// Whether anything was parsed; a byte order mark can only come first.
    begun: bool,
}

impl Events {
    /// Adds received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.at);
        self.searched -= self.at;
        self.at = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The data of the next complete event.
    pub fn next(&mut self) -> Option<Vec<u8>> {
        while let Some(line) = self.line() {
            if line.is_empty() {
                if let Some(data) = self.data.take() {
                    return Some(data);
                }
                continue;
            }
            self.field(&line);
        }
        None
    }

    /// The data of an event that the end of the stream cut off.
    pub fn take_unfinished(&mut self) -> Option<Vec<u8>> {
        let line = self.bytes.split_off(self.at);
        self.bytes.clear();
        self.at = 0;
        self.field(line.strip_suffix(b"\r").unwrap_or(&line));
        self.data.take()
    }

    /// The next line without its ending: a line feed, a carriage return, or both.
    fn line(&mut self) -> Option<Vec<u8>> {
        let rest = &self.bytes[self.searched..];
        let found = memchr::memchr2(b'\n', b'\r', rest).map(|at| self.searched + at);
        let Some(end) = found else {
            self.searched = self.bytes.len();
            return None;
        };
        let after = match (self.bytes[end], self.bytes.get(end + 1)) {
            (b'\n', _) => end + 1,
            (_, Some(b'\n')) => end + 2,
            (_, Some(_)) => end + 1,
            // A line feed may still follow the carriage return.
            (_, None) => {
                self.searched = end;
                return None;
            }
        };
        let line = &self.bytes[self.at..end];
        let line = match self.begun {
            true => line,
            false => without_mark(line),
        };
        let line = line.to_vec();
        self.begun = true;
        self.at = after;
        self.searched = after;
        Some(line)
    }

    fn field(&mut self, line: &[u8]) {
        let Some(value) = line.strip_prefix(b"data") else {
            return; // a comment or an unused field; the data contains the event type
        };
        let value = match value {
            [] => value,
            [b':', b' ', value @ ..] | [b':', value @ ..] => value,
            _ => return,
        };
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\u{feff}: hello\r\nevent: a\r\ndata: {\"x\":\"\u{e9}\"}\r\n\r\ndata:1\ndata: 2\n\nid: 7\n\rdata\n\ndatabase: x\n\ndata: [DONE]";

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        let mut found = Vec::new();
        for piece in pieces {
            events.push(piece);
            while let Some(data) = events.next() {
                found.push(String::from_utf8(data).unwrap());
            }
        }
        found.extend(
            events
                .take_unfinished()
                .map(|data| String::from_utf8(data).unwrap()),
        );
        found
    }

    #[test]
    fn chunk_boundaries_do_not_matter() {
        let expected = ["{\"x\":\"\u{e9}\"}", "1\n2", "", "[DONE]"];
        let bytes = TEXT.as_bytes();
        assert_eq!(read(&[bytes]), expected);
        for size in 1..9 {
            assert_eq!(read(&bytes.chunks(size).collect::<Vec<_>>()), expected, "{size}");
        }
        for at in 0..bytes.len() {
            assert_eq!(read(&[&bytes[..at], &bytes[at..]]), expected, "{at}");
        }
    }
}
