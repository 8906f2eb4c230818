use std::sync::{Arc, PoisonError, Weak};
use std::task::Waker;
use std::time::Instant;
use std::{fmt, io};

use filch_sync::{Condvar, Mutex, MutexGuard, wait_until};

use super::clock::{Clock, Ticks};
use super::queue::{Action, Queue};
use crate::contain::{contain, dispose};
use crate::staff;

/// What all clones of one `Timers` share, and the last one takes with it.
pub(super) struct Service {
    shared: Arc<Shared>,
    /// `None` on a clock that is moved by hand, and when it has been joined.
    thread: Mutex<Option<filch_sync::thread::JoinHandle<()>>>,
}

/// What the thread needs.
struct Shared {
    clock: Box<dyn Clock>,
    queue: Mutex<Queue>,
    /// The thread sleeps here until the first deadline.
    changed: Condvar,
    /// Who waits in `block_until`.
    registered: Condvar,
}

impl Service {
    pub(super) fn start(clock: Box<dyn Clock>) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            clock,
            queue: Mutex::new(Queue::default()),
            changed: Condvar::new(),
            registered: Condvar::new(),
        });
        let alarm = Alarm {
            shared: Arc::downgrade(&shared),
        };
        let thread = match shared.clock.attach(alarm) {
            Ticks::ByHand => None,
            Ticks::ByItself => {
                let shared = Arc::clone(&shared);
                let thread = filch_sync::thread::Builder::new().name("filch-timers".to_owned());
                Some(thread.spawn(move || shared.run())?)
            }
        };
        let thread = Mutex::new(thread);
        Ok(Self { shared, thread })
    }

    pub(super) fn now(&self) -> Instant {
        self.shared.clock.now()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        self.shared.lock()
    }

    /// Puts a timer in, and returns its number.
    ///
    /// # Errors
    /// The action, after the shutdown.
    pub(super) fn register(&self, deadline: Instant, action: Action) -> Result<u64, Action> {
        let shared = &self.shared;
        let mut queue = shared.lock();
        let first = queue.next();
        let number = queue.insert(deadline, action)?;
        let watched = queue.watchers > 0;
        drop(queue);
        if first.is_none_or(|first| deadline < first) {
            shared.changed.notify_one();
        }
        if watched {
            shared.registered.notify_all();
        }
        Ok(number)
    }

    /// While the timer is pending, makes `waker` the one that it wakes. Whether it is.
    pub(super) fn rewake(&self, number: u64, waker: Waker) -> bool {
        let outcome = self.lock().rewake(number, waker);
        let pending = outcome.is_ok();
        dispose(outcome);
        pending
    }

    pub(super) fn block_until(&self, count: usize) {
        let mut queue = self.lock();
        while queue.len() < count && !queue.is_closed() {
            queue.watchers += 1;
            let woken = self.shared.registered.wait(queue);
            queue = woken.unwrap_or_else(PoisonError::into_inner);
            queue.watchers -= 1;
        }
    }

    pub(super) fn shutdown(&self) {
        let pending = self.lock().close();
        self.shared.changed.notify_one();
        self.shared.registered.notify_all();
        for timer in pending.into_values() {
            // A waker or a destructor that panics costs its own timer, not the others.
            let _ = contain(|| timer.give_up());
        }
        if staff::is_ours() {
            // The thread leaves when what it fires returns.
            return;
        }
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // What it fires is contained.
            let _ = thread.join();
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // What is the user's runs without the lock; a panic leaves nothing half done in there.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread's life.
    fn run(&self) {
        staff::enlist();
        let mut queue = self.lock();
        while !queue.is_closed() {
            if let Some((number, action)) = queue.pop_due(self.clock.now()) {
                drop(queue);
                self.fire(number, action);
                queue = self.lock();
                continue;
            }
            queue = match queue.next() {
                Some(deadline) => wait_until(&self.changed, &self.queue, queue, deadline).0,
                None => {
                    let woken = self.changed.wait(queue);
                    woken.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }

    /// Fires all that is due.
    fn ring(&self) {
        loop {
            let now = self.clock.now();
            // A statement of its own, for the lock to be let go of.
            let due = self.lock().pop_due(now);
            let Some((number, action)) = due else { return };
            self.fire(number, action);
        }
    }

    fn fire(&self, number: u64, action: Action) {
        // A panic has nobody to be told to: see `Timers::call_at`.
        match action {
            Action::Once(call) => {
                let _ = contain(call);
            }
            Action::Wake(waker) => {
                let _ = contain(|| waker.wake());
            }
            Action::Every(period, mut call) => {
                let more = matches!(contain(&mut call), Ok(true));
                let action = Action::Every(period, call);
                let now = self.clock.now();
                let over = if more {
                    self.lock().again(number, period, action, now).err()
                } else {
                    drop(self.lock().cancel(number));
                    Some(action)
                };
                dispose(over);
            }
        }
    }
}

/// What a clock that is moved by hand rings. It does not keep the timers alive.
#[derive(Clone)]
pub struct Alarm {
    shared: Weak<Shared>,
}

impl Alarm {
    /// Fires all timers that are due now, here, in order.
    pub fn ring(&self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.ring();
        }
    }

    /// When the first timer is due.
    pub fn next(&self) -> Option<Instant> {
        self.shared.upgrade()?.lock().next()
    }
}

impl fmt::Debug for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarm").finish_non_exhaustive()
    }
}
