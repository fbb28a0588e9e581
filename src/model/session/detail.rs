//! Sessions without the long values of messages, for logs that do not fit into memory.

use super::Session;
use crate::model::derived::Detail;
use crate::model::record::Record;
use crate::model::reduced;

impl Session {
    /// An empty session with the same detail.
    pub fn like(&self) -> Session {
        Session {
            detail: match self.detail {
                Detail::Whole => Detail::Whole,
                Detail::Digests(_) => Detail::Digests(Box::default()),
                Detail::Ids => Detail::Ids,
            },
            ..Session::default()
        }
    }

    /// An empty session for lines without the long values of messages; see [`reduced`]. It replays like the complete
    /// session, and its views are equal exactly if those of the complete sessions are.
    pub fn of_digests() -> Session {
        Session {
            detail: Detail::Digests(Box::default()),
            ..Session::default()
        }
    }

    /// An empty session for events and message ids; no ids are derived.
    pub fn of_ids() -> Session {
        Session {
            detail: Detail::Ids,
            ..Session::default()
        }
    }

    /// Appends a line as [`Session::push`] does; if the session is reduced, without the long values of a message. The
    /// first line is kept complete.
    pub fn push_reduced(&mut self, record: &Record<'_>) {
        match &self.detail {
            _ if self.is_empty() || record.message().is_none() => return self.push(record),
            Detail::Whole => return self.push(record),
            Detail::Digests(_) => reduced::reduce_into(record.body, true, &mut self.bytes),
            Detail::Ids => reduced::reduce_into(record.body, false, &mut self.bytes),
        }
        self.bytes.push(b'\n');
        self.end_line(record, self.bytes.len());
    }

    /// Whether messages without an id have a derived one.
    pub fn derives_ids(&self) -> bool {
        !matches!(self.detail, Detail::Ids)
    }

    /// Whether messages may lack their long values.
    pub fn is_reduced(&self) -> bool {
        !matches!(self.detail, Detail::Whole)
    }
}
