//! Threads that nobody waits for: their makers run them when they like, or never.
//!
//! For each of them a processor is inactive until it comes. So one that does not come is missing,
//! and that is all: nothing waits for its processor, and nothing is given to that. If none has come
//! yet, a pool that is told to stop is not over: the first one does the work that is left.

use filch_parker::Parker;

use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::grant::Grant;
use crate::protocol::state::work::Work;

impl Coordinator {
    /// Expects `count` threads, for as many processors, all of which are inactive, and has `make`
    /// make them: it is told their places. Whether all could be had; if not, the pool is to be
    /// stopped.
    pub fn expect_all(&self, count: usize, mut make: impl FnMut(usize) -> bool) -> bool {
        let mut places = Vec::new();
        {
            let mut synced = self.synced();
            while places.len() < count
                && let Some(place) = self.place_within_limit(&mut synced)
            {
                places.push(place);
            }
            synced.expected += places.len();
            synced.started += places.len() as u64;
        }
        // All places first: a thread that has come already may block, and want one more.
        let mut made = 0;
        let complete = places.len() == count
            && places.iter().all(|&place| {
                made += 1;
                make(place)
            });
        if !complete {
            self.synced().gives_up = true;
            // A place that `make` was told is given back by its thread.
            for &place in &places[made..] {
                self.expect_no_more(place);
            }
        }
        complete
    }

    /// The thread of that place has come, with all that it needs. It is told what to do: to run on
    /// a processor that waits for a thread, if there is one.
    pub fn arrive(&self, machine: usize) {
        let mut synced = self.synced();
        synced.expected -= 1;
        if synced.over {
            return self.tell_to_exit(machine, &mut synced);
        }
        let active = self.control_word().active();
        match (0..active).find_map(|processor| self.activate(processor, &mut synced)) {
            Some(permit) => self.grant(machine, Grant::Run(permit)),
            // There are fewer processors now.
            None => self.become_spare(machine, &mut synced),
        }
    }

    /// The thread of that place will not come. The caller must ask
    /// [`is_deserted`](Self::is_deserted) afterwards.
    pub fn stay_away(&self, place: usize, work: &impl Work) {
        self.expect_no_more(place);
        if self.control_word().is_stopping() {
            self.try_end(work);
        }
    }

    /// The same, of one that has begun, and cannot run anything.
    pub(crate) fn fail(&self, machine: usize, parker: Parker, work: &impl Work) {
        self.abandon(machine, parker);
        self.stay_away(machine, work);
    }

    fn expect_no_more(&self, place: usize) {
        let mut synced = self.synced();
        synced.expected -= 1;
        synced.started -= 1;
        self.record_start(place, false, &mut synced);
    }
}

#[cfg(test)]
mod tests {
    use crate::protocol::state::coordinator::Coordinator;

    #[test]
    fn places_that_were_made_for_nobody_are_given_back() {
        let coordinator = Coordinator::new(3, 3, 2, 0);
        assert!(!coordinator.expect_all(3, |_| unreachable!("there are two places")));
        let threads = coordinator.thread_stats();
        assert_eq!((threads.threads, threads.started), (0, 0));
        assert_eq!(threads.refused, 3, "the third, and for it the others");
        let mut made = Vec::new();
        let refused = |place| {
            made.push(place);
            made.len() < 2
        };
        assert!(!coordinator.expect_all(2, refused));
        assert_eq!(
            coordinator.thread_stats().threads,
            2,
            "these answer for themselves"
        );
    }
}
