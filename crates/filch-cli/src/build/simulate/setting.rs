//! The setting of a farm: its pools of workers, and the invocations that share them.

use std::collections::BTreeMap;
use std::iter::repeat_n;
use std::num::NonZero;

use filch::build_scheduler::Platform;
use serde::Deserialize;

use super::graph::Shape;

/// Workers of one platform, or jobs that ask for it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Group {
    pub(crate) name: String,
    #[serde(alias = "workers", alias = "jobs")]
    pub(crate) number: u32,
    pub(crate) priority: i32,
    properties: BTreeMap<String, String>,
    /// None is one. A worker runs as many small jobs at a time.
    cpus: Option<NonZero<u16>>,
    /// In GiB. Workers that do not say have enough.
    memory: Option<u16>,
}

impl Group {
    pub(super) fn cpus(&self) -> u64 {
        self.cpus.map_or(1, |cpus| cpus.get().into())
    }

    /// Returns the platform, with that memory if there is no other.
    pub(super) fn platform(&self, memory: u64) -> Platform {
        Platform {
            properties: self.properties.clone().into_iter().collect(),
            cpus: 1000 * self.cpus(),
            memory: self.memory.map_or(memory, |gib| u64::from(gib) << 30),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setting {
    pub(crate) pools: Vec<Group>,
    /// Those of one name have one turn.
    pub(crate) invocations: Vec<Group>,
}

impl Setting {
    /// Returns the shapes of the graphs, of which that one has the other settings.
    pub(super) fn shapes(&self, shape: Shape) -> Vec<Shape> {
        let of = |jobs: u32| Shape {
            jobs,
            layers: shape.layers.min(jobs),
            ..shape
        };
        self.invocations.iter().map(|it| of(it.number)).collect()
    }
}

/// Returns the number of all their workers or jobs.
pub(super) fn sum(groups: &[Group]) -> u32 {
    let sum = groups.iter().map(|group| group.number);
    sum.fold(0, u32::saturating_add)
}

/// Returns the group of each of their workers or jobs.
pub(super) fn members(groups: &[Group]) -> Vec<&Group> {
    let members = groups.iter();
    members
        .flat_map(|group| repeat_n(group, group.number as usize))
        .collect()
}
