//! Files that import each other in a circle are one file, or a wrong cut.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use super::finding::Finding;
use super::imports::{Import, Imports};

/// A circle that is allowed.
struct Ring {
    /// The package's folder.
    package: &'static str,
    /// All files of the ring are these, or below these folders, relative to the sources.
    places: &'static [&'static str],
    /// How many files it may have.
    most: usize,
}

/// The circles that are allowed, and why.
const RINGS: &[Ring] = &[
    // The interface of an actor is mutually recursive: a process is stepped with a context, which
    // has the handle, which has the table of the processes.
    Ring {
        package: "crates/scheduler",
        places: &["process", "table", "link", "handle", "observe"],
        most: 50,
    },
];

/// The circles of the crate in `package`, a folder, that are not allowed.
pub(super) fn check(package: &Path, imports: &Imports) -> Vec<Finding> {
    check_against(RINGS, package, imports)
}

fn check_against(rings: &[Ring], package: &Path, imports: &Imports) -> Vec<Finding> {
    let is_allowed = |circle: &BTreeSet<usize>| {
        let mut files = rings
            .iter()
            .filter(|ring| Path::new(ring.package) == package);
        files.any(|ring| {
            let is_inside = |file: &usize| {
                let mut places = ring.places.iter();
                places.any(|place| imports.files[*file].starts_with(place))
            };
            circle.len() <= ring.most && circle.iter().all(is_inside)
        })
    };
    let circles = circles(imports).into_iter();
    circles
        .filter(|circle| !is_allowed(circle))
        .map(|circle| {
            let way = shortest_way_round(imports, &circle);
            let steps: Vec<_> = way
                .iter()
                .map(|edge| format!("{}:{}", imports.files[edge.from].display(), edge.line))
                .collect();
            Finding {
                file: package.join("src").join(&imports.files[way[0].from]),
                line: way[0].line,
                message: format!(
                    "{} files import each other in a circle, the shortest way round being {}; move \
                     what they share below both, or an `impl` to its type; all of them: {}",
                    circle.len(),
                    steps.join(" → "),
                    names(imports, &circle)
                ),
            }
        })
        .collect()
}

fn names(imports: &Imports, circle: &BTreeSet<usize>) -> String {
    let names = circle
        .iter()
        .map(|file| imports.files[*file].display().to_string());
    names.collect::<Vec<_>>().join(", ")
}

/// The sets of files in which each reaches each other.
fn circles(imports: &Imports) -> Vec<BTreeSet<usize>> {
    let reach: Vec<_> = (0..imports.files.len())
        .map(|file| reachable(imports, file))
        .collect();
    let mut circles: Vec<BTreeSet<usize>> = Vec::new();
    for file in 0..reach.len() {
        if circles.iter().any(|circle| circle.contains(&file)) {
            continue;
        }
        let back = |other: &usize| reach[*other].contains(&file);
        let circle: BTreeSet<_> = reach[file].iter().copied().filter(back).collect();
        if circle.len() > 1 {
            circles.push(circle);
        }
    }
    circles
}

/// Where one or more imports lead.
fn reachable(imports: &Imports, file: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![file];
    while let Some(current) = open.pop() {
        for edge in imports.edges.iter().filter(|edge| edge.from == current) {
            if found.insert(edge.to) {
                open.push(edge.to);
            }
        }
    }
    found
}

/// The fewest imports in `circle` that lead from a file back to it.
fn shortest_way_round(imports: &Imports, circle: &BTreeSet<usize>) -> Vec<Import> {
    let ways = circle.iter().filter_map(|&start| {
        let mut last: BTreeMap<usize, Import> = BTreeMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(current) = open.pop_front() {
            for &edge in imports.edges.iter().filter(|edge| edge.from == current) {
                // The first import that leads to a file is on a shortest way.
                last.entry(edge.to).or_insert_with(|| {
                    open.push_back(edge.to);
                    edge
                });
            }
        }
        let mut way = vec![*last.get(&start)?];
        while way[0].from != start {
            way.insert(0, last[&way[0].from]);
        }
        Some(way)
    });
    ways.min_by_key(Vec::len)
        .expect("each file of a circle leads back to itself")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Import, Imports, Ring, check_against};

    fn imports(files: &[&str], edges: &[(usize, usize)]) -> Imports {
        Imports {
            files: files.iter().map(Into::into).collect(),
            edges: edges
                .iter()
                .map(|&(from, to)| Import { from, to, line: 1 })
                .collect(),
        }
    }

    fn messages(rings: &[Ring], imports: &Imports) -> Vec<String> {
        let found = check_against(rings, Path::new("crates/x"), imports);
        found.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn files_that_only_look_down_are_in_no_circle() {
        let tree = imports(&["lib.rs", "a.rs", "b.rs"], &[(0, 1), (0, 2), (1, 2)]);
        assert_eq!(messages(&[], &tree), [""; 0]);
    }

    #[test]
    fn a_circle_is_shown_by_its_shortest_way_round() {
        let files = ["lib.rs", "a.rs", "b.rs", "c.rs", "d.rs"];
        let circle = imports(&files, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 2), (3, 4)]);
        let found = messages(&[], &circle);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("3 files"), "{found:?}");
        assert!(found[0].contains("b.rs:1 → c.rs:1;"), "{found:?}");
        assert!(found[0].ends_with("a.rs, b.rs, c.rs"), "{found:?}");
    }

    #[test]
    fn an_allowed_ring_keeps_to_its_folder_and_its_size() {
        let ring = |places, most| {
            let package = "crates/x";
            [Ring {
                package,
                places,
                most,
            }]
        };
        let circle = imports(&["lib.rs", "api/a.rs", "api/b.rs"], &[(1, 2), (2, 1)]);
        assert_eq!(messages(&ring(&["api"], 2), &circle), [""; 0]);
        assert_eq!(messages(&ring(&["api"], 1), &circle).len(), 1);
        assert_eq!(messages(&ring(&["ops", "api/a.rs"], 2), &circle).len(), 1);
    }
}
