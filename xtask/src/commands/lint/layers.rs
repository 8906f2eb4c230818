//! Dependencies point downward only, and the primitives have none outside the workspace.

use std::path::PathBuf;

use super::finding::Finding;
use crate::support::metadata::Member;

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
    ("filch-nats", "thiserror"),
    ("filch-nats", "tokio"),
    ("filch-processors", "serde"),
    ("filch-scheduler", "serde"),
    ("filch-scheduler", "tracing"),
];

/// The packages that are of use by themselves, below the schedulers.
pub(crate) fn primitives() -> impl Iterator<Item = &'static str> {
    let is_below = |name: &&str| *name != "filch-processors";
    LAYERS.iter().copied().take_while(is_below)
}

/// The primitives that need no thread, and so no std.
pub(crate) fn primitives_without_std() -> Vec<&'static str> {
    let with_std = ["filch-parker", "filch-timers", "filch-blocking"];
    primitives()
        .filter(|name| !with_std.contains(name))
        .collect()
}

pub(super) fn check(package: &str, member: &Member) -> Vec<Finding> {
    if member.is_tool {
        return Vec::new();
    }
    let rank = |package: &str| LAYERS.iter().position(|name| *name == package);
    let finding = |message| Finding {
        file: PathBuf::from("Cargo.toml"),
        line: 1,
        message: format!("{package} {message}"),
    };
    let Some(own) = rank(package) else {
        return vec![finding(
            "has no place in the layers of xtask/src/commands/lint/layers.rs".to_owned(),
        )];
    };
    let mut findings = Vec::new();
    for dependency in &member.inside {
        if rank(dependency).is_none_or(|other| other >= own) {
            findings.push(finding(format!(
                "must not depend on {dependency}, which is not below it"
            )));
        }
    }
    if !PROGRAMS.contains(&package) {
        let is_foreign = |dependency: &&String| !FOREIGN.contains(&(package, dependency));
        for dependency in member.outside.iter().filter(is_foreign) {
            findings.push(finding(format!(
                "must not depend on {dependency}, which is not ours"
            )));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{Member, check};

    fn member(inside: &[&str], outside: &[&str]) -> Member {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Member {
            inside: owned(inside),
            outside: owned(outside),
            ..Member::default()
        }
    }

    #[test]
    fn downward_dependencies_are_allowed() {
        assert!(
            check(
                "filch-injector",
                &member(&["filch-sync", "filch-deque"], &[])
            )
            .is_empty()
        );
        assert!(check("filch-cli", &member(&["filch"], &["clap"])).is_empty());
        assert!(check("filch-engine", &member(&[], &["corosensei"])).is_empty());
        let mut tool = member(&[], &["serde_json"]);
        tool.is_tool = true;
        assert!(check("xtask", &tool).is_empty());
    }

    #[test]
    fn upward_sideways_and_foreign_dependencies_are_found() {
        assert_eq!(
            check("filch-deque", &member(&["filch-processors"], &[])).len(),
            1
        );
        assert_eq!(
            check("filch-deque", &member(&["filch-injector"], &[])).len(),
            1
        );
        assert_eq!(
            check("filch-deque", &member(&["xtask"], &["libc"])).len(),
            2
        );
        assert_eq!(check("filch-newcomer", &member(&[], &[])).len(), 1);
    }
}
