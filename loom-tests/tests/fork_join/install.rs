//! Work from a thread outside of the pool.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use filch_fork_join::protocol::{install, run_one};
use filch_models::Bound;
use filch_parker::Parker;
use filch_sync::thread;

use super::{Plain, registered, shared_with_a_host};

/// Two threads: an outside thread has work done, which panics or not, and sleeps meanwhile; the
/// host's thread sleeps until it is told. A failure: either sleeps for ever (a deadlock), the
/// result is touched before it is there or after the caller has gone on (a causality violation),
/// or the panic does not arrive.
fn installing(panics: bool) {
    let (shared, host, _kept) = shared_with_a_host();
    let worker = registered(&shared);
    let machine = thread::spawn(move || {
        host.park();
        assert!(run_one(&worker), "told of nothing");
    });
    let borrowed = Plain::new();
    borrowed.set(1);
    let parker = Parker::new();
    let installed = catch_unwind(AssertUnwindSafe(|| {
        install(&shared, &parker, |_| {
            borrowed.set(borrowed.get() + 1);
            if panics {
                resume_unwind(Box::new("wanted"));
            }
            7
        })
    }));
    assert_eq!(borrowed.get(), 2);
    borrowed.set(3);
    match installed {
        Ok(result) => assert_eq!((result, panics), (7, false)),
        Err(payload) => assert_eq!((payload.downcast_ref(), panics), (Some(&"wanted"), true)),
    }
    machine.join().unwrap();
}

/// See [`installing`].
#[test]
fn an_outside_thread_gets_its_result() {
    Bound::exhaustive(6_300).check("install: a result", || {
        installing(false);
    });
}

/// See [`installing`].
#[test]
fn an_outside_thread_gets_its_panic() {
    Bound::exhaustive(6_300).check("install: a panic", || {
        installing(true);
    });
}
