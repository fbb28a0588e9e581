//! The paths of a tree: what is gone on with, and what was left for it.

/// A way through a tree, as far as it is in no other before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Its entries, from the first of its own on.
    pub entries: Vec<usize>,
    /// The entry of another path that it was left at.
    pub joint: Option<usize>,
}

/// The path to the active entry, and then those to the other ends, each with what no path before it has. `parents` names the
/// entry before each; a circle is gone through once.
pub fn paths(
    parents: &[Option<usize>],
    active: Option<usize>,
    ends: impl IntoIterator<Item = usize>,
) -> Vec<Path> {
    let mut taken = vec![false; parents.len()];
    let mut climb = |end: usize| {
        let mut path = Path::default();
        let mut at = Some(end);
        while let Some(nth) = at.filter(|nth| !taken[*nth]) {
            taken[nth] = true;
            path.entries.push(nth);
            at = parents[nth];
        }
        path.entries.reverse();
        path.joint = at;
        path
    };
    let mut main = active.map(&mut climb).unwrap_or_default();
    main.joint = None;
    let mut paths = vec![main];
    for end in ends {
        let path = climb(end);
        if !path.entries.is_empty() {
            paths.push(path);
        }
    }
    paths
}

/// Whether each entry has no other behind it.
pub fn are_ends(parents: &[Option<usize>]) -> Vec<bool> {
    let mut ends = vec![true; parents.len()];
    parents.iter().flatten().for_each(|parent| ends[*parent] = false);
    ends
}
