//! The split: which items thieves can see. `top.index..split` is public, `split..bottom` private.

use crate::policy::Policy;
use crate::worker::Worker;

impl<T, P: Policy> Worker<T, P> {
    /// How many items are private.
    #[inline]
    pub(crate) fn private(&self) -> u32 {
        self.bottom().wrapping_sub(self.split.get())
    }

    /// Moves `split`, for the owner and for thieves.
    #[inline]
    pub(crate) fn publish(&self, split: u32) {
        self.split.set(split);
        self.deque.publish(split);
    }

    /// Makes public what the policy says of the items that were just appended.
    #[inline]
    pub(crate) fn offer(&self) {
        match P::KEEPS_PRIVATE {
            true => self.settle(),
            false => self.publish(self.bottom()),
        }
    }

    /// Answers thieves that have asked, and sets the stops anew: the end of each call that goes the
    /// long way. Lazy only.
    ///
    /// Stops are set after what is published. So a thief that asks before it sleeps sees what is
    /// published, or is seen by the owner: see [`Stealer::demand`](crate::Stealer::demand). But one
    /// that takes all of it at once may ask before they are set, as if it were one of those that
    /// were answered: so the owner looks whether something is left.
    pub(crate) fn settle(&self) {
        let stops = &self.deque.stops;
        let mut asked = stops.is_asked();
        loop {
            let private = self.private();
            if private == 0 && (asked || self.split == self.reached) {
                // The next item is to be public.
                return stops.set_asked();
            }
            let shared = self.due(asked);
            let split = self.position.get() - u64::from(private - shared);
            if shared > 0 {
                self.show(split as u32);
            }
            let limit = split + u64::from(self.max_private);
            let limit = limit.min(self.position.get() + u64::from(self.room()));
            let has_asked = stops.set(limit, split);
            if !has_asked || asked && self.deque.taken() != split as u32 {
                return;
            }
            asked = true;
        }
    }

    /// How many of the private items are to become public, the oldest ones: half, rounded up, if a
    /// thief has asked, if nothing is public, or if they are too many; and all that are still too
    /// many then.
    fn due(&self, asked: bool) -> u32 {
        let private = self.private();
        let excess = private.saturating_sub(self.max_private.into());
        let half = match asked || excess > 0 || self.split == self.reached {
            true => private.div_ceil(2),
            false => 0,
        };
        half.max(excess)
    }

    /// Takes public items back from the thieves, the last one or half of them (but no more than may
    /// be private). Whether it got any.
    /// There must be no private ones.
    ///
    /// It lowers `split`, then bumps the tag; the bump returns the index that thieves have reached.
    /// The items from the lowered `split` on, or from that index on if it is later, are private
    /// from now on: a claim in flight fails because of the tag, and a later one sees the lowered
    /// `split`. If thieves are past the lowered `split`, it is raised to where they are. (In
    /// between they see a shortfall: if it is one they answer `Empty`, if more `Retry`.)
    #[inline]
    pub(crate) fn reclaim(&self) -> bool {
        let split = self.split.get();
        // How much to take back depends on what thieves have left, so a lazy owner looks. A strict
        // one takes one item, and the bump tells it the rest: a load of `top` between its store and
        // its RMW would cost a quarter of the pop.
        let known = if P::KEEPS_PRIVATE {
            self.deque.taken()
        } else {
            self.reached.get()
        };
        let public = split.wrapping_sub(known);
        if public == 0 {
            return false;
        }
        let count = if P::KEEPS_PRIVATE {
            public.div_ceil(2).min(self.max_private.max(1).into())
        } else {
            1
        };
        self.publish(split.wrapping_sub(count));
        let reached = self.deque.bump();
        self.reached.set(reached);
        let left = split.wrapping_sub(reached);
        if left < count {
            self.publish(reached);
        }
        left > 0
    }
}
