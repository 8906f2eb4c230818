//! Ways to fork without a worker in the hand, and the way not to fork.

/// [`filch_fork_join::join`], which finds the worker in thread-local storage.
#[derive(Clone, Copy)]
pub(super) struct ThreadLocal;

impl ThreadLocal {
    #[inline(always)]
    pub(super) fn join<A, B, RA, RB>(self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(Self) -> RA + Send,
        B: FnOnce(Self) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        filch_fork_join::join(move || a(self), move || b(self))
    }
}

/// [`rayon::join`].
#[derive(Clone, Copy)]
pub(super) struct Rayon;

impl Rayon {
    #[inline(always)]
    pub(super) fn join<A, B, RA, RB>(self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(Self) -> RA + Send,
        B: FnOnce(Self) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        ::rayon::join(move || a(self), move || b(self))
    }
}

/// One after the other: the floor.
#[derive(Clone, Copy)]
pub(super) struct Sequential;

impl Sequential {
    #[inline(always)]
    pub(super) fn join<RA, RB>(
        self,
        a: impl FnOnce(Self) -> RA,
        b: impl FnOnce(Self) -> RB,
    ) -> (RA, RB) {
        (a(self), b(self))
    }
}
