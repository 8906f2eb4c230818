//! Work beside the tasks, which lies in queues of its owner's: what a pool must know of it.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use filch_sync::panic::discard;

/// Work beside the tasks, in queues of its owner's, which a pool's threads run too: see
/// [`Processors::attach`](crate::Processors::attach).
///
/// # Contract
/// 1. What is put into the source is announced with
///    [`Processors::notify`](crate::Processors::notify) *afterwards*. From the fence in that call
///    on, [`is_empty`](Self::is_empty) says `false` until it has been taken.
/// 2. To take an external task is a `Release` operation on memory that `is_empty` reads: a thread
///    that no longer sees the task sees, after an `Acquire` fence, what its taker did before. Any
///    compare-exchange of a deque with `Release` or more will do.
/// 3. `take` and `is_empty` do not panic: the program would be aborted, since the thread has a
///    processor in hand. Neither waits, and neither calls the pool, except for `notify`.
///
/// A source that breaks 1 or 2 has external tasks that wait beside sleeping threads, or a pool that
/// is over too early; it breaks no memory.
///
/// A pool keeps its source as long as it lives itself. A source that keeps the pool in return keeps
/// both for ever: let it have a `Weak`, or let the external tasks know the pool.
///
/// ```
/// use std::ptr::NonNull;
/// use std::sync::{Arc, mpsc};
///
/// # use filch_injector::Injector;
/// use filch_processors::{Config, ExternalTask, Processors, Runner, Source};
///
/// type Job = Box<dyn FnOnce() + Send>;
///
/// /// Jobs, first in, first out.
/// struct Jobs(Injector<Job>);
///
/// impl Source for Jobs {
///     fn take(&self) -> Option<ExternalTask> {
///         unsafe fn run(job: NonNull<()>) {
///             // SAFETY: from the box below, once.
///             let job: Box<Job> = unsafe { Box::from_raw(job.cast().as_ptr()) };
///             job();
///         }
///         let job = Box::leak(Box::new(self.0.pop()?));
///         // SAFETY: the job is the external task's alone, is Send, and lives until it has run.
///         Some(unsafe { ExternalTask::new(NonNull::from(job).cast(), run) })
///     }
///
///     fn is_empty(&self) -> bool {
///         self.0.is_empty()
///     }
/// }
///
/// /// This pool has no tasks of its own.
/// struct NoTasks;
///
/// impl Runner<()> for NoTasks {
///     type Scratch = ();
///     fn scratch(&self, _thread: usize) {}
///     fn run(&self, (): (), _: &Arc<Processors<()>>, (): &mut ()) {}
/// }
///
/// let pool = Processors::new(Config::default().processors(2))?;
/// let machines = Processors::start(&pool, Arc::new(NoTasks))?;
/// let jobs = Arc::new(Jobs(Injector::new()));
/// pool.attach(Arc::clone(&jobs))?;
///
/// let (answer, answered) = mpsc::channel();
/// jobs.0.push(Box::new(move || answer.send(7).unwrap()));
/// pool.notify();
/// assert_eq!(answered.recv(), Ok(7));
/// pool.stop();
/// machines.join();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Source: Any + Send + Sync {
    /// An external task for the calling thread, if there is one. One that loses a race for an
    /// external task tries again: only "there is none" may send a thread to sleep.
    ///
    /// Called by a thread that looks for work, in each round of its search; and by one that always
    /// has tasks, every 100 µs or less often. It should cost little where there is none.
    fn take(&self) -> Option<ExternalTask>;

    /// Returns whether there is nothing that a thread could [take](Self::take). Called by any
    /// thread, after a sequentially consistent fence: relaxed loads will do.
    fn is_empty(&self) -> bool;

    /// Returns whether there may be something to [take](Self::take). A thread that was the last one
    /// to look for work has found some, and calls another one if so; a call in vain costs less than
    /// an answer that takes long. The default is not [`is_empty`](Self::is_empty).
    fn may_have_some(&self) -> bool {
        !self.is_empty()
    }

    /// Called by a thread of the pool that is about to wait, and has no processor in hand; perhaps
    /// it was [nudged](crate::Processors::nudge_threads). Returns whether there is more to do: if
    /// so, this is called again, unless the thread is to go on with a processor. It should not
    /// block: the thread may have been chosen meanwhile for other work, which waits for it. The
    /// default does nothing. A panic is contained, and lost.
    fn nudged(&self) -> bool {
        false
    }

    /// Called when some threads have been in the same task or external task for long, while others
    /// wait: each that runs an external task, or calls the source in the middle of a task, should
    /// soon ask [`yield_if_requested`](crate::Processors::yield_if_requested). Called once a
    /// millisecond at most, on a thread that runs nothing. The default does nothing. It must not
    /// wait. A panic is contained, and lost.
    fn request_yield(&self) {}
}

/// A task of others, taken from a [`Source`]: one word, and what to do with it.
///
/// One that is dropped instead of [run](Self::run) is forgotten, and never runs. A pool runs each
/// external task that it takes.
#[must_use = "an external task that is dropped never runs"]
pub struct ExternalTask {
    data: NonNull<()>,
    run: unsafe fn(NonNull<()>),
}

// SAFETY: `run(data)` may be called on any thread (contract of `new`).
unsafe impl Send for ExternalTask {}

impl ExternalTask {
    /// Makes an external task that is run by `run(data)`.
    ///
    /// # Safety
    /// `run(data)` may be called once, by any thread, at any time from now on. So what `data`
    /// points to lives, and is left alone by others, until then. All that `run` needs to see of
    /// other threads happens before this call.
    pub const unsafe fn new(data: NonNull<()>, run: unsafe fn(NonNull<()>)) -> Self {
        Self { data, run }
    }

    /// Runs it. In a pool a panic is contained and counted, as a task's is.
    ///
    /// # Panics
    /// If the work does.
    pub fn run(self) {
        // SAFETY: once, as `self` is consumed and was made for one call (contract of `new`).
        unsafe { (self.run)(self.data) }
    }
}

impl fmt::Debug for ExternalTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExternalTask").field(&self.data).finish()
    }
}

/// A task or an external task, found to be run.
pub(crate) enum Found<T> {
    Task(T),
    ExternalTask(ExternalTask),
}

/// The source of a pool, if it has one.
#[derive(Default)]
#[expect(missing_debug_implementations, reason = "no other crate can name it")]
pub struct SourceSlot(OnceLock<Arc<dyn Source>>);

impl SourceSlot {
    /// Attaches it, unless there is one already; then gives it back.
    pub(crate) fn attach(&self, source: Arc<dyn Source>) -> Result<(), Arc<dyn Source>> {
        self.0.set(source)
    }

    #[inline]
    pub(crate) fn is_attached(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns the source, if it is an `S`.
    pub(crate) fn get<S: Source>(&self) -> Option<&S> {
        let source: &dyn Any = &**self.0.get()?;
        source.downcast_ref()
    }

    /// Tells the source that a thread is about to wait; returns whether it should not yet.
    pub(crate) fn nudged(&self) -> bool {
        self.tell(Source::nudged).unwrap_or(false)
    }

    /// Tells threads that run its external tasks to ask whether they are to make way.
    pub(crate) fn request_yield(&self) {
        self.tell(Source::request_yield);
    }

    fn tell<R>(&self, tell: impl FnOnce(&dyn Source) -> R) -> Option<R> {
        let source = self.0.get()?;
        let told = catch_unwind(AssertUnwindSafe(|| tell(&**source)));
        told.map_err(discard).ok()
    }

    /// An external task, if there is one. The calling thread has its permit in hand: what the
    /// source calls must not find it where tasks find it.
    pub(crate) fn take(&self) -> Option<ExternalTask> {
        self.ask(Source::take).flatten()
    }

    /// Returns whether there is nothing to take.
    pub(crate) fn is_empty(&self) -> bool {
        self.ask(Source::is_empty).unwrap_or(true)
    }

    /// Returns whether there may be something to take.
    pub(crate) fn may_have_some(&self) -> bool {
        self.ask(Source::may_have_some).unwrap_or(false)
    }

    /// Asks the source. If it unwound, a processor would be lost, and with it the promise that
    /// nothing waits beside an idle one: an end is better than a hang.
    #[inline]
    fn ask<R>(&self, ask: impl FnOnce(&dyn Source) -> R) -> Option<R> {
        let source = self.0.get()?;
        let answer = catch_unwind(AssertUnwindSafe(|| ask(&**source)));
        Some(answer.unwrap_or_else(|_| {
            eprintln!("a source of work panicked, which it must not: the program ends");
            process::abort()
        }))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;
    use std::ptr::{self, NonNull};
    use std::sync::Arc;

    use super::{ExternalTask, Source, SourceSlot};

    thread_local! {
        static MICROS: Cell<u32> = const { Cell::new(0) };
    }

    /// Returns how many microseconds the last external task takes that has run on this thread.
    pub(crate) fn last_micros() -> u32 {
        MICROS.get()
    }

    /// A source that always has an external task, which takes so many microseconds, if that is not
    /// 0.
    pub(crate) struct Endless(pub(crate) usize);

    impl Source for Endless {
        fn take(&self) -> Option<ExternalTask> {
            fn run(micros: NonNull<()>) {
                MICROS.set(micros.addr().get() as u32);
            }

            let micros = NonNull::new(ptr::without_provenance_mut(self.0))?;
            // SAFETY: `run` follows no pointer.
            Some(unsafe { ExternalTask::new(micros, run) })
        }

        fn is_empty(&self) -> bool {
            self.0 == 0
        }
    }

    #[test]
    fn the_first_source_stays() {
        let attached = SourceSlot::default();
        assert!(!attached.is_attached() && attached.is_empty() && attached.take().is_none());
        assert!(attached.attach(Arc::new(Endless(7))).is_ok());
        assert!(attached.attach(Arc::new(Endless(9))).is_err());
        assert!(attached.is_attached() && !attached.is_empty());
        attached.take().expect("it is endless").run();
        assert_eq!(last_micros(), 7);
    }

    #[test]
    fn a_source_may_be_empty() {
        let attached = SourceSlot::default();
        assert!(attached.attach(Arc::new(Endless(0))).is_ok());
        assert!(attached.is_attached() && attached.is_empty() && attached.take().is_none());
    }
}
