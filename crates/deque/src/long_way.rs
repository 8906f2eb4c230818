//! The owner's long way, on which a stop sends it: it answers thieves, and decides whose the deque
//! is. And the pop of a deque that is always shared.

use filch_sync::asymmetric;

use crate::deque::NO_FLOOR;
use crate::top::Top;
use crate::worker::Worker;

/// After a thief had to take the deque from a silent owner, it stays shared for so many pops: the
/// owner is in jobs that are long beside a pop, and a heavy fence costs more than all of these.
const WARY: u32 = 256;

impl<T> Worker<T> {
    /// Finishes a push that found a stop. It is to follow where a [`push_at`](Self::push_at) has
    /// said `false`.
    #[cold]
    #[inline(never)]
    pub fn settle(&self) {
        if self.position() == self.room_end.get() {
            self.make_room();
        }
        if !self.may_bias {
            return self.deque.set_stops(self.room_end.get(), NO_FLOOR);
        }
        if self.is_biased.get() {
            let top = self.deque.top();
            // If nobody has asked, it was for the room.
            if top.is_biased() && self.bias(top) {
                return;
            }
            self.share_now(top);
        }
        self.answer();
    }

    /// Takes the item at `last` off a deque that may be biased, after a stop. Returns whether it is
    /// the owner's.
    #[inline(never)]
    pub(crate) fn reclaim(&self, last: u64) -> bool {
        let known = self.reached.get();
        if known > last {
            // Empty, as before.
            self.deque.set_bottom(known);
            return false;
        }
        self.look_at_thieves(last, known, self.deque.bump().next())
    }

    /// Takes the item at `last` off an always shared deque. Returns whether it is the owner's.
    #[inline(always)]
    pub(crate) fn take_shared(&self, last: u64) -> bool {
        let known = self.reached.get();
        if known > last {
            return false;
        }
        self.deque.set_bottom(last);
        let top = self.deque.bump();
        top.leaves(last) || self.look_at_thieves(last, known, top.next())
    }

    /// Returns whether the item at `last` is the owner's, in the epoch that has begun with `top`,
    /// where thieves were `known` to be before.
    #[inline(never)]
    fn look_at_thieves(&self, last: u64, known: u64, top: Top) -> bool {
        let was_left_alone = top.until(known) == 0 && !top.is_asked() && !self.is_biased.get();
        if was_left_alone {
            match self.wary.get() {
                0 if asymmetric::is_available() => _ = self.bias(top),
                wary => self.wary.set(wary.saturating_sub(1)),
            }
            return true;
        }
        let reached = top.position(last);
        self.reached.set(reached);
        if reached > last {
            // Stolen, as all before it. Thieves are where the deque ends.
            self.deque.set_bottom(reached);
        }
        if self.may_bias && (self.is_biased.get() || top.is_asked()) {
            self.share_now(top);
            // Else the request stays: the next push is to tell the thief.
            if reached < last {
                self.answer();
            }
        }
        reached <= last
    }

    /// Puts all items in reach of thieves, and those that follow, until a pop finds that no thief
    /// has come. For an owner that will not touch its deque for a while: it spares a thief the
    /// heavy fence.
    ///
    /// Wait-free: two stores and two exchanges, or nothing atomic if it is shared.
    pub fn share(&self) {
        if self.is_biased.get() {
            self.share_now(self.deque.top());
            if !self.is_empty() {
                self.answer();
            }
        }
    }

    /// Shares the deque, which a thief may have done already, because the owner was silent.
    fn share_now(&self, top: Top) {
        if self.is_biased.replace(false) {
            if top.is_shared() {
                self.wary.set(WARY);
            }
            self.deque.move_stops_away();
            self.deque.share();
        }
    }

    /// Takes down a request, as there is something in reach for the thief that has made it.
    fn answer(&self) {
        if self.deque.answer() {
            self.was_asked.set(true);
        }
    }

    /// Makes the deque the owner's, if nothing has changed since `top`. Returns whether it is.
    ///
    /// The stops come first. So a thief that asks from then on moves these away, and no older ones.
    fn bias(&self, top: Top) -> bool {
        let reached = top.position(self.position());
        self.deque.set_stops(self.room_end.get(), reached);
        if self.deque.bias(top) {
            self.reached.set(reached);
            self.is_biased.set(true);
            return true;
        }
        // Nobody has gone by them in between.
        self.deque.move_stops_away();
        false
    }

    /// Returns whether a thief that had asked has been answered since the last call: threads that
    /// sleep want to know, whatever has become of the items. One that has not seen what was pushed
    /// has [asked](crate::Stealer::ask), and what it did before that happens before this.
    /// Wait-free.
    ///
    /// It becomes true in the long ways of a push or a pop, and where the owner shares or makes
    /// room. It speaks of a deque that may be [biased](Self::biased), and is `false` for others. A
    /// new one was asked: by thieves that slept before it was there.
    pub fn was_asked(&self) -> bool {
        self.was_asked.replace(false)
    }
}
