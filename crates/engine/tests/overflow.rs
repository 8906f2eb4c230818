//! A fiber that needs more stack than it has ends the program and names its worker; other faults
//! end as they do without an engine. Each test runs its program in a process of its own.
//!
//! Under AddressSanitizer the handler that was there before is the sanitizer's, and reports.
#![cfg(unix)]

use std::ffi::{c_int, c_void};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::mpsc;
use std::{env, hint, mem, process, ptr};

use filch_engine::{Context, Engine, Exit, Scheduler, Worker};

const CHILD: &str = "FILCH_ENGINE_OVERFLOWS";

/// Runs `program` in a process of its own, which is this test once more. Returns how that ended,
/// and its last words.
fn end_of(test: &str, program: impl FnOnce()) -> (ExitStatus, String) {
    if env::var_os(CHILD).is_some() {
        program();
        process::exit(0);
    }
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", test])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&child.stderr).into_owned();
    (child.status, words)
}

/// Calls itself without an end.
#[inline(never)]
fn descend(depth: u64) -> u64 {
    let frame = hint::black_box([depth; 64]);
    match depth {
        u64::MAX => frame[0],
        _ => descend(depth + 1) + hint::black_box(frame)[63],
    }
}

fn overflow() {
    hint::black_box(descend(0));
}

/// Reads where nobody may.
fn read_wildly() {
    // SAFETY: the process ends by it: nothing is read.
    hint::black_box(unsafe { ptr::without_provenance::<u8>(1).read_volatile() });
}

/// Adds a worker that waits in its fiber, and returns once it does.
fn add_idle(scheduler: &Scheduler, name: &str) {
    let (is_there, there) = mpsc::channel();
    let idle = Worker::new(name).in_fiber();
    let idle = idle.run(move |context: Context<'_>| {
        is_there.send(()).unwrap();
        let _ = context.wait_until(|| false);
    });
    scheduler.add(idle).unwrap();
    there.recv().unwrap();
}

/// Runs `code` in the fiber of a worker `deep`, beside those of two others; a third one is gone.
fn run_deep(code: fn()) {
    let engine = Engine::new();
    let scheduler = engine.scheduler("only").unwrap();
    add_idle(&scheduler, "older");
    let gone = Worker::new("gone").in_fiber().run(|_| {});
    assert_eq!(scheduler.add(gone).unwrap().join(), Ok(Exit::Finished));
    let deep = Worker::new("deep").in_fiber_of(64 * 1024);
    let deep = deep.run(move |context: Context<'_>| {
        context.give_way().unwrap();
        code();
    });
    add_idle(&scheduler, "younger");
    scheduler.add(deep).unwrap().join().unwrap();
}

/// Asserts that the process was aborted, as the worker `deep` had no stack left.
fn assert_told((status, words): &(ExitStatus, String)) {
    assert_eq!(status.signal(), Some(libc::SIGABRT), "{words}");
    let told = "worker `deep` has overflowed its stack of 64 KiB\n";
    assert!(words.contains(told), "{words}");
    assert_eq!(words.matches("worker `").count(), 1, "{words}");
}

/// Asserts that it died by a fault, and that only a sanitizer has said so.
fn assert_bare((status, words): &(ExitStatus, String)) {
    let faults = [Some(libc::SIGSEGV), Some(libc::SIGBUS)];
    let is_reported = words.contains("AddressSanitizer: SEGV");
    assert!(is_reported || faults.contains(&status.signal()), "{words}");
    assert!(!words.contains("overflowed"), "{words}");
}

#[test]
fn a_fiber_that_overflows_is_named() {
    let test = "a_fiber_that_overflows_is_named";
    assert_told(&end_of(test, || run_deep(overflow)));
}

#[test]
fn a_wild_read_in_a_fiber_is_no_overflow() {
    let test = "a_wild_read_in_a_fiber_is_no_overflow";
    assert_bare(&end_of(test, || run_deep(read_wildly)));
}

#[test]
fn a_thread_that_overflows_beside_fibers_is_named_by_std() {
    let test = "a_thread_that_overflows_beside_fibers_is_named_by_std";
    let (status, words) = end_of(test, || {
        let engine = Engine::new();
        let scheduler = engine.scheduler("only").unwrap();
        add_idle(&scheduler, "idle");
        let deep = Worker::new("deep").local(overflow);
        scheduler.add(deep).unwrap().join().unwrap();
    });
    let is_told = words.contains("thread 'only'") && status.signal() == Some(libc::SIGABRT);
    let is_reported = words.contains("AddressSanitizer: stack-overflow");
    assert!(is_told || is_reported, "{words}");
    assert!(!words.contains("worker `"), "{words}");
}

#[test]
fn a_wild_read_without_a_handler_ends_the_process() {
    let test = "a_wild_read_without_a_handler_ends_the_process";
    assert_bare(&end_of(test, || {
        // SAFETY: it changes nothing of this process but how it dies.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        run_deep(read_wildly);
    }));
}

/// The exit code of [`end`].
const THEIRS: c_int = 71;

extern "C" fn end(signal: c_int) {
    // SAFETY: it only ends the process.
    unsafe { libc::_exit(signal + THEIRS) }
}

#[test]
fn a_wild_read_is_the_handlers_that_was_there() {
    let test = "a_wild_read_is_the_handlers_that_was_there";
    let (status, words) = end_of(test, || {
        let end = end as *const () as libc::sighandler_t;
        // SAFETY: the handler is of that type.
        unsafe { libc::signal(libc::SIGSEGV, end) };
        run_deep(read_wildly);
    });
    assert_eq!(status.code(), Some(libc::SIGSEGV + THEIRS), "{words}");
}

/// A page that only [`mend`] lets be read.
static GUARDED: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

extern "C" fn mend(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    let page = GUARDED.load(Ordering::Relaxed);
    // SAFETY: the system passes the facts; the page is ours.
    let is_mended =
        unsafe { (*info).si_addr() == page && libc::mprotect(page, 1, libc::PROT_READ) == 0 };
    if !is_mended {
        end(0);
    }
}

fn read_guarded() {
    let kind = libc::MAP_PRIVATE | libc::MAP_ANON;
    // SAFETY: a new page, which the handler makes accessible.
    let read = unsafe {
        let page = libc::mmap(ptr::null_mut(), 1, libc::PROT_NONE, kind, -1, 0);
        GUARDED.store(page, Ordering::Relaxed);
        page.cast::<u8>().read_volatile()
    };
    assert_eq!(read, 0);
}

#[test]
fn a_fault_that_a_handler_mends_goes_on_and_a_later_overflow_is_told() {
    let test = "a_fault_that_a_handler_mends_goes_on_and_a_later_overflow_is_told";
    assert_told(&end_of(test, || {
        // SAFETY: plain data; the handler is of the type that the flags promise.
        unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = mend as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO;
            for signal in [libc::SIGSEGV, libc::SIGBUS] {
                libc::sigaction(signal, &action, ptr::null_mut());
            }
        }
        run_deep(|| {
            read_guarded();
            overflow();
        });
    }));
}
