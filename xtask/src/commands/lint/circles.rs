//! Folders of a crate's sources that import each other in a circle are one folder, or a wrong cut.
//!
//! Files inside one folder may import each other, and so may those beside the crate's root. One of
//! these and a folder may not.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::finding::Finding;
use super::imports::{Import, Imports};

/// Folders that may import each other in a circle.
struct Ring {
    /// The package's folder.
    package: &'static str,
    /// The folders, relative to the sources.
    folders: &'static [&'static str],
}

/// The circles that are allowed, and why.
const RINGS: &[Ring] = &[
    // The interface of an actor is mutually recursive: a process is stepped with a context, which
    // has the handle, which has the table of the processes.
    Ring {
        package: "crates/scheduler",
        folders: &["process", "table", "link", "handle"],
    },
    // A worker is made of functions, whose parameters and context are parts of a worker.
    Ring {
        package: "crates/engine",
        folders: &[
            "context.rs",
            "function.rs",
            "links.rs",
            "message.rs",
            "param.rs",
            "received.rs",
            "worker",
        ],
    },
    // The machine runs members, and these have the scheduler that the machine is a part of.
    Ring {
        package: "crates/engine",
        folders: &["member.rs", "scheduler", "shared.rs"],
    },
    // The settings of a child are a part of the plan, and the plan is made from settings.
    Ring {
        package: "crates/supervisor",
        folders: &["plan", "settings"],
    },
];

/// The circles of the crate in `package`, a folder, that are not allowed.
pub(super) fn check(package: &Path, imports: &Imports) -> Vec<Finding> {
    check_against(RINGS, package, imports)
}

fn check_against(rings: &[Ring], package: &Path, imports: &Imports) -> Vec<Finding> {
    let (folders, places) = by_folder(imports);
    let is_allowed = |circle: &BTreeSet<usize>| {
        let mut own = rings
            .iter()
            .filter(|ring| Path::new(ring.package) == package);
        own.any(|ring| {
            let mut names = circle.iter().map(|&folder| folders.files[folder].as_path());
            names.all(|name| ring.folders.iter().any(|folder| Path::new(folder) == name))
        })
    };
    let is_beside_root = |&folder: &usize| folders.files[folder].extension().is_some();
    let circles = circles(&folders).into_iter();
    circles
        .filter(|circle| !circle.iter().all(is_beside_root) && !is_allowed(circle))
        .map(|circle| {
            let way = shortest_way_round(&folders, &circle);
            let place = |edge: &Import| places[&(edge.from, edge.to)];
            let steps: Vec<_> = way
                .iter()
                .map(|edge| {
                    format!(
                        "{}:{}",
                        imports.files[place(edge).from].display(),
                        edge.line
                    )
                })
                .collect();
            Finding {
                file: package
                    .join("src")
                    .join(&imports.files[place(&way[0]).from]),
                line: way[0].line,
                message: format!(
                    "{} folders import each other in a circle, the shortest way round being {}; \
                     move what they share below both, or an `impl` to its type; all of them: {}",
                    circle.len(),
                    steps.join(" → "),
                    names(&folders, &circle)
                ),
            }
        })
        .collect()
}

/// The same with folders in the place of the files in them, and the first import from each to each
/// other one.
fn by_folder(imports: &Imports) -> (Imports, BTreeMap<(usize, usize), Import>) {
    let mut names: Vec<PathBuf> = Vec::new();
    let of_file: Vec<usize> = (imports.files.iter())
        .map(|file| {
            let first: PathBuf = file.components().take(1).collect();
            names
                .iter()
                .position(|name| *name == first)
                .unwrap_or_else(|| {
                    names.push(first);
                    names.len() - 1
                })
        })
        .collect();
    let mut places = BTreeMap::new();
    for &import in &imports.edges {
        let (from, to) = (of_file[import.from], of_file[import.to]);
        if from != to {
            places.entry((from, to)).or_insert(import);
        }
    }
    let edges = places.iter().map(|(&(from, to), import)| Import {
        from,
        to,
        line: import.line,
    });
    let folders = Imports {
        edges: edges.collect(),
        files: names,
    };
    (folders, places)
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
    fn files_of_a_folder_may_import_each_other() {
        let files = ["lib.rs", "a.rs", "b.rs", "api/c.rs", "api/d.rs"];
        let tree = imports(&files, &[(1, 2), (2, 1), (3, 4), (4, 3), (3, 1)]);
        assert_eq!(messages(&[], &tree), [""; 0]);
    }

    #[test]
    fn a_circle_is_shown_by_its_shortest_way_round() {
        let files = ["lib.rs", "a/a.rs", "b/b.rs", "c/c.rs", "d/e/d.rs"];
        let circle = imports(&files, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 2), (3, 4)]);
        let found = messages(&[], &circle);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("3 folders"), "{found:?}");
        assert!(found[0].contains("b/b.rs:1 → c/c.rs:1;"), "{found:?}");
        assert!(found[0].ends_with("a, b, c"), "{found:?}");
    }

    #[test]
    fn a_file_beside_the_root_is_in_no_circle_with_a_folder() {
        let files = ["lib.rs", "a.rs", "b.rs", "api/c.rs"];
        let beside = imports(&files, &[(1, 2), (2, 1), (3, 1)]);
        assert_eq!(messages(&[], &beside), [""; 0]);
        let circle = imports(&files, &[(1, 3), (3, 2), (2, 1)]);
        assert_eq!(messages(&[], &circle).len(), 1);
    }

    #[test]
    fn a_ring_may_be_allowed() {
        let ring = |folders| {
            let package = "crates/x";
            [Ring { package, folders }]
        };
        let circle = imports(&["lib.rs", "api/a.rs", "table/b.rs"], &[(1, 2), (2, 1)]);
        assert_eq!(messages(&ring(&["api", "table"]), &circle), [""; 0]);
        assert_eq!(messages(&ring(&["api", "ops"]), &circle).len(), 1);
    }
}
