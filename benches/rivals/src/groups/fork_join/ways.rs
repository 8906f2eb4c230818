//! Ways to fork without a worker in the hand, and the way not to fork.

macro_rules! without_worker {
    ($name:ident, $join:path) => {
        #[doc = concat!("[`", stringify!($join), "`], which finds the worker itself.")]
        #[derive(Clone, Copy)]
        pub(crate) struct $name;

        impl $name {
            #[inline(always)]
            pub(super) fn join<A, B, RA, RB>(self, a: A, b: B) -> (RA, RB)
            where
                A: FnOnce(Self) -> RA + Send,
                B: FnOnce(Self) -> RB + Send,
                RA: Send,
                RB: Send,
            {
                $join(move || a(self), move || b(self))
            }
        }
    };
}

without_worker!(ThreadLocal, filch_fork_join::join);
without_worker!(Rayon, ::rayon::join);

/// One after the other: the floor.
#[derive(Clone, Copy)]
pub(crate) struct Sequential;

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
