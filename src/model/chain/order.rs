//! Orders sessions into chains by the links between them.

use super::ChainLinks;
use std::collections::{HashMap, HashSet};

/// One position in a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainStep {
    /// A session, by its index in the input.
    Session(usize),
    /// The id of a linked session that is not in the input.
    Missing(String),
}

/// Sessions in chain order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainOrder {
    /// The steps, first session first.
    pub steps: Vec<ChainStep>,
    /// Problems with the links.
    pub faults: Vec<String>,
}

/// A session with several continuations, so that the chain is ambiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branched {
    /// The session.
    pub id: String,
    /// Its continuations.
    pub children: Vec<String>,
}

/// Sessions and link targets, as a graph.
struct Graph<'l> {
    links: &'l [ChainLinks],
    /// For each node: its id, and the index of its session.
    nodes: Vec<(Option<&'l str>, Option<usize>)>,
    parents: Vec<Option<usize>>,
    faults: Vec<String>,
}

impl<'l> Graph<'l> {
    fn of(links: &'l [ChainLinks]) -> Graph<'l> {
        let mut graph = Graph {
            links,
            nodes: Vec::new(),
            parents: Vec::new(),
            faults: Vec::new(),
        };
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        for (nth, own) in links.iter().enumerate() {
            let mut id = own.id.as_deref();
            if let Some((twice, &first)) = id.and_then(|id| by_id.get_key_value(id)) {
                // Copies of one session have the same links: nothing is lost.
                if *own != links[first] {
                    graph.faults.push(format!(
                        "two sessions have the id {twice}; ignored the links of the second"
                    ));
                }
                id = None;
            }
            graph.nodes.push((id, Some(nth)));
            id.map(|id| by_id.insert(id, nth));
        }
        graph.parents = vec![None; links.len()];
        for (nth, own) in links.iter().enumerate() {
            if let (Some(_), Some(parent)) = (graph.nodes[nth].0, own.continued_from.as_deref()) {
                graph.parents[nth] = Some(graph.node(&mut by_id, parent));
            }
        }
        for (nth, own) in links.iter().enumerate().filter(|(_, own)| own.id.is_some()) {
            if graph.nodes[nth].0.is_none() {
                continue;
            }
            for child in &own.continued_to {
                let node = graph.node(&mut by_id, child);
                match graph.parents[node] {
                    None => graph.parents[node] = Some(nth),
                    Some(parent) if parent == nth => {}
                    Some(_) => {
                        let (id, from) = (graph.name(nth), links.get(node));
                        let from = from
                            .and_then(|own| own.continued_from.as_deref())
                            .unwrap_or("another");
                        graph.faults.push(format!(
                            "{id} names the continuation {child}, which continues {from}"
                        ));
                    }
                }
            }
        }
        graph
    }

    fn node(&mut self, by_id: &mut HashMap<&'l str, usize>, id: &'l str) -> usize {
        *by_id.entry(id).or_insert_with(|| {
            self.nodes.push((Some(id), None));
            self.parents.push(None);
            self.nodes.len() - 1
        })
    }

    fn name(&self, node: usize) -> String {
        self.nodes[node].0.unwrap_or("session without an id").to_string()
    }

    fn step(&self, node: usize) -> ChainStep {
        match self.nodes[node] {
            (_, Some(nth)) => ChainStep::Session(nth),
            (id, None) => ChainStep::Missing(id.unwrap_or_default().to_string()),
        }
    }

    /// Reports missing sessions, and neighbors that do not link to each other.
    fn finish(mut self, path: &[usize]) -> ChainOrder {
        for (place, &node) in path.iter().enumerate() {
            let Some(nth) = self.nodes[node].1 else {
                self.faults.push(format!("missing session: {}", self.name(node)));
                continue;
            };
            let Some(before) = path[..place]
                .last()
                .copied()
                .filter(|before| self.parents[node] == Some(*before))
            else {
                continue;
            };
            let Some(parent) = self.nodes[before].1 else {
                continue;
            };
            let (id, from) = (self.name(node), self.name(before));
            if !self.links[parent].continued_to.contains(&id) {
                self.faults
                    .push(format!("{id} continues {from}, which does not link back"));
            }
            if self.links[nth].continued_from.is_none() {
                self.faults.push(format!(
                    "{from} names the continuation {id}, which does not link back"
                ));
            }
        }
        ChainOrder {
            steps: path.iter().map(|node| self.step(*node)).collect(),
            faults: self.faults,
        }
    }
}

/// Orders sessions by their links; unlinked sessions keep their input order. With `last`, only returns that session and
/// its predecessors, first one first.
pub fn order(links: &[ChainLinks], last: Option<usize>) -> Result<ChainOrder, Branched> {
    let mut graph = Graph::of(links);
    let mut seen = HashSet::new();
    let mut path = Vec::new();
    if let Some(last) = last {
        graph.faults.clear();
        let mut next = Some(last);
        while let Some(node) = next {
            if !seen.insert(node) {
                graph.faults.push(format!(
                    "link cycle at {}; ignored the last link",
                    graph.name(node)
                ));
                break;
            }
            path.push(node);
            next = graph.parents[node];
        }
        path.reverse();
        return Ok(graph.finish(&path));
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for (node, parent) in graph.parents.iter().enumerate() {
        parent.map(|parent| children[parent].push(node));
    }
    for start in 0..links.len() {
        if seen.contains(&start) {
            continue;
        }
        // Find the first session of this chain.
        let (mut first, mut above) = (start, HashSet::from([start]));
        while let Some(parent) = graph.parents[first].filter(|parent| !seen.contains(parent)) {
            if !above.insert(parent) {
                break;
            }
            first = parent;
        }
        let is_circle = graph.parents[first].is_some();
        let mut next = Some(if is_circle { start } else { first });
        while let Some(node) = next.filter(|node| seen.insert(*node)) {
            path.push(node);
            if let [_, _, ..] = children[node][..] {
                return Err(Branched {
                    id: graph.name(node),
                    children: children[node].iter().map(|child| graph.name(*child)).collect(),
                });
            }
            next = children[node].first().copied();
        }
        if is_circle {
            graph.faults.push(format!(
                "link cycle at {}; ignored the last link",
                graph.name(start)
            ));
        }
    }
    Ok(graph.finish(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `b<a>c`: session b, which continues a and is continued by c.
    fn links(words: &str) -> Vec<ChainLinks> {
        let one = |word: &str| {
            let (from, rest) = word
                .split_once('<')
                .map_or((None, word), |(id, rest)| (Some(id), rest));
            let (middle, to) = rest
                .split_once('>')
                .map_or((rest, None), |(middle, to)| (middle, Some(to)));
            let (id, from) = match from {
                Some(id) => (id, Some(middle)),
                None => (middle, None),
            };
            ChainLinks {
                id: Some(id.to_string()),
                continued_from: from.map(str::to_string),
                continued_to: to
                    .into_iter()
                    .flat_map(|to| to.split(','))
                    .map(str::to_string)
                    .collect(),
            }
        };
        words.split_whitespace().map(one).collect()
    }

    fn ordered(words: &str, last: Option<usize>) -> (String, Vec<String>) {
        let links = links(words);
        let order = order(&links, last).unwrap();
        let name = |step: &ChainStep| match step {
            ChainStep::Session(nth) => links[*nth].id.clone().unwrap(),
            ChainStep::Missing(id) => format!("({id})"),
        };
        let steps: Vec<String> = order.steps.iter().map(name).collect();
        (steps.join(" "), order.faults)
    }

    #[test]
    fn links_define_the_order_otherwise_arguments_do() {
        assert_eq!(ordered("c<b b<a>c a>b", None), ("a b c".to_string(), Vec::new()));
        assert_eq!(
            ordered("z c<b b<a>c x a>b", None),
            ("z a b c x".to_string(), Vec::new())
        );
        assert_eq!(
            ordered("c<b>d b<a>c a>b d<c", Some(1)),
            ("a b".to_string(), Vec::new())
        );
    }

    #[test]
    fn missing_and_one_sided_links_are_reported() {
        let (steps, faults) = ordered("d<c a>b b<a>c", None);
        assert_eq!(steps, "a b (c) d");
        assert_eq!(faults, ["missing session: c"]);
        let (steps, faults) = ordered("b<a>c", None);
        assert_eq!((steps.as_str(), faults.len()), ("(a) b (c)", 2));
        let (steps, faults) = ordered("b<a a", None);
        assert_eq!(
            (steps.as_str(), &faults[..]),
            (
                "a b",
                &["b continues a, which does not link back".to_string()][..]
            )
        );
        let (steps, faults) = ordered("b a>b", None);
        assert_eq!(
            (steps.as_str(), &faults[..]),
            (
                "a b",
                &["a names the continuation b, which does not link back".to_string()][..]
            )
        );
        let (steps, faults) = ordered("a>b b<x>c c<b", None);
        assert_eq!((steps.as_str(), faults.len()), ("a (x) b c", 2));
    }

    #[test]
    fn cycles_are_cut_and_branches_require_a_choice() {
        for circle in ["a<c>b b<a>c c<b>a", "a<a>a"] {
            for last in [None, Some(0)] {
                let (steps, faults) = ordered(circle, last);
                assert_eq!(steps.split(' ').count(), circle.split(' ').count());
                assert!(
                    faults.iter().any(|fault| fault.starts_with("link cycle at ")),
                    "{faults:?}"
                );
            }
        }
        let links = links("a>b,c b<a c<a");
        let branched = order(&links, None).unwrap_err();
        assert_eq!((branched.id.as_str(), branched.children.len()), ("a", 2));
        assert_eq!(
            order(&links, Some(2)).unwrap().steps,
            [ChainStep::Session(0), ChainStep::Session(2)]
        );
    }
}
