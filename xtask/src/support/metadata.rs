//! The workspace as cargo sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::error::Result;
use super::process::cargo;

/// The members of the workspace by name.
pub(crate) struct Workspace {
    pub members: BTreeMap<String, Member>,
}

/// One package of the workspace.
#[derive(Default)]
pub(crate) struct Member {
    /// Path dependencies, whether normal, optional or for one target only; not those of tests and
    /// build scripts.
    pub inside: BTreeSet<String>,
    /// The same, from a registry, that a user of the crate would get.
    pub outside: BTreeSet<String>,
    /// True if it stands around the libraries and programs: nothing may depend on it.
    pub is_tool: bool,
    /// True if it may be published.
    pub is_published: bool,
    pub version: String,
    /// The oldest toolchain that it promises to build with.
    pub rust_version: String,
}

/// Returns the answer of `cargo metadata`, by that cargo and with these options.
pub(crate) fn metadata(mut command: Command, options: &[&str]) -> Result<Value> {
    command
        .args(["metadata", "--format-version", "1"])
        .args(options);
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err("cargo metadata has failed".into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

impl Workspace {
    pub(crate) fn read() -> Result<Self> {
        Self::read_by(cargo())
    }

    /// The workspace in which that cargo runs.
    pub(crate) fn read_by(command: Command) -> Result<Self> {
        let metadata = metadata(command, &["--no-deps"])?;
        let packages = metadata["packages"]
            .as_array()
            .ok_or("cargo metadata lists no packages")?;
        let members = packages.iter().filter_map(|package| {
            let name = package["name"].as_str()?;
            Some((name.to_owned(), Member::read(package)?))
        });
        Ok(Self {
            members: members.collect(),
        })
    }

    /// The members that are published, by name.
    pub(crate) fn published(&self) -> impl Iterator<Item = (&str, &Member)> {
        let members = self.members.iter();
        let named = members.map(|(name, member)| (name.as_str(), member));
        named.filter(|(_, member)| member.is_published)
    }

    /// The members that `package` is built from, itself left out.
    pub(crate) fn reachable_from(&self, package: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut open = vec![package];
        while let Some((_, member)) = open.pop().and_then(|name| self.members.get_key_value(name)) {
            for dependency in &member.inside {
                if found.insert(dependency.as_str()) {
                    open.push(dependency);
                }
            }
        }
        found
    }
}

impl Member {
    fn read(package: &Value) -> Option<Self> {
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let manifest = text("manifest_path");
        let is_in = |folder: &&str| manifest.contains(&format!("/{folder}/"));
        let mut member = Self {
            is_tool: !["crates", "compat", "apps"].iter().any(is_in),
            // `null`, or a list of registries, which is empty for `publish = false`.
            is_published: package["publish"]
                .as_array()
                .is_none_or(|list| !list.is_empty()),
            version: text("version"),
            rust_version: text("rust_version"),
            ..Self::default()
        };
        for dependency in package["dependencies"].as_array()? {
            if !dependency["kind"].is_null() {
                continue;
            }
            let name = dependency["name"].as_str()?.to_owned();
            if !dependency["path"].is_null() {
                member.inside.insert(name);
            } else if !is_for_checkers(&dependency["target"]) {
                member.outside.insert(name);
            }
        }
        Some(member)
    }
}

/// Dependencies under `cfg(loom)` or `cfg(shuttle)` are in no user's build.
fn is_for_checkers(target: &Value) -> bool {
    matches!(target.as_str(), Some("cfg(loom)" | "cfg(shuttle)"))
}
