//! Arranges sessions as a tree: continuations in one column below the first of their chain, branches indented by one
//! more.

use std::collections::{HashMap, HashSet};

/// The relations of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionNode {
    pub id: String,
    pub continued_from: Option<String>,
    /// The session that it branched off.
    pub branched_from: Option<String>,
    /// Sort key of trees, largest first.
    pub newest: Option<i64>,
}

/// A row of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Index of the node.
    pub node: usize,
    /// Depth of indentation.
    pub depth: usize,
    /// Distance from the first session of its chain; none if that is not among the nodes.
    pub index: Option<u64>,
}

/// Arranges sessions as trees, the tree with the newest session first.
pub fn arrange(nodes: &[SessionNode]) -> Vec<Leaf> {
    let by_id: HashMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .map(|(nth, node)| (&*node.id, nth))
        .collect();
    let place = |id: &Option<String>| id.as_deref().and_then(|id| by_id.get(id)).copied();
    let parents: Vec<Option<usize>> = nodes
        .iter()
        .enumerate()
        .map(|(nth, node)| {
            place(&node.continued_from)
                .or(place(&node.branched_from))
                .filter(|parent| *parent != nth)
        })
        .collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (nth, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent {
            children[*parent].push(nth);
        }
    }
    let mut roots: Vec<usize> = (0..nodes.len()).filter(|nth| parents[*nth].is_none()).collect();
    let mut trees = Vec::new();
    let mut seen = HashSet::new();
    // The remaining sessions form link cycles; the first of each becomes its root.
    roots.extend(0..nodes.len());
    for root in roots {
        if seen.contains(&root) {
            continue;
        }
        let mut tree: Vec<Leaf> = Vec::new();
        let is_continued = nodes[root].continued_from.is_some();
        let mut waiting = vec![Leaf {
            node: root,
            depth: 0,
            index: (!is_continued).then_some(0),
        }];
        while let Some(leaf) = waiting.pop() {
            if !seen.insert(leaf.node) {
                continue;
            }
            tree.push(leaf);
            let is_next = |child: &usize| place(&nodes[*child].continued_from) == Some(leaf.node);
            let next = children[leaf.node].iter().copied().find(is_next);
            // Push the continuation first, so that it follows the branches of its session.
            let continuation = next.map(|node| Leaf {
                node,
                depth: leaf.depth.max(1),
                index: leaf.index.map(|index| index + 1),
            });
            let branches = children[leaf.node]
                .iter()
                .copied()
                .filter(|child| Some(*child) != next);
            let branches: Vec<Leaf> = branches
                .map(|node| Leaf {
                    node,
                    depth: leaf.depth + 1,
                    index: if is_next(&node) {
                        leaf.index.map(|index| index + 1)
                    } else {
                        Some(0)
                    },
                })
                .collect();
            waiting.extend(continuation);
            waiting.extend(branches.into_iter().rev());
        }
        trees.push(tree);
    }
    let newest = |tree: &Vec<Leaf>| tree.iter().filter_map(|leaf| nodes[leaf.node].newest).max();
    trees.sort_by_key(|tree| (std::cmp::Reverse(newest(tree)), nodes[tree[0].node].id.clone()));
    trees.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(nodes: &[(&str, Option<&str>, Option<&str>, i64)]) -> Vec<String> {
        let nodes: Vec<SessionNode> = nodes
            .iter()
            .map(|(id, from, branched, newest)| SessionNode {
                id: (*id).to_string(),
                continued_from: from.map(str::to_string),
                branched_from: branched.map(str::to_string),
                newest: Some(*newest),
            })
            .collect();
        let line = |leaf: &Leaf| {
            let index = leaf.index.map_or("-".to_string(), |index| index.to_string());
            format!("{}{} {index}", " ".repeat(leaf.depth), nodes[leaf.node].id)
        };
        arrange(&nodes).iter().map(line).collect()
    }

    #[test]
    fn continuations_share_a_column_and_branches_are_indented() {
        let (a, b) = (Some("a"), Some("b"));
        let nodes = [
            ("z", None, None, 5),
            ("c", b, None, 9),
            ("a", None, None, 1),
            ("b", a, None, 2),
            ("x", None, b, 3),
            ("d", a, None, 3),
        ];
        assert_eq!(shown(&nodes), ["a 0", " d 1", " b 1", "  x 0", " c 2", "z 0"]);
    }

    #[test]
    fn sessions_without_a_root_are_listed() {
        let nodes = [
            ("a", Some("b"), None, 1),
            ("b", Some("a"), None, 2),
            ("c", Some("gone"), None, 3),
            ("d", Some("d"), None, 0),
        ];
        assert_eq!(shown(&nodes), ["c -", "a -", " b -", "d -"]);
    }
}
