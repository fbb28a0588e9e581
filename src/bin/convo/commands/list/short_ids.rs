//! Short ids: prefixes of ids that select one session.

use std::collections::HashMap;

/// Minimum length of a short id in characters.
const MINIMUM: usize = 8;

/// Returns the length in bytes of each id's shortest unique prefix. A session and the sessions it contains (its
/// branches, subagents and parts, by `parents`) may share a prefix, which then selects the outer session.
fn unique(ids: &[&str], parents: &[Option<&str>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_unstable_by_key(|nth| ids[*nth]);
    let by_id: HashMap<&str, usize> = match parents.iter().any(Option::is_some) {
        true => ids.iter().enumerate().map(|(nth, id)| (*id, nth)).collect(),
        false => HashMap::new(),
    };
    let is_inside = |inner: usize, outer: usize| {
        let next = |nth: &usize| by_id.get(parents[*nth]?).copied();
        let mut up = std::iter::successors(next(&inner), next).take(ids.len());
        up.any(|nth| nth == outer)
    };
    let mut lengths = vec![0; ids.len()];
    for (place, nth) in order.iter().enumerate() {
        let competes = |other: &&usize| !is_inside(**other, *nth);
        let before = order[..place].iter().rev().find(competes);
        let after = order[place + 1..].iter().find(competes);
        let common = [before, after].into_iter().flatten();
        let longest = common.map(|other| common_length(ids[*nth], ids[*other])).max();
        let length = longest.map_or(1, |longest| longest + 1).min(ids[*nth].len());
        lengths[*nth] = (length..=ids[*nth].len())
            .find(|length| ids[*nth].is_char_boundary(*length))
            .unwrap_or(length);
    }
    lengths
}

/// Returns the short ids, and the length in bytes of each one's unique prefix. If the id of a session is the id of
/// another listed session and a suffix, its short id is the short id of that session and the suffix.
pub fn short(ids: &[&str], parents: &[Option<&str>]) -> Vec<(String, usize)> {
    let lengths = unique(ids, parents);
    let own = |nth: usize| {
        let id = ids[nth];
        let wanted = lengths[nth].max(MINIMUM).min(id.len());
        let end = (wanted..id.len()).find(|length| id.is_char_boundary(*length));
        &id[..end.unwrap_or(id.len())]
    };
    let by_id: HashMap<&str, usize> = match parents.iter().any(Option::is_some) {
        true => ids.iter().enumerate().map(|(nth, id)| (*id, nth)).collect(),
        false => HashMap::new(),
    };
    (0..ids.len())
        .map(|nth| {
            let id = ids[nth];
            let joints = id.match_indices(['.', '_', '-']).map(|(at, _)| at);
            let mut outer = joints.filter_map(|at| by_id.get(&id[..at]).filter(|_| parents[nth].is_some()));
            match outer.next() {
                Some(outer) => {
                    let start = ids[*outer].len();
                    // At least one character after the separator.
                    let end = lengths[nth].max(start + 2).min(id.len());
                    let is_end =
                        |end: &usize| id.get(..*end).is_some_and(|id| !id.ends_with(['.', '_', '-']));
                    let end = (end..id.len()).find(is_end);
                    let addition = &id[start..end.unwrap_or(id.len())];
                    (format!("{}{addition}", own(*outer)), 0)
                }
                None => (own(nth).to_string(), lengths[nth]),
            }
        })
        .collect()
}

fn common_length(one: &str, other: &str) -> usize {
    let both = one.bytes().zip(other.bytes());
    both.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_is_as_long_as_it_must_be() {
        let ids = ["019e19b4-1", "019e19b4-2", "9eda1058", "9", "é1", "é2"];
        assert_eq!(unique(&ids, &[None; 6]), [10, 10, 2, 1, 3, 3]);
        let shown = |ids: &[&str]| short(ids, &vec![None; ids.len()]);
        assert_eq!(
            shown(&["019e19b4-1", "019e19b4-2"])[0],
            ("019e19b4-1".to_string(), 10)
        );
        assert_eq!(shown(&["9eda1058-aaaa", "8"])[0], ("9eda1058".to_string(), 1));
        assert_eq!(
            shown(&["9", "aaaaaaa\u{e9}"]),
            [("9".to_string(), 1), ("aaaaaaa\u{e9}".to_string(), 1)]
        );
    }

    #[test]
    fn a_session_and_its_subsessions_may_share_a_prefix() {
        let ids = ["abc", "abc_1", "abc_2", "abc_2_1", "abd"];
        let parents = [None, Some("abc"), Some("abc"), Some("abc_2"), Some("gone")];
        assert_eq!(unique(&ids, &parents), [3, 5, 5, 6, 3]);
        // Sessions whose parents are each other.
        assert_eq!(unique(&["aa", "ab"], &[Some("ab"), Some("aa")]), [1, 1]);
    }

    #[test]
    fn a_subsession_extends_the_short_id_of_its_parent() {
        let ids = [
            "4c2ddfdc-b619", "4c2ddfdc-b619.agent-3", "4c2ddfdc-b619.agent-5", "4c2ddfdc-b619.agent-5.1",
        ];
        let parents = [None, Some(ids[0]), Some(ids[0]), Some(ids[2])];
        let shown: Vec<String> = short(&ids, &parents).into_iter().map(|(id, _)| id).collect();
        assert_eq!(
            shown,
            [
                "4c2ddfdc", "4c2ddfdc.agent-3", "4c2ddfdc.agent-5", "4c2ddfdc.agent-5.1"
            ]
        );
    }
}
