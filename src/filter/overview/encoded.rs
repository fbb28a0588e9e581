//! Encodes an overview for a cache. The encoding has no version number; the cache has one.

use super::Overview;

impl Overview {
    /// Encodes the overview.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap_or_default()
    }

    /// Decodes an overview; none if the bytes are invalid.
    pub fn decode(bytes: &[u8]) -> Option<Overview> {
        let (overview, rest) = postcard::take_from_bytes(bytes).ok()?;
        rest.is_empty().then_some(overview)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::overview::{Title, TitleSource};
    use crate::model::health::Health;
    use crate::model::key;

    #[test]
    fn an_overview_survives_its_encoding() {
        let text = |text: &str| Some(text.to_string());
        let overview = Overview {
            id: text("s"),
            title: Some(Title {
                text: "T\n\u{1b}".to_string(),
                from: TitleSource::Summary,
            }),
            messages: 12,
            view: 3,
            tokens: Some((312, String::new())),
            updated: text("2026-11-20T18:02:03Z"),
            branch: text("main"),
            continued_to: vec!["t".to_string(), String::new()],
            tags: vec!["a".to_string()],
            damaged: true,
            health: Health {
                failures: 2,
                turn_since: true,
                next_attempt_at: text("2026-11-20T18:02:03Z"),
                ..Health::default()
            },
            waiting: Some((1, 0)),
            ..Overview::default()
        };
        let bytes = overview.encode();
        // The order of fields is the encoding.
        assert_eq!(
            key::sha256(&bytes)[..16],
            *"b7311fd55aa67ec9",
            "raise VERSION in store/overviews.rs and in homes/home_cache.rs"
        );
        assert_eq!(Overview::decode(&bytes), Some(overview));
        for end in 0..bytes.len() {
            assert_eq!(Overview::decode(&bytes[..end]), None, "{end}");
        }
        assert_eq!(Overview::decode(&[&bytes[..], b"x"].concat()), None);
    }
}
