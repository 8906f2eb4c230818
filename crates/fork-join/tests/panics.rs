//! A panic of a branch leaves `join` when both branches have ended, whichever thread ran them, and
//! the pool goes on.

use std::any::Any;
use std::fmt::Debug;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use filch_fork_join::{Pool, Worker};

/// Not a measure of speed: how long a test waits before it believes that it hangs.
const HANGS: Duration = Duration::from_secs(60);

/// The end of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Returns,
    /// A value whose drop panics.
    ReturnsBomb,
    Panics,
    /// With a payload whose drop panics.
    PanicsWithBomb,
}

/// Panics when it is dropped. (`resume_unwind` does not call the panic hook, which would print.)
#[derive(Debug)]
struct Bomb(&'static str);

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new("a bomb was dropped"));
    }
}

impl End {
    fn panics(self) -> bool {
        matches!(self, Self::Panics | Self::PanicsWithBomb)
    }

    fn act(self, name: &'static str) -> Option<Bomb> {
        match self {
            Self::Returns => None,
            Self::ReturnsBomb => Some(Bomb(name)),
            Self::Panics => resume_unwind(Box::new(name)),
            Self::PanicsWithBomb => resume_unwind(Box::new(Bomb(name))),
        }
    }
}

/// Which branch a payload is from. A bomb is not dropped.
fn name_of(payload: Box<dyn Any + Send>) -> &'static str {
    match payload.downcast::<Bomb>() {
        Ok(bomb) => mem::ManuallyDrop::new(*bomb).0,
        Err(payload) => *payload.downcast::<&str>().expect("ours"),
    }
}

/// Notes when it is dropped, by a return or by a panic.
struct Ending<'log>(&'log Mutex<Vec<&'static str>>, &'static str);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(self.1);
    }
}

fn works(pool: &Pool) {
    fn fib(worker: &Worker, n: u64) -> u64 {
        if n < 2 {
            return n;
        }
        let (a, b) = worker.join(|w| fib(w, n - 1), |w| fib(w, n - 2));
        a + b
    }

    assert_eq!(pool.install(|worker| fib(worker, 12)), 144);
}

/// A join whose branches end like that. On a pool of two threads `b` is stolen, and ends long after
/// `a`; on one thread, it runs after `a`.
fn branches_end(pool: &Pool, is_stolen: bool, a: End, b: End) {
    let log = &Mutex::new(Vec::new());
    let (begun, has_begun) = mpsc::channel();
    let (ended, has_ended) = mpsc::channel::<()>();
    let outcome = pool.install(move |worker| {
        let here = thread::current().id();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            worker.join(
                |w| {
                    // Closes the channel when it is dropped: after `a` has ended.
                    let _ended = ended;
                    let _ending = Ending(log, "a");
                    if is_stolen {
                        // Behind one more fork: a worker may keep its only job to itself.
                        let wait = || assert_eq!(has_begun.recv_timeout(HANGS), Ok(()));
                        w.join(|_| wait(), |_| ());
                    }
                    a.act("a")
                },
                move |_| {
                    let _ending = Ending(log, "b");
                    assert_eq!(thread::current().id() != here, is_stolen);
                    begun.send(()).unwrap();
                    let closed = has_ended.recv_timeout(HANGS);
                    assert_eq!(closed, Err(mpsc::RecvTimeoutError::Disconnected));
                    // Time for a `join` that does not wait.
                    (0..100).for_each(|_| thread::yield_now());
                    b.act("b")
                },
            )
        }));
        // What has ended by the time that `join` is left.
        (outcome, log.lock().unwrap().clone())
    });
    let case = format!("a {a:?}, b {b:?}, stolen: {is_stolen}");
    assert_eq!(outcome.1, ["a", "b"], "{case}");
    match outcome.0 {
        Ok((ra, rb)) => {
            assert!(!a.panics() && !b.panics(), "{case}");
            let names = [&ra, &rb].map(|r| r.as_ref().map(|bomb| bomb.0));
            let expected = [(a, "a"), (b, "b")];
            let expected = expected.map(|(end, name)| (end == End::ReturnsBomb).then_some(name));
            assert_eq!(names, expected, "{case}");
            mem::forget((ra, rb));
        }
        Err(payload) => {
            assert!(a.panics() || b.panics(), "{case}");
            assert_eq!(
                name_of(payload),
                if a.panics() { "a" } else { "b" },
                "{case}"
            );
        }
    }
    works(pool);
}

const ENDS: [End; 4] = [
    End::Returns,
    End::ReturnsBomb,
    End::Panics,
    End::PanicsWithBomb,
];

#[test]
fn c5_both_branches_end_before_a_panic_leaves() {
    for (a, b) in ENDS.iter().flat_map(|&a| ENDS.map(|b| (a, b))) {
        // That is a panic in a drop while another one unwinds: the end of any Rust program.
        if (a, b.panics()) == (End::ReturnsBomb, true) {
            continue;
        }
        branches_end(&Pool::new(1).unwrap(), false, a, b);
        // A new one, of which no thread has anything else to do.
        branches_end(&Pool::new(2).unwrap(), true, a, b);
    }
}

#[test]
fn install_panics_as_its_closure_does() {
    for threads in [1, 2] {
        let pool = Pool::new(threads).unwrap();
        for end in [End::Panics, End::PanicsWithBomb] {
            let payload = catch_unwind(AssertUnwindSafe(|| {
                pool.install(|_| mem::forget(end.act("outside")));
            }));
            assert_eq!(name_of(payload.unwrap_err()), "outside");
            let payload = pool.install(|_| {
                let inner = AssertUnwindSafe(|| pool.install(|_| mem::forget(end.act("inside"))));
                catch_unwind(inner).unwrap_err()
            });
            assert_eq!(name_of(payload), "inside");
        }
        works(&pool);
    }
}

/// While a panic unwinds, a destructor may join; its own panics are its own.
#[test]
fn a_join_in_a_destructor_while_a_panic_unwinds() {
    struct Joins<'a>(&'a Worker, &'a Mutex<Vec<&'static str>>);

    impl Drop for Joins<'_> {
        fn drop(&mut self) {
            let inner = AssertUnwindSafe(|| {
                self.0.join(
                    |_| {
                        let _ending = Ending(self.1, "inner a");
                        End::Panics.act("inner a").is_none()
                    },
                    |_| self.1.lock().unwrap().push("inner b"),
                );
            });
            assert_eq!(name_of(catch_unwind(inner).unwrap_err()), "inner a");
        }
    }

    for threads in [1, 2] {
        let pool = Pool::new(threads).unwrap();
        let log = Mutex::new(Vec::new());
        let outer = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|worker| {
                worker.join(
                    |w| {
                        let _joins = Joins(w, &log);
                        End::Panics.act("outer a").is_none()
                    },
                    |_| log.lock().unwrap().push("outer b"),
                )
            })
        }));
        assert_eq!(name_of(outer.unwrap_err()), "outer a");
        let mut log = log.into_inner().unwrap();
        log.sort_unstable();
        assert_eq!(log, ["inner a", "inner b", "outer b"]);
        works(&pool);
    }
}

/// A panic from the depth passes joins whose other branches have not begun yet, and each of these
/// runs once.
#[test]
fn a_panic_from_the_depth_runs_all_that_was_forked() {
    fn descend(worker: &Worker, depth: usize, ran: &Mutex<Vec<usize>>) {
        if depth == 0 {
            resume_unwind(Box::new("the leaf"));
        }
        worker.join(
            |w| descend(w, depth - 1, ran),
            |_| ran.lock().unwrap().push(depth),
        );
    }

    for threads in [1, 2, 4] {
        let pool = Pool::new(threads).unwrap();
        let ran = Mutex::new(Vec::new());
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|worker| descend(worker, 100, &ran));
        }));
        assert_eq!(name_of(outcome.unwrap_err()), "the leaf");
        let mut ran = ran.into_inner().unwrap();
        ran.sort_unstable();
        assert!(ran.into_iter().eq(1..=100));
        works(&pool);
    }
}
