use std::fmt;

/// The name of one process, for ever: a slot of the process table and the generation of its tenant.
///
/// Slots are used again, names are not: a PID whose process has ended never reaches the slot's next tenant. (The
/// generation has 32 bits; a PID kept over 2³² tenants of one slot would be mistaken.)
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pid {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}.{}>", self.slot, self.generation)
    }
}

impl fmt::Debug for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pid{self}")
    }
}
