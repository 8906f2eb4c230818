//! Recording of the calls of threads on one object, with the calls that each could know of.

use std::fmt;
use std::hint;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

use crate::call::{Call, MAX_THREADS};
use crate::history::History;

type Work<'a, O> = Box<dyn FnOnce(&mut Log<'_, O>) + Send + 'a>;

/// The way in which a recording learns which calls came before which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// Each thread counts the calls that it has finished, in its own word: a Release store after
    /// each call. When a call begins, it reads the words of all others, by Acquire loads. So the
    /// recording knows which returns a call could know of, and linearizability asks for no more. It
    /// adds no read-modify-write, no fence, and no line that two threads write, so it does not hide
    /// what the object does behind a store buffer.
    Each,
    /// All threads also pass through one counter, by a read-modify-write, at each call and each
    /// return: the usual, coarser way.
    ///
    /// This orders any two calls that do not overlap in time. It finds slightly outdated answers
    /// (which no happens-before edge forbids, unless there is such a counter), and hides the
    /// effects of store buffers.
    One,
}

impl Clocks {
    /// Both ways.
    pub const BOTH: [Self; 2] = [Self::Each, Self::One];
}

/// Threads that will use one object at the same time.
pub struct Recording<'a, O> {
    threads: Vec<Work<'a, O>>,
    closing: Option<Work<'a, O>>,
    clocks: Clocks,
}

/// The calls that one thread has recorded.
#[derive(Debug)]
pub struct Log<'a, O> {
    thread: usize,
    words: &'a Words,
    calls: Vec<Call<O>>,
}

#[derive(Debug, Default)]
struct Words {
    finished: [Padded; MAX_THREADS],
    /// The number of threads.
    used: usize,
    /// Changed at each call and each return, if there is one.
    common: Option<Padded>,
}

/// A word alone on its cache line, and on the one that is fetched with it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Padded(AtomicU32);

impl<'a, O: Send> Recording<'a, O> {
    /// Starts without a thread.
    pub fn new(clocks: Clocks) -> Self {
        Self {
            threads: Vec::new(),
            closing: None,
            clocks,
        }
    }

    /// Adds a thread that does this work.
    pub fn thread(&mut self, work: impl FnOnce(&mut Log<'_, O>) + Send + 'a) -> &mut Self {
        self.threads.push(Box::new(work));
        self
    }

    /// Adds work for when all threads have ended: to empty the object, say, so that a lost item is
    /// noticed.
    pub fn closing(&mut self, work: impl FnOnce(&mut Log<'_, O>) + Send + 'a) -> &mut Self {
        self.closing = Some(Box::new(work));
        self
    }

    /// Runs all threads, from a common start, and returns what they recorded.
    ///
    /// # Panics
    ///
    /// If one of the threads does, or if there are more than [`MAX_THREADS`].
    pub fn run(self) -> History<O> {
        let used = self.threads.len();
        let words = Words {
            used,
            common: (self.clocks == Clocks::One).then(Padded::default),
            ..Words::default()
        };
        let missing = AtomicUsize::new(used);
        let (words, missing) = (&words, &missing);
        let mut threads: Vec<_> = thread::scope(|scope| {
            let start = |(thread, work): (usize, Work<'a, O>)| {
                scope.spawn(move || {
                    let mut log = Log::new(thread, words);
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
            let mut log = Log::new(used, words);
            closing(&mut log);
            threads.push(log.calls);
        }
        History { threads }
    }
}

/// Waits until no thread is missing. Spins, as a thread that slept here would be late for the race.
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
    fn new(thread: usize, words: &'a Words) -> Self {
        assert!(
            thread < MAX_THREADS,
            "a history has {MAX_THREADS} threads at most"
        );
        Self {
            thread,
            words,
            calls: Vec::with_capacity(64),
        }
    }

    /// Records `call`, which must have finished its work when it returns.
    ///
    /// `call` returns its operation; several, in order, if they take effect at different moments;
    /// or none (`None`, say) if there was no answer and no effect.
    pub fn call<S: IntoIterator<Item = O>>(&mut self, call: impl FnOnce() -> S) {
        let seen = self.words.begin();
        let steps = call();
        self.words.end(self.thread, self.calls.len() as u32 + 1);
        self.calls.push(Call {
            seen,
            steps: steps.into_iter().collect(),
        });
    }
}

impl Words {
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

impl<O> fmt::Debug for Recording<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording")
            .field("threads", &self.threads.len())
            .field("clocks", &self.clocks)
            .finish_non_exhaustive()
    }
}
