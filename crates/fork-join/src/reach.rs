//! Jobs that are in reach of a thread, and those that others keep to themselves.

use filch_deque::Request;
use filch_sync::asymmetric::Refused;

use crate::forked::Entry;
use crate::shared::{Seat, Shared};

impl Seat {
    /// Returns whether there is something in reach of any thread.
    fn has_shared(&self) -> bool {
        self.forks.is_shared() && !self.forks.is_empty() || !self.spawned.is_empty()
    }

    /// Returns whether its thread keeps something to itself, as far as others can know.
    fn keeps_some(&self) -> bool {
        !self.forks.is_shared() && !self.forks.is_empty()
    }
}

impl Shared {
    /// Returns whether there is a job in reach of any thread.
    fn has_shared(&self) -> bool {
        !self.common.is_empty() || self.all_seats().any(Seat::has_shared)
    }

    /// Returns whether a thread that looks for a job may find one. No more than a look.
    pub(crate) fn may_have_some(&self) -> bool {
        self.has_shared() || self.all_seats().any(|seat| !seat.forks.is_shared())
    }

    /// Returns whether another thread is to look, when the calling one has found a job in the place
    /// of those that sleep. If not, each deque is asked again: the answer to what a sleeper had
    /// asked may have gone to this thread, and the next push is to wake another.
    pub(crate) fn leaves_some(&self) -> bool {
        self.has_shared()
            || self.all_seats().any(|seat| seat.forks.ask().is_some())
            || self.has_shared()
    }

    /// Returns whether there is a job that any thread could take. A thread that sleeps after a
    /// `false` has left none behind: it has announced its sleep before, and asks all others but the
    /// one in its `own` seat, which keeps nothing to itself.
    pub(crate) fn has_work(&self, own: Option<usize>) -> bool {
        self.has_shared()
            || self.await_answers(self.others(own).filter_map(|seat| seat.forks.ask()))
    }

    /// Makes threads share what they keep to themselves, for one that has found nothing. Returns
    /// whether another look is worth it.
    pub(crate) fn insist(&self, own: Option<usize>) -> bool {
        let hidden = self.others(own).filter(|seat| seat.keeps_some());
        self.await_answers(hidden.filter_map(|seat| seat.forks.ask()))
    }

    /// Gives the owners of these deques the time in which one that is at work answers, and then
    /// goes without the answers of the others. Returns whether a job is in reach then, or may be
    /// later.
    fn await_answers<'a>(&'a self, requests: impl Iterator<Item = Request<'a, Entry>>) -> bool {
        let requests: Vec<_> = requests.collect();
        let awaited = Request::await_all(&requests, || self.has_shared());
        awaited == Err(Refused::ForNow) || self.has_shared()
    }

    fn others(&self, own: Option<usize>) -> impl Iterator<Item = &Seat> {
        let others = self.all_seats().enumerate();
        others.filter_map(move |(seat, other)| (Some(seat) != own).then_some(other))
    }
}
