//! Derives the ids that a repair generates, so that the same history gets the same ids.

use std::collections::HashSet;
use uuid::Uuid;

/// Generates ids for one session: UUID version 5 (RFC 9562) of the session's id, the subject and the rule.
#[derive(Debug)]
pub(super) struct IdGenerator {
    session: Uuid,
}

impl IdGenerator {
    pub(super) fn new(session: &str) -> IdGenerator {
        IdGenerator {
            session: Uuid::new_v5(&Uuid::NAMESPACE_OID, session.as_bytes()),
        }
    }

    /// Returns 32 hex digits; `nth` distinguishes subjects with the same name.
    pub(super) fn digits(&self, about: &str, rule: &str, nth: usize) -> String {
        let name = format!("{about}\n{rule}\n{nth}");
        Uuid::new_v5(&self.session, name.as_bytes()).simple().to_string()
    }

    /// An id for an inserted message.
    pub(super) fn message(&self, about: &str, rule: &str, nth: usize) -> String {
        format!("msg_{}", &self.digits(about, rule, nth)[..16])
    }

    /// A new id that is not in `taken`, to which it is added. `nth` is the first number to try, and is incremented.
    pub(super) fn new_id(
        &self,
        prefix: &str,
        about: &str,
        rule: &str,
        nth: &mut usize,
        taken: &mut HashSet<String>,
    ) -> String {
        loop {
            let id = format!("{prefix}{}", self.digits(about, rule, *nth));
            *nth += 1;
            if taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_derived() {
        let ids = IdGenerator::new("s");
        // Computed with Python: uuid5(uuid5(NAMESPACE_OID, "s"), "c1\nOC02\n0").
        assert_eq!(ids.digits("c1", "OC02", 0), "aaad5da38d6454ca95d9a9bffc21d351");
        assert_ne!(ids.digits("c1", "OC02", 0), ids.digits("c1", "OC02", 1));
        assert_ne!(
            ids.digits("c1", "OC02", 0),
            IdGenerator::new("t").digits("c1", "OC02", 0)
        );
        let (mut nth, mut taken) = (0, HashSet::from([format!("x{}", ids.digits("c1", "OC03", 0))]));
        let id = ids.new_id("x", "c1", "OC03", &mut nth, &mut taken);
        assert_eq!((id, nth), (format!("x{}", ids.digits("c1", "OC03", 1)), 2));
    }
}
