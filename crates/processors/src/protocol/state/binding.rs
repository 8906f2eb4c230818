//! A machine that tasks are bound to, as the others know it.

/// Names one reservation of a thread by
/// [`Processors::reserve_thread`](crate::Processors::reserve_thread). It is never used again in the
/// same pool, and means nothing in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundId(u32);

impl BoundId {
    /// The name with that number, which is not 0.
    pub(crate) fn new(number: u32) -> Self {
        debug_assert_ne!(number, 0);
        Self(number)
    }

    /// The name as a number, never 0, for a user that keeps it in an atomic word.
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// The name that [`to_bits`](Self::to_bits) gave the number for. `None` for 0, which names no
    /// thread.
    pub fn from_bits(bits: u32) -> Option<Self> {
        (bits != 0).then_some(Self(bits))
    }
}

/// The largest number of bound machines at a time. They come on top of the thread limit, since each
/// is asked for by name.
pub(crate) const MAX_BOUND: usize = 256;

/// One bound machine.
pub(crate) struct Binding {
    pub(crate) id: BoundId,
    pub(crate) machine: usize,
    /// `true` while it waits for a task, without a processor: a thread that has found one calls it.
    pub(crate) waits: bool,
    /// No more tasks will be bound to it: when it has run those that wait, it is an ordinary
    /// machine.
    pub(crate) released: bool,
}
