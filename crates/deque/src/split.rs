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

    /// Shows what is due, and sets the stops anew: the end of each call that goes the long way.
    /// Lazy only.
    ///
    /// If nothing is public, the older half of what is private is due, rounded up. If too much is
    /// private, all is due but the newest, three eighths of what may be.
    ///
    /// Stops are set after what is published. So a thief that asks before it sleeps sees what is
    /// published, or is seen by the owner: see [`Stealer::demand`](crate::Stealer::demand). But to
    /// set them may undo the request of one that took all of it at once. So an owner that was asked
    /// looks whether something is left.
    pub(crate) fn settle(&self) {
        let stops = &self.deque.stops;
        let most = u32::from(self.max_private);
        let position = self.position.get();
        loop {
            let private = self.private();
            let is_all_private = self.split.get() == self.deque.taken();
            if private == 0 && is_all_private {
                // The next item is to be public.
                return stops.set_asked();
            }
            let kept = match private > most {
                true => most * 3 / 8,
                false if is_all_private => private / 2,
                false => private,
            };
            let split = position - u64::from(kept);
            if kept < private {
                self.show(split as u32);
            }
            let more = self.room().min(most - kept);
            let was_asked = stops.set(position + u64::from(more), split);
            if !was_asked || self.deque.taken() != self.split.get() {
                return;
            }
        }
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
