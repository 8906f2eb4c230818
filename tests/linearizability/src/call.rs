//! One call, and the calls that it knew of.

/// The most threads of a history, with the closing one.
pub const MAX_THREADS: usize = 8;

/// One call of a thread.
#[derive(Clone, Debug)]
pub struct Call<O> {
    /// The number of calls of each thread that had returned, as far as it could know when it began.
    pub(crate) seen: [u32; MAX_THREADS],
    /// The operations in order: mostly one. Empty if it had no answer and no effect.
    pub(crate) steps: Vec<O>,
}
