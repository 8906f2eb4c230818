use std::fmt;

/// The name of one process, for ever: the number of its scheduler, a slot of that one's process table, and the generation
/// of the slot's tenant.
///
/// Slots are used again, names are not: a PID whose process has ended never reaches the slot's next tenant, nor a process
/// of another scheduler in this program. (Number and generation have 32 bits each: a PID kept over 2³² tenants of one
/// slot, or over 2³² schedulers, would be mistaken.)
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pid {
    pub(crate) scheduler: u32,
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}.{}.{}>", self.scheduler, self.slot, self.generation)
    }
}

impl fmt::Debug for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pid{self}")
    }
}
