//! loom's atomics, cells and locks, which note what the threads of a model do: a table of that
//! explains an execution that fails.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::{LockResult, TryLockResult};

use loom::sync::{MutexGuard, atomic};

pub use loom::sync::atomic::Ordering;

/// A step of a thread, which its stack tells: to ask loom which thread runs takes as long as an
/// access does.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// An address on the stack, which goes down from about that of the thread's `begin`.
    pub stack: usize,
    /// The number of the atomic, cell, lock or thread; 0 for a fence.
    pub word: usize,
    /// The method; `new` makes a word.
    pub operation: &'static str,
    pub order: Option<Ordering>,
    /// The value that an atomic was seen to have, and the one that it was given.
    pub values: [Option<u64>; 2],
    pub place: &'static Location<'static>,
}

std::thread_local! {
    /// The steps of this execution, if anybody wants them. All threads of a model run on one.
    static STEPS: RefCell<Option<Vec<Step>>> = const { RefCell::new(None) };
    static WORDS: Cell<usize> = const { Cell::new(0) };

    /// The waits that have not ended, each from a stack of its own.
    static WAITS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };

    /// loom's panic in the thread that found the deadlock.
    static DEADLOCK: RefCell<Option<Box<dyn Any + Send>>> = const { RefCell::new(None) };
}

/// Notes the steps of an execution, whose main thread calls this first.
pub fn begin() {
    STEPS.with_borrow_mut(|steps| steps.get_or_insert_default().clear());
    WAITS.take();
    WORDS.set(0);
    note(0, "begin");
}

/// Returns the steps until this panic, and the waits that a deadlock has left; notes no more.
pub fn take(panic: &str) -> Vec<Step> {
    let (mut steps, waits) = (STEPS.take().unwrap_or_default(), WAITS.take());
    steps.extend(waits.into_iter().filter(|_| tells_deadlock(panic)));
    steps
}

fn tells_deadlock(panic: &str) -> bool {
    panic.starts_with("deadlock")
}

/// Returns whether a thread has found a deadlock, and nobody has taken that.
pub fn is_deadlock() -> bool {
    DEADLOCK.with_borrow(Option::is_some)
}

/// Returns the panic of the deadlock that ended an execution, if one did.
pub fn take_deadlock() -> Option<Box<dyn Any + Send>> {
    DEADLOCK.take()
}

/// Calls `f`, which waits. In a deadlock, loom panics in the thread that waits last.
///
/// That thread could not unwind: the drop of an `Arc` asks loom which thread runs, and none does.
/// So it leaves its stack as it is, as the other threads do, and loom's own stack panics instead.
#[track_caller]
fn wait<R>(word: usize, operation: &'static str, f: impl FnOnce() -> R) -> R {
    let step = step(word, operation, None, [None, None]);
    WAITS.with_borrow_mut(|waits| waits.push(step));
    let result = catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>();
        if message.is_some_and(|message| tells_deadlock(message)) {
            DEADLOCK.set(Some(panic));
            #[expect(deprecated, reason = "loom's threads are generators of this kind")]
            generator::yield_with(());
            unreachable!("a thread in a deadlock goes on");
        }
        resume_unwind(panic)
    });
    WAITS.with_borrow_mut(|waits| waits.retain(|wait| wait.stack != step.stack));
    result
}

#[track_caller]
fn note(word: usize, operation: &'static str) {
    access(word, operation, None, [None, None]);
}

#[track_caller]
fn access(word: usize, operation: &'static str, order: Option<Ordering>, values: [Option<u64>; 2]) {
    let step = step(word, operation, order, values);
    STEPS.with_borrow_mut(|steps| steps.iter_mut().for_each(|steps| steps.push(step)));
}

#[track_caller]
#[inline(never)]
fn step(
    word: usize,
    operation: &'static str,
    order: Option<Ordering>,
    values: [Option<u64>; 2],
) -> Step {
    let place = Location::caller();
    Step {
        stack: (&raw const place).addr(),
        word,
        operation,
        order,
        values,
        place,
    }
}

/// One of loom's, with the number of its word.
#[derive(Debug)]
pub struct Noted<T: ?Sized> {
    word: usize,
    inner: T,
}

impl<T> Noted<T> {
    #[track_caller]
    fn made(inner: T, value: Option<u64>) -> Self {
        WORDS.set(WORDS.get() + 1);
        let word = WORDS.get();
        access(word, "new", None, [None, value]);
        Self { word, inner }
    }
}

impl<T: Default> Default for Noted<T> {
    #[track_caller]
    fn default() -> Self {
        Self::made(T::default(), Some(0))
    }
}

macro_rules! atomic {
    ($($name:ident $(<$t:ident>)?: $value:ty),*; $operations:tt) => { $(
        pub type $name$(<$t>)? = Noted<atomic::$name$(<$t>)?>;

        impl$(<$t>)? $name$(<$t>)? {
            #[track_caller]
            pub fn new(value: $value) -> Self {
                Self::made(atomic::$name::new(value), Some(value as u64))
            }

            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                let value = self.inner.load(order);
                access(self.word, "load", Some(order), [Some(value as u64), None]);
                value
            }

            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                self.inner.store(value, order);
                access(self.word, "store", Some(order), [None, Some(value as u64)]);
            }

            /// Notes one step, although loom makes two.
            #[track_caller]
            pub fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut to = None;
                let result = self.inner.fetch_update(success, failure, |from| {
                    to = update(from);
                    to
                });
                let (Ok(read) | Err(read)) = result;
                let order = if result.is_ok() { success } else { failure };
                let values = [Some(read as u64), to.map(|to| to as u64)];
                access(self.word, "fetch_update", Some(order), values);
                result
            }

            atomic!(@exchange $value: compare_exchange compare_exchange_weak);
            atomic!(@update $value: $operations);
        }
    )* };
    (@exchange $value:ty: $($exchange:ident)*) => { $(
        #[track_caller]
        pub fn $exchange(
            &self,
            from: $value,
            to: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            let result = self.inner.$exchange(from, to, success, failure);
            let (Ok(read) | Err(read)) = result;
            let order = if result.is_ok() { success } else { failure };
            let values = [Some(read as u64), result.is_ok().then_some(to as u64)];
            access(self.word, stringify!($exchange), Some(order), values);
            result
        }
    )* };
    (@update $value:ty: { $($operation:ident $new:expr),* }) => { $(
        #[track_caller]
        pub fn $operation(&self, value: $value, order: Ordering) -> $value {
            let old = self.inner.$operation(value, order);
            let new: fn($value, $value) -> $value = $new;
            let values = [Some(old as u64), Some(new(old, value) as u64)];
            access(self.word, stringify!($operation), Some(order), values);
            old
        }
    )* };
}

atomic!(AtomicPtr<T>: *mut T; { swap |_, new| new });
atomic!(AtomicBool: bool; {
    swap |_, new| new, fetch_or |old, value| old | value, fetch_and |old, value| old & value
});
atomic!(AtomicU8: u8, AtomicU32: u32, AtomicU64: u64, AtomicUsize: usize; {
    swap |_, new| new, fetch_add |old, value| old.wrapping_add(value),
    fetch_sub |old, value| old.wrapping_sub(value), fetch_or |old, value| old | value,
    fetch_and |old, value| old & value, fetch_xor |old, value| old ^ value, fetch_max Ord::max
});

#[track_caller]
pub fn fence(order: Ordering) {
    atomic::fence(order);
    access(0, "fence", Some(order), [None, None]);
}

pub type UnsafeCell<T> = Noted<loom::cell::UnsafeCell<T>>;

impl<T> UnsafeCell<T> {
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::made(loom::cell::UnsafeCell::new(value), None)
    }

    /// As `with_mut`, notes the access first: a race panics.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        note(self.word, "read");
        self.inner.with(f)
    }

    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        note(self.word, "write");
        self.inner.with_mut(f)
    }
}

pub type Mutex<T> = Noted<loom::sync::Mutex<T>>;

impl<T> Mutex<T> {
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::made(loom::sync::Mutex::new(value), None)
    }

    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let guard = wait(self.word, "lock …", || self.inner.lock());
        note(self.word, "lock");
        guard
    }

    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let guard = self.inner.try_lock();
        let operations = ["try_lock fails", "try_lock"];
        note(self.word, operations[usize::from(guard.is_ok())]);
        guard
    }
}

pub type Condvar = Noted<loom::sync::Condvar>;

impl Condvar {
    #[track_caller]
    pub fn new() -> Self {
        Self::made(loom::sync::Condvar::new(), None)
    }

    /// Notes that it waits first: that unlocks.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        note(self.word, "wait");
        let guard = wait(self.word, "wait …", || self.inner.wait(guard));
        note(self.word, "woken");
        guard
    }

    #[track_caller]
    pub fn notify_one(&self) {
        self.inner.notify_one();
        note(self.word, "notify_one");
    }

    #[track_caller]
    pub fn notify_all(&self) {
        self.inner.notify_all();
        note(self.word, "notify_all");
    }
}

pub type JoinHandle<T> = Noted<loom::thread::JoinHandle<T>>;

impl<T> JoinHandle<T> {
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        let result = wait(self.word, "join …", || self.inner.join());
        note(self.word, "join");
        result
    }

    pub fn thread(&self) -> &loom::thread::Thread {
        self.inner.thread()
    }
}

#[track_caller]
pub fn spawn<T: 'static>(f: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    let Noted { word, .. } = Noted::made((), None);
    note(word, "spawn");
    let inner = loom::thread::spawn(move || {
        note(word, "begin");
        let result = f();
        note(word, "end");
        result
    });
    Noted { word, inner }
}

/// Names and sizes of stacks mean nothing in a model.
#[derive(Debug, Default)]
pub struct Builder;

impl Builder {
    pub fn new() -> Self {
        Self
    }

    pub fn name(self, _: String) -> Self {
        self
    }

    pub fn stack_size(self, _: usize) -> Self {
        self
    }

    #[track_caller]
    pub fn spawn<T: 'static>(self, f: impl FnOnce() -> T + 'static) -> io::Result<JoinHandle<T>> {
        Ok(spawn(f))
    }
}
