//! The queue under its lock, the thread that sleeps until the first deadline, and their shutdown.

use std::cell::Cell;
use std::io;
use std::sync::{
    Arc, Mutex as SystemMutex, MutexGuard as SystemGuard, OnceLock, PoisonError, Weak,
};
use std::task::Waker;
use std::time::{Duration, Instant};

use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::panic::{catch_panic, drop_contained};
use filch_sync::{Condvar, Mutex, MutexGuard, lock, wait_until};

use crate::clock::{Alarm, Clock, Ticks};
use crate::looks::Looks;
use crate::queue::{Action, Due, Owner, Queue, TimerKey};
use crate::timer_thread::{self, RunningTimer, TimerThread};

filch_sync::thread_local! {
    static FIRES: Cell<bool> = Cell::new(false)
}

/// Returns whether the calling thread fires timers, of the system's clock or of another one that
/// [moves by itself](Ticks::ByItself).
///
/// A timer's call may drop any value. A destructor that waits for threads must ask here first:
/// those threads may be waiting for this one.
pub fn is_timer_thread() -> bool {
    FIRES.with(Cell::get)
}

/// Tells the threads of a scheduler, on which no shutdown waits.
static IS_OURS: OnceLock<fn() -> bool> = OnceLock::new();

/// Lets no shutdown wait on threads on which `is_ours` returns true: a call that fires may drop a
/// scheduler, and so wait for its threads. The first call counts: it is the same for all.
pub fn never_wait_on(is_ours: fn() -> bool) {
    let _ = IS_OURS.set(is_ours);
}

fn must_not_wait() -> bool {
    is_timer_thread() || IS_OURS.get().is_some_and(|is_ours| is_ours())
}

/// All timers of the program. The lock is the system's even in a model: nobody waits under it.
static SERVICES: SystemMutex<Vec<Weak<Shared>>> = SystemMutex::new(Vec::new());

fn services() -> SystemGuard<'static, Vec<Weak<Shared>>> {
    SERVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the number of timers in the program that may still make a call set for `owner`, or wake
/// a waker for which `is_its` returns true; and the time until the first is due, by its own clock.
///
/// A call without an owner counts for each owner that its timers have served. It looks at every
/// pending timer, and calls `is_its`, under the lock of its timers: that must leave them alone.
pub fn pending_for(owner: usize, is_its: &dyn Fn(&Waker) -> bool) -> (usize, Duration) {
    let services: Vec<_> = services().iter().filter_map(Weak::upgrade).collect();
    let mut total = (0, Duration::MAX);
    for service in services {
        let (count, next) = service.lock().pending_for(Owner(owner), is_its);
        if count > 0 {
            let now = service.clock.now();
            let left = next.map_or(Duration::ZERO, |next| next.saturating_duration_since(now));
            total = (total.0 + count, total.1.min(left));
        }
    }
    total
}

/// The state that all clones of one `Timers` share; the last one drops it.
pub(super) struct Service {
    shared: Arc<Shared>,
    /// `None` on a clock moved by hand, and after the join.
    thread: Mutex<Option<filch_sync::thread::JoinHandle<()>>>,
}

/// The state that the thread needs, and a clock that is moved by hand.
pub(super) struct Shared {
    clock: Box<dyn Clock>,
    queue: Mutex<Queue>,
    /// The number of waits that share one of the timers with another wait.
    sharing: AtomicUsize,
    /// The thread sleeps here until the first deadline.
    changed: Condvar,
    /// Callers of `block_until` wait here.
    registered: Condvar,
    /// Threads that wait for the thread's end with a deadline sleep here.
    left: Condvar,
}

impl Service {
    pub(super) fn start(clock: Box<dyn Clock>) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue::new(clock.now())),
            clock,
            sharing: AtomicUsize::new(0),
            changed: Condvar::new(),
            registered: Condvar::new(),
            left: Condvar::new(),
        });
        let thread = match shared.clock.attach(Alarm::new(Arc::downgrade(&shared))) {
            Ticks::ByHand => None,
            Ticks::ByItself => {
                let shared = Arc::clone(&shared);
                let thread = filch_sync::thread::Builder::new().name(timer_thread::NAME.to_owned());
                Some(thread.spawn(move || {
                    timer_thread::be_punctual();
                    shared.run();
                })?)
            }
        };
        let mut services = services();
        services.retain(|service| service.strong_count() > 0);
        services.push(Arc::downgrade(&shared));
        drop(services);
        Ok(Self {
            shared,
            thread: Mutex::new(thread),
        })
    }

    pub(super) fn now(&self) -> Instant {
        self.shared.clock.now()
    }

    pub(super) fn pending(&self) -> usize {
        self.shared.lock().len()
    }

    /// Adds to the number of waits that share a timer, or wraps around to subtract.
    pub(super) fn share(&self, added: usize) {
        // ORDERING: Release, partner of the Acquire in `Shared::waits`: what the caller did before
        // happens before a test goes on that has counted these waits.
        self.shared.sharing.fetch_add(added, Ordering::Release);
        self.shared.clock.registered();
    }

    /// Adds a timer, whose action `into_action` makes of what was given for it. Returns its key,
    /// and whether the thread looks at another timer before its deadline.
    ///
    /// # Errors
    /// The value that was given, after the shutdown.
    pub(super) fn register<T>(
        &self,
        deadline: Instant,
        owner: Owner,
        given: T,
        into_action: impl FnOnce(T) -> Action,
    ) -> Result<(TimerKey, bool), T> {
        let shared = &self.shared;
        let mut queue = shared.lock();
        if queue.is_closed() {
            return Err(given);
        }
        // Under the lock, as an action does not come back: no user code runs in there.
        let action = into_action(given);
        let is_conditional = matches!(action, Action::While(_));
        let unwanted = is_conditional.then(|| [queue.sweep(), queue.sweep()]);
        let key = queue.insert(deadline, owner, action);
        let behind = queue.looks.come_before(deadline);
        let wakes = queue.looks.wakes_for(deadline);
        let watched = queue.watchers > 0;
        drop(queue);
        if wakes {
            shared.changed.notify_one();
        }
        if watched {
            shared.registered.notify_all();
        }
        shared.clock.registered();
        if let Some(unwanted) = unwanted {
            unwanted.into_iter().for_each(drop_contained);
        }
        Ok((key, behind))
    }

    /// Removes a timer. Returns whether it was pending.
    pub(super) fn cancel(&self, key: TimerKey) -> bool {
        let cancelled = self.shared.lock().cancel(key);
        // Without the lock: it runs the user's destructor.
        let pending = cancelled.is_some();
        drop_contained(cancelled);
        pending
    }

    /// Makes `waker` the one that a pending timer wakes. Returns whether the timer is pending.
    pub(super) fn rewake(&self, key: TimerKey, waker: Waker) -> bool {
        let outcome = self.shared.lock().rewake(key, waker);
        let pending = outcome.is_ok();
        drop_contained(outcome);
        pending
    }

    pub(super) fn block_until(&self, count: usize) {
        let mut queue = self.shared.lock();
        while queue.len() < count && !queue.is_closed() {
            queue.watchers += 1;
            let woken = self.shared.registered.wait(queue);
            queue = woken.unwrap_or_else(PoisonError::into_inner);
            queue.watchers -= 1;
        }
    }

    pub(super) fn shutdown(&self) {
        self.close();
        if must_not_wait() {
            // The thread exits when its call returns.
            return;
        }
        let mut thread = lock(&self.thread);
        if let Some(thread) = thread.take() {
            // Its panics are contained.
            let _ = thread.join();
        }
    }

    /// # Errors
    /// The call that has not returned by the `deadline`, if there is one.
    pub(super) fn shutdown_by(&self, deadline: Option<Instant>) -> Result<(), RunningTimer> {
        self.close();
        match self.thread() {
            Some(thread) if !must_not_wait() => thread.wait(deadline),
            _ => Ok(()),
        }
    }

    /// Returns the thread, if there is one and it was not joined.
    fn thread(&self) -> Option<TimerThread> {
        let started = lock(&self.thread).is_some();
        started.then(|| TimerThread::new(Arc::clone(&self.shared)))
    }

    /// Ends all pending timers, and makes the thread exit.
    fn close(&self) {
        let pending = self.shared.lock().close();
        self.shared.changed.notify_one();
        self.shared.registered.notify_all();
        for timer in pending {
            // A waker or a destructor that panics costs its own timer, not the others.
            let _ = catch_panic(|| timer.give_up());
        }
    }
}

impl Drop for Service {
    /// Does not wait for the thread: its call may never return.
    fn drop(&mut self) {
        self.close();
        if let Some(thread) = self.thread() {
            timer_thread::leave(thread);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    /// Runs the thread.
    fn run(&self) {
        FIRES.with(|fires| fires.set(true));
        let mut queue = self.lock();
        while !queue.is_closed() {
            let now = self.clock.now();
            if let Some(Due { key, owner, action }) = queue.pop_due(now) {
                queue.in_call_since = Some(now);
                drop(queue);
                self.fire(key, action);
                queue = self.lock();
                queue.in_call_since = None;
                queue.fired(owner);
                continue;
            }
            let next = queue.next();
            queue.looks = next.map_or(Looks::Never, Looks::At);
            (queue, _) = wait_until(&self.changed, &self.queue, queue, next);
            queue.looks = Looks::Soon;
        }
        queue.left = true;
        drop(queue);
        self.left.notify_all();
    }

    fn fire(&self, key: TimerKey, action: Action) {
        // The message of a panic is lost: see `Timers::call_at`.
        match action {
            Action::Once(call) => {
                let _ = catch_panic(call);
            }
            Action::While(call) => {
                let _ = catch_panic(|| call.call());
            }
            Action::Wake(waker) => {
                let _ = catch_panic(|| waker.wake());
            }
            Action::Every(period, mut call) => {
                let more = matches!(catch_panic(&mut call), Ok(true));
                let action = Action::Every(period, call);
                let now = self.clock.now();
                let over = if more {
                    self.lock().again(key, period, action, now).err()
                } else {
                    drop(self.lock().cancel(key));
                    Some(action)
                };
                drop_contained(over);
            }
        }
    }

    /// See [`TimerThread::wait`].
    pub(super) fn wait(&self, deadline: Option<Instant>) -> Result<(), RunningTimer> {
        let mut queue = self.lock();
        let mut over = false;
        while !queue.left {
            if over {
                let since = queue.in_call_since;
                return since.map_or(Ok(()), |since| Err(RunningTimer::since(since)));
            }
            (queue, over) = wait_until(&self.left, &self.queue, queue, deadline);
        }
        Ok(())
    }

    /// See [`Alarm::ring`].
    pub(super) fn ring(&self) {
        loop {
            let now = self.clock.now();
            // A statement of its own, so that the lock is free before the timer fires.
            let due = self.lock().pop_due(now);
            let Some(Due { key, owner, action }) = due else {
                return;
            };
            self.fire(key, action);
            self.lock().fired(owner);
        }
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.lock().next()
    }

    /// See [`Alarm::waits`].
    pub(super) fn waits(&self) -> usize {
        // ORDERING: Acquire, partner of the Release in `Service::share`.
        let sharing = self.sharing.load(Ordering::Acquire);
        self.lock().len() + sharing
    }
}
