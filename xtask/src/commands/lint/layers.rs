//! Dependencies point downward only, and the primitives have none outside the workspace.

use std::fs;

use super::Finding;
use crate::support::Result;
use crate::support::metadata::Package;
use crate::support::process::root;

/// The crates: each may depend on those before it. They are the default members of the workspace,
/// in this order.
pub(super) fn layers() -> Result<Vec<String>> {
    let manifest: toml::Table = toml::from_str(&fs::read_to_string(root().join("Cargo.toml"))?)?;
    let members = manifest["workspace"]["default-members"].as_array();
    let members = members.into_iter().flatten();
    let members = members.filter_map(|member| member.as_str());
    let crates = members.filter_map(|member| member.strip_prefix("crates/"));
    let name = |folder: &str| match folder.split('-').next() {
        Some("filch") => folder.to_owned(),
        _ => format!("filch-{folder}"),
    };
    Ok(crates.map(name).collect())
}

/// The crates that this one may depend on.
pub(crate) fn below(name: &str) -> Result<Vec<String>> {
    let layers = layers()?.into_iter();
    Ok(layers.take_while(|other| other != name).collect())
}

/// The packages that are of use by themselves, below the schedulers.
pub(crate) fn primitives() -> Result<Vec<String>> {
    below("filch-processors")
}

/// The programs, which may have any dependencies outside the workspace.
const PROGRAMS: &[&str] = &["filch-build", "filch-cli", "filch-web"];

/// Dependencies that a library may have besides: stacks of one's own are a matter of assembler and
/// signals; the transport is a client of somebody else's server; what others read of a scheduler
/// has to be in their forms. What is no crate of its own is a feature that nobody has by default.
const FOREIGN: &[(&str, &str)] = &[
    ("filch-actors", "serde"),
    ("filch-engine", "corosensei"),
    ("filch-engine", "libc"),
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

pub(super) fn check(package: &Package, layers: &[String]) -> Vec<Finding> {
    let name = &*package.name;
    // Others stand around the libraries and programs, or on top of them.
    let folder = package.manifest_path.ancestors().nth(2);
    let is_in = |of: &str| folder.is_some_and(|folder| folder.ends_with(of));
    let is_on_top = is_in("apps") || is_in("compat");
    if !is_in("crates") && !is_on_top {
        return Vec::new();
    }
    let rank = |name: &str| layers.iter().position(|other| other == name);
    let mut wrong = Vec::new();
    let own = rank(name);
    if own.is_none() && !is_on_top {
        wrong.push("has no place among the default members of Cargo.toml".to_owned());
    }
    // In no user's build: those of tests and build scripts, and of checkers.
    let dependencies = package.dependencies.iter();
    for dependency in dependencies.filter(|dependency| dependency.kind.is_none()) {
        let other = &*dependency.name;
        let target = dependency.target.as_deref();
        let is_for_checkers = matches!(target, Some("cfg(loom)" | "cfg(shuttle)"));
        if dependency.path.is_some() {
            if !is_on_top && rank(other).is_none_or(|other| Some(other) >= own) {
                wrong.push(format!("must not depend on {other}, which is not below it"));
            }
        } else if !is_for_checkers && !PROGRAMS.contains(&name) && !FOREIGN.contains(&(name, other))
        {
            wrong.push(format!("must not depend on {other}, which is not ours"));
        }
    }
    let finding = |message| Finding::of("Cargo.toml", format!("{name} {message}"));
    wrong.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{check, layers};

    /// The number of findings in a crate with these dependencies.
    fn found(name: &str, inside: &[&str], outside: &[&str]) -> usize {
        let ours = inside
            .iter()
            .map(|name| json!({ "name": name, "path": "/" }));
        let others = outside.iter().map(|name| json!({ "name": name }));
        let all: Vec<_> = ours.chain(others).collect();
        let place = "/filch/crates/a/Cargo.toml";
        let package =
            json!({ "name": name, "version": "", "manifest_path": place, "dependencies": all });
        let package = serde_json::from_value(package).unwrap();
        check(&package, &layers().unwrap()).len()
    }

    #[test]
    fn dependencies_point_downward_and_inward() {
        assert_eq!(found("filch-injector", &["filch-deque"], &[]), 0);
        assert_eq!(found("filch-cli", &["filch"], &["clap"]), 0);
        assert_eq!(found("filch-engine", &[], &["corosensei"]), 0);
        assert_eq!(found("filch-deque", &["filch-processors"], &[]), 1);
        assert_eq!(found("filch-deque", &["filch-injector"], &[]), 1);
        assert_eq!(found("filch-deque", &["xtask"], &["libc"]), 2);
        assert_eq!(found("filch-newcomer", &[], &[]), 1);
    }
}
