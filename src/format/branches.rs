//! Paths in a tree of entries: the active branch and the inactive ones.

/// A path in a tree, without the entries that it shares with an earlier path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Its own entries, in order.
    pub entries: Vec<usize>,
    /// The branch point: an entry of another path.
    pub joint: Option<usize>,
}

/// The path to the active entry, then the paths to all other leaves, each without the entries of earlier paths.
/// `parents` has the parent of each entry; cycles are followed once.
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

/// For each entry: whether it is a leaf.
pub fn are_ends(parents: &[Option<usize>]) -> Vec<bool> {
    let mut ends = vec![true; parents.len()];
    parents.iter().flatten().for_each(|parent| ends[*parent] = false);
    ends
}
