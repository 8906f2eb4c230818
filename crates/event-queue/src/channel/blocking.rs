//! Receiving by a thread that sleeps until an event comes.

extern crate std;

use core::task::{Poll, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use filch_parker::{AdaptiveSpinner, Parker, Spin};
use filch_sync::time;

use super::RecvError;
use super::receiver::Receiver;

/// The length of a sleep beside a push that has claimed a slot, and perhaps not seen the waker. Its
/// thread is not running, or the push would have been done before this sleep.
const NAP: Duration = Duration::from_millis(1);

impl<T: Send> Receiver<T> {
    /// Waits for an event as [`recv`](Self::recv) does, but for `timeout` at most.
    ///
    /// # Errors
    /// [`RecvError::Empty`] if none has come by then, [`RecvError::Disconnected`] if none can come.
    #[inline]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvError> {
        match self.pop() {
            None => self.recv_until(time::now().checked_add(timeout)),
            Some(event) => Ok(event),
        }
    }

    /// Waits for an event as [`recv`](Self::recv) does, but until `deadline` at most.
    ///
    /// # Errors
    /// As [`recv_timeout`](Self::recv_timeout).
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvError> {
        self.recv_until(Some(deadline))
    }

    /// Waits until `deadline`; `None`: however long it takes.
    #[cold]
    #[inline(never)]
    pub(super) fn recv_until(&mut self, deadline: Option<Instant>) -> Result<T, RecvError> {
        let mut spinner = AdaptiveSpinner::new();
        // Beside a push that is under way: mostly it takes some nanoseconds more.
        let mut patience = AdaptiveSpinner::with_rounds(8, 12);
        let mut bed: Option<(Parker, Waker)> = None;
        loop {
            match self.try_recv() {
                Err(RecvError::Empty) => {}
                done => return done,
            }
            if spinner.spin() == Spin::Again {
                continue;
            }
            let (parker, waker) = bed.get_or_insert_with(|| {
                let parker = Parker::new();
                let waker = Waker::from(Arc::new(parker.unparker()));
                (parker, waker)
            });
            let until = match self.leave_waker(waker) {
                Poll::Pending => deadline,
                Poll::Ready(Err(RecvError::Empty)) => {
                    if patience.spin() == Spin::Again {
                        continue;
                    }
                    let nap = time::now() + NAP;
                    Some(deadline.map_or(nap, |deadline| nap.min(deadline)))
                }
                Poll::Ready(done) => return done,
            };
            let is_woken = match until {
                Some(until) => parker.park_deadline(until),
                None => {
                    parker.park();
                    true
                }
            };
            if !is_woken {
                self.shared.sleeper.withdraw();
                if deadline.is_some_and(|deadline| time::now() >= deadline) {
                    return self.try_recv();
                }
            }
        }
    }
}

/// The events that come, in order; the end is that of [`recv`](Receiver::recv), which may block.
///
/// # Examples
/// ```
/// let (sender, receiver) = filch_event_queue::channel();
/// let producer = std::thread::spawn(move || (1..=3).for_each(|n| sender.push(n).unwrap()));
/// assert_eq!(receiver.sum::<u32>(), 6); // until the last sender is gone
/// # producer.join().unwrap();
/// ```
impl<T: Send> Iterator for Receiver<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.recv()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    extern crate std;

    use std::thread;

    use crate::block::Block;
    use crate::channel::channel;

    /// No caller can make a push stall, so this test stands in the crate. The receiver naps beside
    /// the push at least once, and takes its event in the end.
    #[test]
    fn a_thread_waits_for_a_push_that_is_under_way() {
        let (sender, mut receiver) = channel();
        let place = sender.shared.producers.claim();
        let receiving = thread::spawn(move || receiver.recv());
        let sleeper = &sender.shared.sleeper;
        for asleep in [true, false, true] {
            while sleeper.is_asleep() != asleep && !receiving.is_finished() {
                thread::yield_now();
            }
        }
        // SAFETY: claimed above, and filled once.
        unsafe { Block::at(place.block()).fill(place.left() - 1, 1) };
        assert_eq!(receiving.join().unwrap(), Some(1));
    }
}
