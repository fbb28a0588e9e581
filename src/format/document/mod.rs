//! Reads documents of the providers' APIs: an array of messages, items or contents; the body of a request or response;
//! or several of those in an array or one per line.

mod body;
mod many;
mod reader;

pub use many::{DocumentSection, SectionRule, open, open_all, open_sections};
pub use reader::read;

/// Members of a `FormatSpec` that the formats of all APIs share.
macro_rules! spec {
    ($api:ident) => {
        $crate::format::FormatSpec {
            name: Api::$api.name(),
            read: $crate::format::ReadFn::Document(|source, report| {
                $crate::format::document::read(Api::$api, Format::$api, source, report)
            }),
            many: Some(|input| $crate::format::document::open(Api::$api, Format::$api, input)),
            session_count: $crate::format::SessionCount::Many,
            write_back: Some(|sessions, out, report| {
                $crate::format::request::write_back(Api::$api, sessions, out, report)
            }),
            write: Some(|session, view, target| {
                $crate::format::request::write(Api::$api, session, view, target)
            }),
            api: Some(Api::$api),
            ..$crate::format::FormatSpec::BLANK
        }
    };
}
pub(super) use spec;
