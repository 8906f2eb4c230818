//! The consumer's end.

use core::cell::Cell;
use core::marker::PhantomData;
use core::task::{Context, Poll, Waker, ready};
use core::{fmt, mem, ptr};

use filch_sync::{Arc, hint};

use super::RecvError;
use super::adaptive_delay::AdaptiveDelay;
use super::sender::Sender;
use super::shared::Shared;
use crate::block::Block;
use crate::position::{Position, Tail};
use crate::queue::ReopenError;
use crate::scan::Scan;

/// The consumer's end, of which there is one. One thread at a time uses it.
///
/// Events are taken one by one ([`recv`](Self::recv), [`try_recv`](Self::try_recv),
/// [`pop`](Self::pop)) or all at once ([`drain`](Self::drain)); the methods may be mixed, and take
/// the events in one order. A receiver that has caught up with busy producers pauses, for 256
/// `pause` instructions at most, before it touches what they write: they get ahead, and it finds
/// many events next time.
///
/// Its drop closes the queue and drops the events that are in it. An event whose push is under way
/// at that moment is dropped with the last sender. Destructors that panic do so as in the drop of
/// an [`EventQueue`](crate::EventQueue).
#[doc(alias = "UnboundedReceiver")]
pub struct Receiver<T> {
    pub(super) shared: Arc<Shared<T>>,
    delay: AdaptiveDelay,
    /// Set while slots behind the head may be emptied, and are marked.
    is_marked: bool,
    /// The scan that has passed them, if it is not over.
    scan: Option<Scan>,
    /// The task that left its waker last.
    task: [usize; 2],
    /// Not Sync: one thread at a time, also for the methods that only look.
    not_sync: PhantomData<Cell<()>>,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self {
            shared,
            delay: AdaptiveDelay::new(),
            is_marked: false,
            scan: None,
            task: [0; 2],
            not_sync: PhantomData,
        }
    }
}

impl<T: Send> Receiver<T> {
    /// The pauses that an event is worth. A producer takes longer for a large one.
    const PAUSES_PER_EVENT: u32 = 4 + 4 * (size_of::<T>() / 64) as u32;

    /// Takes the oldest event; waits for it if there is none. `None`: none can come, because the
    /// queue is closed, or the last sender is gone.
    ///
    /// Blocking: it looks for some microseconds, then sleeps until a push, or the last sender's
    /// drop. A thread with a core to spare looks for longer by [`try_recv`](Self::try_recv) first.
    #[cfg(not(target_os = "none"))]
    #[inline]
    pub fn recv(&mut self) -> Option<T> {
        match self.pop() {
            None => self.recv_until(None).ok(),
            event => event,
        }
    }

    /// Takes the oldest event, if there is one. Wait-free; see
    /// [`EventQueue::pop`](crate::EventQueue::pop).
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        match self.pass_head() {
            // SAFETY: found just now.
            Some(place) => Some(unsafe { Block::take(place) }),
            None => self.pop_slowly(),
        }
    }

    /// Goes on behind the oldest event, if it is found without a look at the tail. The caller takes
    /// it at once.
    #[inline]
    fn pass_head(&mut self) -> Option<Position> {
        if self.is_marked {
            return None;
        }
        // SAFETY: there is one receiver, borrowed exclusively; no slot behind the head is emptied.
        let place = unsafe { self.shared.consumer.pass_head() }?;
        self.delay.run = self.delay.run.wrapping_add(1);
        Some(place)
    }

    /// Does the rest of `pop`.
    #[cold]
    #[inline(never)]
    fn pop_slowly(&mut self) -> Option<T> {
        let event = self.pop_by_scan();
        if event.is_some() {
            return event;
        }
        // At a block's end the next event may be there; to see it, one has to ask the tail.
        let pauses = match self.shared.consumer.head().left() {
            0 | 1 => 0,
            _ => self.delay.caught_up(Self::PAUSES_PER_EVENT),
        };
        if pauses > 0 {
            hint::linger(pauses);
            if let Some(place) = self.pass_head() {
                // SAFETY: found just now.
                return Some(unsafe { Block::take(place) });
            }
        }
        self.scan = self.new_scan();
        let event = self.pop_by_scan();
        if event.is_none() && pauses > 0 {
            self.delay.in_vain();
        }
        event
    }

    /// Begins a scan of all that is claimed now, if that is anything.
    fn new_scan(&self) -> Option<Scan> {
        let head = self.shared.consumer.head();
        let limit = self.shared.producers.snapshot();
        (head != limit).then_some(Scan::new(head, limit))
    }

    /// Takes the next event of the scan, if there is one.
    fn pop_by_scan(&mut self) -> Option<T> {
        let scan = self.scan.as_mut()?;
        let (consumer, producers) = (&self.shared.consumer, &self.shared.producers);
        // SAFETY: there is one receiver, borrowed exclusively; the limit was acquired, and the scan
        // is the newest.
        let place = unsafe { scan.next(producers) };
        // SAFETY: found just now.
        let event = place.map(|place| unsafe { Block::take(place) });
        // SAFETY: as above.
        unsafe { consumer.store(producers, scan) };
        self.delay.run = self.delay.run.wrapping_add(event.is_some().into());
        self.is_marked = scan.leaves_marks(self.is_marked);
        if !self.is_marked {
            self.scan = None;
        }
        event
    }

    /// Takes the oldest event, if there is one. As [`pop`](Self::pop), and says whether one may
    /// still come. Wait-free.
    ///
    /// # Errors
    /// [`RecvError::Empty`] if no push had completed when it looked. [`RecvError::Disconnected`] if
    /// the queue is empty and closed, or empty and without senders. It is not final:
    /// [`reopen`](Self::reopen) and [`sender`](Self::sender) begin anew.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, RecvError> {
        // Not by `pop`: to make a `Result` of an `Option` is a copy of the event.
        if let Some(place) = self.pass_head() {
            // SAFETY: found just now.
            return Ok(unsafe { Block::take(place) });
        }
        match self.pop_slowly() {
            Some(event) => Ok(event),
            None if self.shared.is_over() => Err(RecvError::Disconnected),
            None => Err(RecvError::Empty),
        }
    }

    /// Moves every event whose push happened before to `sink`, oldest first; returns how many.
    /// Wait-free; see [`EventQueue::drain`](crate::EventQueue::drain).
    #[doc(alias = "recv_many")]
    pub fn drain(&mut self, mut sink: impl FnMut(T)) -> usize {
        let mut moved = 0;
        self.scan = None;
        let Some(mut scan) = self.new_scan() else {
            return 0;
        };
        // Also if the sink panics.
        let was_marked = mem::replace(&mut self.is_marked, true);
        let sink = |event| {
            moved += 1;
            sink(event);
            true
        };
        // SAFETY: as in `pop_by_scan`.
        unsafe { (self.shared.consumer).run(&self.shared.producers, &mut scan, sink) };
        self.is_marked = scan.leaves_marks(was_marked);
        if moved > 0 && !self.is_empty() {
            self.delay.run = self.delay.run.wrapping_add(moved as u32);
            hint::linger(self.delay.caught_up(Self::PAUSES_PER_EVENT));
        }
        moved
    }

    /// Takes the oldest event, or leaves the task's waker for the push that brings the next one:
    /// what a future or a stream needs, under any executor. `None`: none can come, as
    /// [`try_recv`](Self::try_recv) says it. Wait-free.
    ///
    /// The last sender wakes the task, too. If a push is under way that may not have seen the
    /// waker, the task is woken at once, to look again.
    ///
    /// `futures::stream::poll_fn(move |cx| receiver.poll_recv(cx))` is a `Stream` of the events.
    ///
    /// # Examples
    /// ```
    /// use std::future::poll_fn;
    ///
    /// async fn sum(mut numbers: filch_event_queue::Receiver<u32>) -> u32 {
    ///     let mut sum = 0;
    ///     while let Some(number) = poll_fn(|cx| numbers.poll_recv(cx)).await {
    ///         sum += number;
    ///     }
    ///     sum
    /// }
    /// ```
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        // Nothing has come since it left its waker, which is there still: each push that claims,
        // and the last sender's drop, will take it.
        if self.task == task_of(cx.waker())
            && self.shared.producers.tail() == Tail::open(self.shared.consumer.head())
            && self.shared.sleeper.is_left()
        {
            return Poll::Pending;
        }
        self.poll_anew(cx.waker())
    }

    /// Does the rest of `poll_recv`.
    #[inline(never)]
    fn poll_anew(&mut self, waker: &Waker) -> Poll<Option<T>> {
        let mut found = self.try_recv();
        if let Err(RecvError::Empty) = found {
            found = ready!(self.leave_waker(waker));
        }
        if let Err(RecvError::Empty) = found {
            // It is polled again at once, until the push is done: it spins.
            hint::spin_loop();
            waker.wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(found.ok())
    }

    /// Leaves `waker` for the push that brings the next event, and looks once more. Pending: each
    /// push to come wakes. Empty: a push is under way, and perhaps wakes nobody. If there is
    /// nothing to wait for, takes the waker back.
    pub(super) fn leave_waker(&mut self, waker: &Waker) -> Poll<Result<T, RecvError>> {
        self.task = task_of(waker);
        self.shared.sleeper.register(waker.clone());
        // Each push that claims after this sees the waker.
        let tail = self.shared.producers.tail_after_notice();
        if tail.next == self.shared.consumer.head() && !self.shared.is_over() {
            return Poll::Pending;
        }
        let found = self.try_recv();
        if !matches!(found, Err(RecvError::Empty)) {
            self.shared.sleeper.withdraw();
        }
        Poll::Ready(found)
    }

    /// Gives the memory of an empty queue back; see
    /// [`EventQueue::shrink`](crate::EventQueue::shrink). Wait-free.
    pub fn shrink(&mut self) -> bool {
        // SAFETY: as in `pop`.
        unsafe { self.shared.consumer.shrink(&self.shared.producers) }
    }

    /// Refuses every later push; what is there can still be taken. Wait-free.
    pub fn close(&self) {
        self.shared.producers.close();
    }

    /// Opens a closed queue again. All senders made before stay refused; those that
    /// [`sender`](Self::sender) makes from now on are heard. Returns the number of the new life.
    /// Wait-free.
    ///
    /// # Errors
    /// [`ReopenError`] if the queue is not closed, not emptied, or a push is under way.
    ///
    /// # Examples
    /// ```
    /// use filch_event_queue::{PushError, ReopenError, channel};
    ///
    /// let (early, mut receiver) = channel();
    /// early.push("first life").unwrap();
    /// receiver.close();
    /// assert_eq!(early.push("closed"), Err(PushError::Closed("closed")));
    ///
    /// assert_eq!(receiver.reopen(), Err(ReopenError::Unfinished));
    /// assert_eq!(receiver.pop(), Some("first life"));
    /// assert_eq!(receiver.reopen(), Ok(1));
    ///
    /// assert_eq!(early.push("stale"), Err(PushError::Stale("stale")));
    /// receiver.sender().push("second life").unwrap();
    /// assert_eq!(receiver.pop(), Some("second life"));
    /// ```
    pub fn reopen(&mut self) -> Result<u32, ReopenError> {
        // SAFETY: as in `pop`.
        unsafe { self.shared.consumer.reopen(&self.shared.producers) }
    }

    /// The number of the present life, from 0. Wait-free.
    pub fn generation(&self) -> u32 {
        self.shared.producers.generation()
    }

    /// A sender for the present life. If the queue is closed, its pushes are refused.
    pub fn sender(&self) -> Sender<T> {
        Sender::new(&self.shared, self.generation())
    }

    /// Says whether every slot that a push has claimed is emptied. `false` right after a drain: a
    /// push is under way, or has completed since. Wait-free.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }
}

/// Returns two numbers that are the same for two wakers if they [wake](Waker::will_wake) one task.
#[inline]
fn task_of(waker: &Waker) -> [usize; 2] {
    [waker.data().addr(), ptr::from_ref(waker.vtable()).addr()]
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.producers.close();
        // A waker may own the task that owns the other end.
        self.shared.sleeper.withdraw();
        // SAFETY: there is one receiver, and this is it.
        unsafe { self.shared.consumer.clear(&self.shared.producers) };
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Receiver").field(&*self.shared).finish()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Poll, Wake, Waker};

    use crate::block::Block;
    use crate::channel::channel;

    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    // No caller can make a push stall, so these tests stand in the crate.
    #[test]
    fn a_late_push_takes_the_waker_of_the_next_wait() {
        let (sender, mut receiver) = channel();
        let woken = Arc::new(Woken(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        assert_eq!(receiver.poll_recv(&mut cx), Poll::Pending);
        // A push, of an event that was found before, comes to its end.
        sender.shared.sleeper.wake();
        assert_eq!(receiver.poll_recv(&mut cx), Poll::Pending);
        woken.0.store(false, Ordering::Relaxed);
        sender.push(1).unwrap();
        assert!(woken.0.load(Ordering::Relaxed), "it sleeps beside an event");
    }

    #[test]
    fn a_task_beside_a_push_under_way_is_woken_to_look_again() {
        let (sender, mut receiver) = channel();
        let woken = Arc::new(Woken(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        let place = sender.shared.producers.claim();

        assert_eq!(receiver.poll_recv(&mut cx), Poll::Pending);
        assert!(woken.0.swap(false, Ordering::Relaxed));
        sender.push(2).unwrap();
        assert!(woken.0.load(Ordering::Relaxed), "a later push is heard");
        assert_eq!(receiver.poll_recv(&mut cx), Poll::Ready(Some(2)));

        // SAFETY: claimed above, and filled once.
        unsafe { Block::at(place.block()).fill(place.left() - 1, 1) };
        assert_eq!(receiver.poll_recv(&mut cx), Poll::Ready(Some(1)));
    }
}
