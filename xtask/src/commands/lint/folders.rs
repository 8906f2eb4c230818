//! Within a crate, a file imports from folders below its own, or from its own.

use std::path::Path;

use super::finding::Finding;
use super::imports::Imports;

/// The order of a crate's folders.
struct Order {
    /// The package's folder.
    package: &'static str,
    /// From the bottom to the top: folders, or files, relative to the sources; `""` is the files at
    /// the root. Each file stands where the longest of these paths says that leads to it.
    layers: &'static [&'static [&'static str]],
    /// `(from, to, why)`: imports that go upward all the same.
    exceptions: &'static [(&'static str, &'static str, &'static str)],
}

const ORDERS: &[Order] = &[
    Order {
        package: "crates/event-queue",
        layers: &[&[""], &["channel"]],
        exceptions: &[],
    },
    Order {
        package: "crates/processors",
        layers: &[
            &[""],
            &["protocol/state"],
            &["protocol"],
            &["queues"],
            &["pool"],
            &["observe"],
            &["thread"],
        ],
        exceptions: &[],
    },
    Order {
        package: "crates/scheduler",
        layers: &[
            &[""],
            // One layer: the interface's ring goes through all of these.
            &["process", "table", "link", "handle"],
            &["observe"],
            &["turn"],
            &["testing.rs", "shutdown.rs"],
            &["scheduler.rs"],
            &["builder.rs"],
        ],
        exceptions: &[],
    },
    Order {
        package: "crates/actors",
        layers: &[
            &["ended.rs", "nodes.rs", "blocking.rs", "dynamic.rs"],
            &["report", "registry.rs", "mailbox"],
            &["timers.rs"],
            &["call", "future", "execute.rs"],
            &["follow.rs"],
            &["submission.rs"],
            &["handle.rs", "step.rs"],
            &[""],
        ],
        exceptions: &[],
    },
];

/// What the crate in `package`, a folder, imports upward.
pub(super) fn check(package: &Path, imports: &Imports) -> Vec<Finding> {
    let order = ORDERS
        .iter()
        .find(|order| Path::new(order.package) == package);
    order.map_or_else(Vec::new, |order| check_order(order, imports))
}

fn check_order(order: &Order, imports: &Imports) -> Vec<Finding> {
    let sources = Path::new(order.package).join("src");
    let finding = |file: &Path, line, message| Finding {
        file: sources.join(file),
        line,
        message,
    };
    let mut findings = Vec::new();
    for file in &imports.files {
        if order.layer(file).is_none() {
            let message = "has no place in the order of its crate's folders: see \
                           xtask/src/commands/lint/folders.rs";
            findings.push(finding(file, 1, message.to_owned()));
        }
    }
    let mut unused = order.exceptions.to_vec();
    for edge in &imports.edges {
        let (from, to) = (&imports.files[edge.from], &imports.files[edge.to]);
        if order.layer(from) >= order.layer(to) {
            continue;
        }
        let is_this = |(upper, lower, _): &(&str, &str, &str)| {
            Path::new(upper) == from && Path::new(lower) == to
        };
        if order.exceptions.iter().any(is_this) {
            unused.retain(|exception| !is_this(exception));
            continue;
        }
        findings.push(finding(
            from,
            edge.line,
            format!("imports from {}, which is above it", to.display()),
        ));
    }
    for (from, to, _) in unused {
        let message = format!("does not import from {to} any more: strike the exception");
        findings.push(finding(Path::new(from), 1, message));
    }
    findings
}

impl Order {
    /// Counted from the bottom.
    fn layer(&self, file: &Path) -> Option<usize> {
        let is_at_root = file.components().count() == 1;
        let holds = |place: &str| match place {
            "" => is_at_root,
            place => file.starts_with(place),
        };
        let places = self
            .layers
            .iter()
            .enumerate()
            .flat_map(|(layer, places)| places.iter().map(move |place| (place, layer)));
        places
            .filter(|(place, _)| holds(place))
            .max_by_key(|(place, _)| place.len())
            .map(|(_, layer)| layer)
    }
}

#[cfg(test)]
mod tests {
    use super::super::imports::{Import, Imports};
    use super::{Order, check_order};

    const ORDER: Order = Order {
        package: "crates/x",
        layers: &[&[""], &["data"], &["api", "ops"], &["top.rs", "ops/late"]],
        exceptions: &[("data/a.rs", "ops/b.rs", "a test")],
    };

    fn messages(files: &[&str], edges: &[(usize, usize)]) -> Vec<String> {
        let imports = Imports {
            files: files.iter().map(Into::into).collect(),
            edges: edges
                .iter()
                .map(|&(from, to)| Import { from, to, line: 3 })
                .collect(),
        };
        let found = check_order(&ORDER, &imports);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn downward_sideways_and_excepted_imports_are_allowed() {
        let files = [
            "lib.rs",
            "data/a.rs",
            "ops/b.rs",
            "api/c.rs",
            "ops/late/d.rs",
            "top.rs",
        ];
        let edges = [(1, 0), (1, 2), (2, 1), (3, 2), (2, 3), (4, 2), (5, 4)];
        assert_eq!(messages(&files, &edges), [""; 0]);
    }

    #[test]
    fn upward_imports_are_found() {
        let files = [
            "lib.rs",
            "data/a.rs",
            "ops/b.rs",
            "api/c.rs",
            "ops/late/d.rs",
        ];
        let found = messages(&files, &[(0, 1), (1, 2), (1, 3), (2, 4)]);
        let expected = [
            "crates/x/src/lib.rs:3: imports from data/a.rs, which is above it",
            "crates/x/src/data/a.rs:3: imports from api/c.rs, which is above it",
            "crates/x/src/ops/b.rs:3: imports from ops/late/d.rs, which is above it",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn strangers_and_needless_exceptions_are_found() {
        let found = messages(&["lib.rs", "data/a.rs", "new/e.rs"], &[]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("new/e.rs:1: has no place"));
        assert!(found[1].contains("does not import from ops/b.rs any more"));
    }
}
