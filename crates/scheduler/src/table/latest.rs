//! Mailboxes that keep the latest messages.
//!
//! The queue of a process has one consumer, which the sender of one message too many is not: it
//! could not take the oldest out. So these messages lie apart, behind a lock, and the queue has a
//! [signal](crate::table::item::Signal::Latest) while there are any: a worker that comes to it
//! takes them all.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use filch_slab::{AllocateError, Slab};
use filch_sync::panic::{drop_all_contained, drop_contained};
use filch_sync::{Mutex, lock};

use crate::Protocol;

/// All of a scheduler's, for one process after another.
pub(crate) struct LatestMail<P: Protocol>(Slab<Arc<Latest<P>>>);

/// The latest messages of one process, which no worker has taken yet.
pub(crate) struct Latest<P: Protocol>(Mutex<Kept<P>>);

struct Kept<P: Protocol> {
    most: usize,
    messages: VecDeque<P::Message>,
}

/// A message was kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IsKept {
    /// It is alone: the process's queue is to say so.
    pub(crate) is_first: bool,
    /// One was dropped for it, or it was itself.
    pub(crate) has_dropped: bool,
}

impl<P: Protocol> LatestMail<P> {
    pub(crate) fn new() -> Self {
        // Fewer than a mailbox can tell apart, and more than memory has room for.
        Self(Slab::with_limit(|_| Arc::new(Latest::new()), 1 << 29))
    }

    /// A place for so many messages of a process that is to come.
    pub(crate) fn open(&self, most: usize) -> Result<u32, AllocateError> {
        let place = self.0.allocate()?;
        lock(&self.at(place).0).most = most;
        Ok(place)
    }

    /// The one in a place that was given out.
    pub(crate) fn at(&self, place: u32) -> &Arc<Latest<P>> {
        match self.0.get(place) {
            Some(latest) => latest,
            None => unreachable!("a place that was given out stays"),
        }
    }

    /// Drops what is there, and leaves the place to others. The queue of its process is closed, if
    /// there is one.
    pub(crate) fn close(&self, place: u32) {
        drop_all_contained(self.at(place).take());
        let is_retired = self.0.release(place);
        debug_assert!(!is_retired, "it goes with the scheduler");
    }
}

impl<P: Protocol> Latest<P> {
    fn new() -> Self {
        Self(Mutex::new(Kept {
            most: 0,
            messages: VecDeque::new(),
        }))
    }

    /// Keeps the message, in place of the oldest if there are too many.
    ///
    /// # Errors
    /// The message, if the process `is_over`: then its place may be another one's. It is asked
    /// under the lock, which the [close](LatestMail::close) takes later than the queue says so.
    pub(crate) fn keep(
        &self,
        message: P::Message,
        is_over: impl FnOnce() -> bool,
    ) -> Result<IsKept, P::Message> {
        let mut kept = lock(&self.0);
        if is_over() {
            return Err(message);
        }
        let was_empty = kept.messages.is_empty();
        kept.messages.push_back(message);
        let dropped = match kept.messages.len() > kept.most {
            true => kept.messages.pop_front(),
            false => None,
        };
        let is_kept = IsKept {
            is_first: was_empty && !kept.messages.is_empty(),
            has_dropped: dropped.is_some(),
        };
        drop(kept);
        drop_contained(dropped);
        Ok(is_kept)
    }

    /// Takes them all, the oldest first.
    pub(crate) fn take(&self) -> VecDeque<P::Message> {
        mem::take(&mut lock(&self.0).messages)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        lock(&self.0).messages.len()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::{IsKept, LatestMail};
    use crate::Protocol;

    enum Numbers {}

    impl Protocol for Numbers {
        type Input = ();
        type Message = u64;
        type Command = ();
        type Reply = ();
        type Output = ();
        type Error = String;
    }

    #[test]
    fn the_latest_are_kept_and_the_first_is_told() {
        let mail = LatestMail::<Numbers>::new();
        let place = mail.open(2).unwrap();
        let latest = mail.at(place);
        let mut kept = Vec::new();
        for number in 0..4 {
            let IsKept {
                is_first,
                has_dropped,
            } = latest.keep(number, || false).unwrap();
            kept.push((is_first, has_dropped));
        }
        assert_eq!(
            kept,
            [(true, false), (false, false), (false, true), (false, true)]
        );
        assert_eq!(latest.len(), 2);
        assert_eq!(latest.take(), [2, 3]);
        assert_eq!(latest.keep(4, || true), Err(4));
        assert!(latest.keep(5, || false).unwrap().is_first);
        mail.close(place);
        assert_eq!(mail.at(place).len(), 0);
    }

    #[test]
    fn where_none_may_be_kept_none_is_told() {
        let mail = LatestMail::<Numbers>::new();
        let latest = mail.at(mail.open(0).unwrap());
        for number in 0..2 {
            let kept = latest.keep(number, || false).unwrap();
            assert!(!kept.is_first && kept.has_dropped);
        }
        assert!(latest.take().is_empty());
    }
}
