//! Platforms: what workers have, and what jobs ask for.

use std::collections::BTreeSet;
use std::fmt;

/// The properties of a platform. A name may have several values.
pub type Properties = BTreeSet<(String, String)>;

/// The platform that a worker has, or that a job asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Platform {
    /// The properties.
    pub properties: Properties,
    /// Thousandths of a CPU.
    pub cpus: u64,
    /// Bytes of memory. [`u64::MAX`] for a worker that does not say: then they are not counted.
    pub memory: u64,
}

impl Platform {
    /// Returns true if a worker with this platform, and nothing else to do, may run a job that asks
    /// for that one.
    pub fn fits(&self, needs: &Self) -> bool {
        let is_there = needs.properties.is_subset(&self.properties);
        is_there && needs.cpus <= self.cpus && needs.memory <= self.memory
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.properties.iter();
        let mut parts: Vec<_> = named
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if self.cpus > 0 {
            parts.push(format!("{} CPUs", self.cpus as f64 / 1000.0));
        }
        if self.memory > 0 && self.memory < u64::MAX {
            parts.push(format!("{} MiB", self.memory.div_ceil(1 << 20)));
        }
        f.write_str(&parts.join(" "))
    }
}
