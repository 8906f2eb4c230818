//! A fiber that needs more stack than it has: the program ends, and does not go on with somebody
//! else's memory.

use std::env;
use std::process::Command;

use filch_engine::{Engine, Worker};

const CHILD: &str = "FILCH_ENGINE_OVERFLOWS";

/// Deeper than any stack.
#[inline(never)]
fn descend(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 64]);
    match depth {
        u64::MAX => frame[0],
        _ => descend(depth + 1) + std::hint::black_box(frame)[63],
    }
}

#[cfg(unix)]
#[test]
fn a_fiber_whose_stack_overflows_ends_the_program() {
    use std::os::unix::process::ExitStatusExt;

    if env::var_os(CHILD).is_some() {
        let engine = Engine::new();
        let scheduler = engine.scheduler("only").unwrap();
        let deep = Worker::new("deep").in_fiber_of(64 * 1024).run(|_| {
            std::hint::black_box(descend(0));
        });
        scheduler.add(deep).unwrap().join().unwrap();
        return;
    }
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "a_fiber_whose_stack_overflows_ends_the_program"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    // SIGSEGV or SIGBUS; or SIGABRT, from a runtime that checks the address. A sanitizer reports
    // it, and exits.
    let signal = child.status.signal();
    let said = String::from_utf8_lossy(&child.stderr);
    if said.contains("AddressSanitizer: stack-overflow") {
        return;
    }
    assert!(
        matches!(signal, Some(6 | 7 | 10 | 11)),
        "{:?}",
        child.status
    );
}
