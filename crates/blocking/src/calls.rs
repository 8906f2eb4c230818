//! The running calls: their labels, threads and times. A thread can wait for them until a deadline,
//! and then name those that still run.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, Instant};

use filch_sync::thread::{self, Thread};
use filch_sync::{Arc, Condvar, Mutex, MutexGuard, lock, wait_until};

/// A list of running calls, each with a label of type `L`.
pub struct Calls<L> {
    list: Mutex<List<L>>,
    /// Threads that wait for calls to end sleep here.
    ended: Condvar,
}

struct List<L> {
    places: Vec<Option<Entry<L>>>,
    /// Places whose calls have ended.
    vacant: Vec<usize>,
    /// The number of threads that wait for calls to end.
    waiting: usize,
}

struct Entry<L> {
    label: L,
    thread: Thread,
    since: Instant,
}

impl<L> Calls<L> {
    /// Makes a list without calls.
    pub fn new() -> Self {
        Self {
            list: Mutex::new(List {
                places: Vec::new(),
                vacant: Vec::new(),
                waiting: 0,
            }),
            ended: Condvar::new(),
        }
    }

    /// Begins a call of this thread, which is listed until the value is dropped. Takes a lock
    /// briefly.
    pub fn begin(calls: &Arc<Self>, label: L) -> Call<L> {
        let entry = Some(Entry {
            label,
            thread: thread::current(),
            since: Instant::now(),
        });
        let mut list = calls.lock();
        let place = match list.vacant.pop() {
            Some(vacant) => {
                list.places[vacant] = entry;
                vacant
            }
            None => {
                list.places.push(entry);
                list.places.len() - 1
            }
        };
        drop(list);
        let calls = Arc::clone(calls);
        Call { calls, place }
    }

    /// Returns the calls that run now. Takes a lock briefly.
    pub fn running(&self) -> Vec<RunningCall<L>>
    where
        L: Clone,
    {
        let now = Instant::now();
        let list = self.lock();
        let running = list.places.iter().flatten().map(|call| RunningCall {
            label: call.label.clone(),
            thread: call.thread.name().unwrap_or(UNNAMED).to_owned(),
            elapsed: now.saturating_duration_since(call.since),
        });
        running.collect()
    }

    /// Waits until no other thread has a call, or until the `deadline`, if there is one. Returns
    /// whether no call is left. Blocking.
    ///
    /// Everything that the calls did happens before the return of `true`.
    pub fn wait(&self, deadline: Option<Instant>) -> bool {
        let own = thread::current().id();
        let mut list = self.lock();
        let mut over = false;
        loop {
            let calls = list.places.iter().flatten();
            let ended = calls.map(|call| call.thread.id()).all(|id| id == own);
            if ended || over {
                return ended;
            }
            list.waiting += 1;
            (list, over) = wait_until(&self.ended, &self.list, list, deadline);
            list.waiting -= 1;
        }
    }

    /// Ignores poison: only a label's clone can panic under the lock, and it changes nothing here.
    fn lock(&self) -> MutexGuard<'_, List<L>> {
        lock(&self.list)
    }
}

/// The name of a thread that its program did not name.
const UNNAMED: &str = "a thread without a name";

impl<L> Default for Calls<L> {
    fn default() -> Self {
        Self::new()
    }
}

impl<L> fmt::Debug for Calls<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let running = self.lock().places.iter().flatten().count();
        f.debug_struct("Calls").field("running", &running).finish()
    }
}

/// A running call; from [`Calls::begin`]. Dropping it ends the call.
#[derive(Debug)]
#[must_use = "the call ends when this is dropped"]
pub struct Call<L> {
    calls: Arc<Calls<L>>,
    place: usize,
}

impl<L> Drop for Call<L> {
    fn drop(&mut self) {
        let mut list = self.calls.lock();
        let ended = list.places[self.place].take();
        list.vacant.push(self.place);
        let awaited = list.waiting > 0;
        drop(list);
        if awaited {
            self.calls.ended.notify_all();
        }
        drop(ended);
    }
}

/// A call that has not returned. Its [`Display`](fmt::Display) is a line for a person with a hung
/// program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningCall<L = Option<Cow<'static, str>>> {
    /// The label of the call.
    pub label: L,
    /// The name of its thread, as a debugger shows it.
    pub thread: String,
    /// The time that it has run.
    pub elapsed: Duration,
}

impl fmt::Display for RunningCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = self.label.as_deref().unwrap_or("a call");
        let seconds = self.elapsed.as_secs_f64();
        write!(f, "{}: {label}, for {seconds:.1} s", self.thread)
    }
}
