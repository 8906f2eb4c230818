use std::fmt;
use std::hint;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

use crate::history::{Call, History, MAX_THREADS};

type Work<'a, O> = Box<dyn FnOnce(&mut Log<'_, O>) + Send + 'a>;

/// Threads that are going to use one object at the same time.
///
/// **The clocks.** Each thread counts the calls that it has finished, in a word of its own: a
/// Release store after each call. When a call begins, it reads the words of all others, by Acquire
/// loads. So the recording knows which returns a call could know of, which is all that
/// linearizability asks; and it adds no read-modify-write, no fence, and no line that two threads
/// write. What the object does in the shadow of a store buffer, it also does while it is recorded.
///
/// [`with_one_clock`](Self::with_one_clock) is the usual, coarser way.
pub struct Recording<'a, O> {
    threads: Vec<Work<'a, O>>,
    closing: Option<Work<'a, O>>,
    has_one_clock: bool,
}

/// What one thread has recorded.
#[derive(Debug)]
pub struct Log<'a, O> {
    thread: usize,
    clocks: &'a Clocks,
    calls: Vec<Call<O>>,
}

#[derive(Debug, Default)]
struct Clocks {
    finished: [Padded; MAX_THREADS],
    /// How many threads there are.
    used: usize,
    /// Passed through at each call and each return, if there is one.
    common: Option<Padded>,
}

/// Alone on its cache line, and on the one that is fetched with it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Padded(AtomicU32);

impl<'a, O: Send> Recording<'a, O> {
    /// No thread yet.
    pub fn new() -> Self {
        Self {
            threads: Vec::new(),
            closing: None,
            has_one_clock: false,
        }
    }

    /// No thread yet; all of them pass through one counter, by a read-modify-write, at each call
    /// and each return.
    ///
    /// Then any two calls that do not overlap in time are ordered. It finds answers that are out of
    /// date by a little (which no happens-before edge forbids, unless there is such a counter), and
    /// hides what a store buffer does.
    pub fn with_one_clock() -> Self {
        Self {
            has_one_clock: true,
            ..Self::new()
        }
    }

    /// Adds a thread that does this.
    pub fn thread(&mut self, work: impl FnOnce(&mut Log<'_, O>) + Send + 'a) -> &mut Self {
        self.threads.push(Box::new(work));
        self
    }

    /// When all threads have ended, this is done: to empty the object, say, so that what was lost
    /// is missed.
    pub fn closing(&mut self, work: impl FnOnce(&mut Log<'_, O>) + Send + 'a) -> &mut Self {
        self.closing = Some(Box::new(work));
        self
    }

    /// Runs all threads, from one starting gate on, and returns what they recorded.
    ///
    /// # Panics
    ///
    /// If one of the threads does, or if there are more than [`MAX_THREADS`].
    pub fn run(self) -> History<O> {
        let used = self.threads.len();
        let clocks = Clocks {
            used,
            common: self.has_one_clock.then(Padded::default),
            ..Clocks::default()
        };
        let missing = AtomicUsize::new(used);
        let (clocks, missing) = (&clocks, &missing);
        let mut threads: Vec<_> = thread::scope(|scope| {
            let start = |(thread, work): (usize, Work<'a, O>)| {
                scope.spawn(move || {
                    let mut log = Log::new(thread, clocks);
                    pass_gate(missing);
                    work(&mut log);
                    log.calls
                })
            };
            let threads: Vec<_> = self.threads.into_iter().enumerate().map(start).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        if let Some(closing) = self.closing {
            let mut log = Log::new(used, clocks);
            closing(&mut log);
            threads.push(log.calls);
        }
        History { threads }
    }
}

/// Waits until nobody is missing. Spins: who sleeps here comes late to the race.
fn pass_gate(missing: &AtomicUsize) {
    missing.fetch_sub(1, Ordering::AcqRel);
    let mut rounds = 0_u32;
    while missing.load(Ordering::Acquire) > 0 {
        hint::spin_loop();
        rounds += 1;
        if rounds.is_multiple_of(64) {
            thread::yield_now();
        }
    }
}

impl<'a, O> Log<'a, O> {
    fn new(thread: usize, clocks: &'a Clocks) -> Self {
        assert!(
            thread < MAX_THREADS,
            "a history has {MAX_THREADS} threads at most"
        );
        Self {
            thread,
            clocks,
            calls: Vec::with_capacity(64),
        }
    }

    /// Records what `call` does and answers, which must be done when it returns.
    ///
    /// It returns the operation that was done; several, if they take effect one after the other,
    /// each at a moment of its own; or none (`None`, say) if there was no answer and no effect.
    pub fn call<S: IntoIterator<Item = O>>(&mut self, call: impl FnOnce() -> S) {
        let seen = self.clocks.begin();
        let steps = call();
        self.clocks.end(self.thread, self.calls.len() as u32 + 1);
        self.calls.push(Call {
            seen,
            steps: steps.into_iter().collect(),
        });
    }
}

impl Clocks {
    #[inline]
    fn begin(&self) -> [u32; MAX_THREADS] {
        self.pass_common();
        let mut seen = [0; MAX_THREADS];
        for (seen, clock) in seen.iter_mut().zip(&self.finished[..self.used]) {
            *seen = clock.0.load(Ordering::Acquire);
        }
        seen
    }

    #[inline]
    fn end(&self, thread: usize, finished: u32) {
        self.finished[thread].0.store(finished, Ordering::Release);
        self.pass_common();
    }

    #[inline]
    fn pass_common(&self) {
        if let Some(clock) = &self.common {
            clock.0.fetch_add(1, Ordering::AcqRel);
        }
    }
}

impl<O: Send> Default for Recording<'_, O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O> fmt::Debug for Recording<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording")
            .field("threads", &self.threads.len())
            .finish_non_exhaustive()
    }
}
