//! Names of processes: the table, the slot, and the occupant of the slot.

use std::error::Error;
use std::fmt;

/// The name of one process: the node that it lives on, the number of its table there, a slot of
/// that table, and the generation of the slot's occupant.
///
/// Slots are reused, names are not: a PID whose process has ended never reaches the slot's next
/// occupant, nor a process of another table. (Table and generation have 32 bits each: a PID kept
/// over 2³² occupants of one slot, or over 2³² tables, would be mistaken.)
///
/// This holds while the program runs. When it starts again, it counts from 0 again, and its
/// processes get names that other programs may still know, unless it starts as another [`Node`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[doc(alias = "Addr")]
pub struct Pid {
    /// Node and table in one word, to compare both at once.
    pub(crate) origin: u64,
    /// Slot and generation in one word: so a PID has two words, and is passed in registers.
    occupant: u64,
}

/// A place where processes live, as seen from outside: a program, a machine. A program that talks
/// to no other one uses node 0. Each run of a program should be a different node: see [`Pid`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub u32);

/// Returns the common part of the PIDs of a table.
pub(crate) fn origin(node: Node, table: u32) -> u64 {
    u64::from(node.0) << 32 | u64::from(table)
}

impl Pid {
    #[inline]
    pub(crate) fn new(origin: u64, slot: u32, generation: u32) -> Self {
        let occupant = u64::from(slot) << 32 | u64::from(generation);
        Self { origin, occupant }
    }

    /// Returns the node that the process lives on.
    #[inline]
    pub fn node(self) -> Node {
        Node((self.origin >> 32) as u32)
    }

    /// Returns the number of its slot, by which [pins](crate::table::Pinned) and other data are
    /// found.
    #[inline]
    pub fn slot(self) -> u32 {
        (self.occupant >> 32) as u32
    }

    #[inline]
    pub(crate) fn generation(self) -> u32 {
        self.occupant as u32
    }

    /// Returns the PID as a number, for transports.
    pub fn to_bits(self) -> u128 {
        u128::from(self.origin) << 64 | u128::from(self.occupant)
    }

    /// Returns the PID that [`to_bits`](Self::to_bits) turned into a number. Any other number is a
    /// PID, too: of a live process, or of none, whose messages are refused.
    pub fn from_bits(bits: u128) -> Self {
        Self {
            origin: (bits >> 64) as u64,
            occupant: bits as u64,
        }
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (node, table) = (self.node(), self.origin as u32);
        f.write_str("<")?;
        if node != Node::default() {
            write!(f, "{}:", node.0)?;
        }
        write!(f, "{table}.{}.{}>", self.slot(), self.generation())
    }
}

/// Serializes the PID as text.
#[cfg(feature = "serde")]
impl serde::Serialize for Pid {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Debug for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pid{self}")
    }
}

/// The error for a PID without a live process: it has ended, or never was here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSuchProcess {
    /// The PID.
    pub pid: Pid,
}

impl fmt::Display for NoSuchProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no such process: {} {ENDED}", self.pid)
    }
}

impl Error for NoSuchProcess {}

/// The fate of a process that is not there, for texts.
pub(crate) const ENDED: &str = "has ended, or is of another scheduler";

#[cfg(test)]
mod tests;
