//! Dependencies point downward only, and the primitives have none outside the workspace.

use super::Finding;
use crate::support::metadata::Package;

/// The libraries and programs: each may depend on those before it.
const LAYERS: &[&str] = &[
    "filch-sync",
    // Primitives, and what is of use by itself.
    "filch-slab",
    "filch-deque",
    "filch-injector",
    "filch-parker",
    "filch-event-queue",
    "filch-process-state",
    "filch-promise",
    "filch-data-cell",
    "filch-timers",
    "filch-blocking",
    // Schedulers.
    "filch-processors",
    "filch-scheduler",
    "filch-actors",
    "filch-supervisor",
    "filch-metrics",
    "filch-fork-join",
    "filch-engine",
    "filch-build-scheduler",
    // What stands on them.
    "filch",
    "filch-testing",
    "rayon-core",
    "filch-nats",
    "filch-build",
    "filch-cli",
];

/// The programs, which may have any dependencies outside the workspace.
const PROGRAMS: &[&str] = &["filch-build", "filch-cli"];

/// Dependencies that a library may have besides: stacks of one's own are a matter of assembler, per
/// processor; and the transport is a client of somebody else's server; what others read of a
/// scheduler has to be in their forms. Of these, what is no crate of its own is a feature that
/// nobody has by default.
const FOREIGN: &[(&str, &str)] = &[
    ("filch-actors", "serde"),
    ("filch-engine", "corosensei"),
    ("filch-metrics", "prometheus-client"),
    ("filch-nats", "async-nats"),
    ("filch-nats", "futures-util"),
    ("filch-nats", "postcard"),
    ("filch-nats", "serde"),
    ("filch-nats", "tokio"),
    ("filch-processors", "serde"),
    ("filch-scheduler", "serde"),
    ("filch-scheduler", "tracing"),
];

/// The packages that this one may depend on.
pub(crate) fn below(package: &str) -> impl Iterator<Item = &'static str> {
    LAYERS
        .iter()
        .copied()
        .take_while(move |name| *name != package)
}

/// The packages that are of use by themselves, below the schedulers.
pub(crate) fn primitives() -> impl Iterator<Item = &'static str> {
    below("filch-processors")
}

pub(super) fn check(package: &Package) -> Vec<Finding> {
    let name = &*package.name;
    // Others stand around the libraries and programs.
    let folder = package.manifest_path.ancestors().nth(2);
    if !["crates", "compat", "apps"]
        .iter()
        .any(|of| folder.is_some_and(|own| own.ends_with(of)))
    {
        return Vec::new();
    }
    let finding = |message| Finding::of("Cargo.toml", format!("{name} {message}"));
    let is_known = |name: &str| LAYERS.contains(&name);
    if !is_known(name) {
        let message = "has no place in the layers of xtask/src/commands/lint/layers.rs";
        return vec![finding(message.to_owned())];
    }
    let wrong = package.dependencies.iter().filter_map(|dependency| {
        let other = &*dependency.name;
        // In no user's build: those of tests and build scripts, and of checkers.
        let target = dependency.target.as_deref();
        if dependency.kind.is_some() {
            return None;
        }
        if dependency.path.is_some() {
            let is_below = below(name).any(|below| below == other);
            return (!is_below)
                .then(|| format!("must not depend on {other}, which is not below it"));
        }
        let is_allowed = PROGRAMS.contains(&name)
            || FOREIGN.contains(&(name, other))
            || matches!(target, Some("cfg(loom)" | "cfg(shuttle)"));
        (!is_allowed).then(|| format!("must not depend on {other}, which is not ours"))
    });
    wrong.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::check;

    /// The number of findings in a package with these dependencies.
    fn found(name: &str, inside: &[&str], outside: &[&str]) -> usize {
        let inside = inside
            .iter()
            .map(|name| json!({ "name": name, "path": "/" }));
        let outside = outside.iter().map(|name| json!({ "name": name }));
        let package = json!({
            "name": name,
            "version": "",
            "manifest_path": "/filch/crates/a/Cargo.toml",
            "dependencies": inside.chain(outside).collect::<Vec<_>>(),
        });
        check(&serde_json::from_value(package).unwrap()).len()
    }

    #[test]
    fn dependencies_point_downward_and_inward() {
        assert_eq!(
            found("filch-injector", &["filch-sync", "filch-deque"], &[]),
            0
        );
        assert_eq!(found("filch-cli", &["filch"], &["clap"]), 0);
        assert_eq!(found("filch-engine", &[], &["corosensei"]), 0);
        assert_eq!(found("filch-deque", &["filch-processors"], &[]), 1);
        assert_eq!(found("filch-deque", &["filch-injector"], &[]), 1);
        assert_eq!(found("filch-deque", &["xtask"], &["libc"]), 2);
        assert_eq!(found("filch-newcomer", &[], &[]), 1);
    }
}
