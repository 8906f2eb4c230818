//! The end of a program in which a fiber overflows its stack: it names the worker.
//!
//! std names the thread, in a handler of the signal that a guard page gives, and knows no fibers.
//! This handler stands before that one, and leaves to it, or to any other that was there, each
//! fault that is in no fiber's guard page.
//!
//! A handler interrupts code anywhere: it must not lock, allocate, or touch a thread-local, which
//! may allocate. It finds the fiber in a list of records, none of which is ever freed, by its
//! thread and the address of the fault; so a switch to a fiber costs nothing. Of the facts behind
//! the records it reads its own thread's alone: that thread cannot drop them meanwhile.

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{iter, mem, process, ptr};

use corosensei::stack::{DefaultStack, Stack};

/// The watch over a fiber's stack, on the thread that runs it. Outlives the stack.
pub(crate) struct Watch(&'static Record);

/// A place for the facts of a fiber, used again: there are as many as there were fibers at once.
#[derive(Default)]
struct Record {
    /// The thread that runs the fiber, or 0 if there is none.
    thread: AtomicUsize,
    /// The facts of that fiber: for that thread alone.
    facts: AtomicPtr<Facts>,
    next: OnceLock<Box<Record>>,
}

struct Facts {
    guard_page: Range<usize>,
    message: String,
}

static FIRST: OnceLock<Box<Record>> = OnceLock::new();

/// The records without a fiber, and the place of the next new one.
static FREE: Mutex<(Vec<&Record>, &OnceLock<Box<Record>>)> = Mutex::new((Vec::new(), &FIRST));

impl Watch {
    /// Watches the stack of a worker of that name.
    pub(crate) fn new(stack: &DefaultStack, worker: &str) -> Self {
        BEFORE.get_or_init(|| SIGNALS.map(install));
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let limit = stack.limit().get();
        let kib = (stack.base().get() - limit - page) / 1024;
        let facts = Box::new(Facts {
            guard_page: limit..limit + page,
            message: format!(
                "\nworker `{worker}` has overflowed its stack of {kib} KiB\n\
                 fatal runtime error: stack overflow, aborting\n"
            ),
        });
        let (free, end) = &mut *FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let record = free.pop().unwrap_or_else(|| {
            let record = end.get_or_init(Box::default);
            *end = &record.next;
            record
        });
        // ORDERING: Relaxed: for this thread, as the number says. The lock orders both stores
        // behind those of a thread that had the record before.
        record.facts.store(Box::into_raw(facts), Ordering::Relaxed);
        // ORDERING: Release: a handler that interrupts this finds no number, or the facts, too.
        record.thread.store(this_thread(), Ordering::Release);
        Self(record)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // ORDERING: Acquire: a handler that interrupts this finds no number, or facts that live.
        self.0.thread.swap(0, Ordering::Acquire);
        // ORDERING: Relaxed: this thread has stored it.
        let facts = self.0.facts.load(Ordering::Relaxed);
        // SAFETY: made in `new`; without a number no handler reads them.
        drop(unsafe { Box::from_raw(facts) });
        let (free, _) = &mut *FREE.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(self.0);
    }
}

/// Returns this thread's number, which is not 0.
fn this_thread() -> usize {
    // SAFETY: it asks for a number, or an address.
    unsafe { libc::pthread_self() as usize }
}

/// The signals that a guard page gives: the system chooses.
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// A handler of signals that takes all that there is.
type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The handlers of these signals before [`on_fault`], each with `true` if it is a [`Handler`].
static BEFORE: OnceLock<[(libc::sighandler_t, bool); 2]> = OnceLock::new();

/// Puts [`on_fault`] before the handler of that signal, whose mask and other flags it takes over.
fn install(signal: c_int) -> (libc::sighandler_t, bool) {
    // SAFETY: plain data, which the first call fills in; the new handler is as the flag says.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        libc::sigaction(signal, ptr::null(), &mut action);
        let takes_all = action.sa_flags & libc::SA_SIGINFO != 0;
        let before = mem::replace(&mut action.sa_sigaction, on_fault as Handler as usize);
        action.sa_flags |= libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(signal, &action, ptr::null_mut());
        (before, takes_all)
    }
}

/// Ends the program if a fiber of this thread has overflowed; else hands on to the handler before.
extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes it, and these signals have an address.
    let address = unsafe { (*info).si_addr() } as usize;
    for record in iter::successors(FIRST.get(), |record| record.next.get()) {
        // ORDERING: Relaxed: only this thread stores, and takes away, its own number.
        if record.thread.load(Ordering::Relaxed) != this_thread() {
            continue;
        }
        // SAFETY: the facts of a fiber of this thread, which is here, and drops none.
        // ORDERING: Relaxed: this thread has stored it.
        let facts = unsafe { &*record.facts.load(Ordering::Relaxed) };
        if facts.guard_page.contains(&address) {
            let message = &facts.message;
            // SAFETY: the bytes are the message's.
            unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len()) };
            process::abort();
        }
    }
    let Some(before) = BEFORE.get() else {
        return; // Another thread is about to store it: the access is tried again until then.
    };
    let (before, takes_all) = before[usize::from(signal != SIGNALS[0])];
    // SAFETY: the handler is of the type that its flag promised.
    unsafe {
        if [libc::SIG_DFL, libc::SIG_IGN].contains(&before) {
            // The access is tried again, and the system does what it does by itself.
            libc::signal(signal, before);
        } else if takes_all {
            mem::transmute::<libc::sighandler_t, Handler>(before)(signal, info, context);
        } else {
            mem::transmute::<libc::sighandler_t, extern "C" fn(c_int)>(before)(signal);
        }
    }
}
