//! One call, and what it knew of the others.

/// How many threads a history can have, the closing one included.
pub const MAX_THREADS: usize = 8;

/// One call of a thread.
#[derive(Clone, Debug)]
pub struct Call<O> {
    /// How many calls of each thread had returned, as far as this one could know when it began.
    pub(crate) seen: [u32; MAX_THREADS],
    /// What it did, in this order: mostly one operation. None, if it had no answer and no effect.
    pub(crate) steps: Vec<O>,
}
