//! A job in the middle of another one, with one step out of place, which the model must catch. It
//! is there twice: it must hold where nothing is wrong.
#![cfg(loom)]

use filch_deque::{Stealer, Worker};
use filch_fork_join::protocol::JobBoundary;
use filch_parker::Parker;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, check, refute};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// The thief forks a part of the other job before it says that it has begun that.
    EntersLate,
    /// The thief says that the other job has ended while a part of it lies in the deque.
    LeavesEarly,
    /// The owner asks what lies there before it takes it.
    AsksEarly,
}

/// Takes an item, and says whether it is a part of what has begun at `base`.
fn take(stealer: &Stealer<char>, nest: &JobBoundary, base: u32, bug: Bug) -> Option<(char, bool)> {
    let second = base.wrapping_add(1);
    let early = nest.is_part(second, base);
    let mut at = 0;
    let job = stealer.steal_if(|index| {
        at = index;
        true
    });
    let job = job.success()?;
    match bug {
        Bug::AsksEarly if at == second => Some((job, early)),
        _ => Some((job, nest.is_part(at, base))),
    }
}

/// Two threads: a thief waits for 'a', a part of its stolen job, and begins another job meanwhile,
/// which forks 'x'. The owner takes twice.
fn a_nested_job(bug: Bug) {
    let deque = Worker::with_capacity(4);
    let nest = Arc::new(JobBoundary::default());
    let base = deque.position() as u32;
    let ended = Parker::new();
    let owner = thread::spawn({
        let (stealer, nest) = (deque.stealer(), Arc::clone(&nest));
        let end = ended.unparker();
        move || {
            [(); 2].map(|()| {
                let taken = take(&stealer, &nest, base, bug);
                if matches!(taken, Some(('x', _))) {
                    end.unpark();
                }
                taken
            })
        }
    });
    let take_back = || {
        if deque.pop() != Some('x') {
            ended.park();
        }
    };
    deque.push('a');
    let entered = deque.position() as u32;
    if bug == Bug::EntersLate {
        deque.push('x');
    }
    let outer = nest.enter(entered, Some(base));
    if bug != Bug::EntersLate {
        deque.push('x');
    }
    if bug == Bug::LeavesEarly {
        nest.restore(outer);
        take_back();
    } else {
        take_back();
        nest.restore(outer);
    }
    let taken = owner.join().unwrap();
    assert!(!taken.contains(&Some(('x', true))), "'x' is called a part");
}

/// The control.
#[test]
fn a_nested_job_without_a_bug() {
    check(
        "nest: entered before, left after, asked after the claim",
        Bound::preemptions(2, 100),
        || a_nested_job(Bug::None),
    );
}

/// The owner takes 'x' in between.
#[test]
fn a_job_that_is_entered_late() {
    refute(
        "nest: entered after a fork in it",
        "'x' is called a part",
        Bound::preemptions(2, 2),
        || a_nested_job(Bug::EntersLate),
    );
}

/// The owner takes 'x' in between.
#[test]
fn a_job_that_is_left_early() {
    refute(
        "nest: left before its parts have ended",
        "'x' is called a part",
        Bound::preemptions(2, 2),
        || a_nested_job(Bug::LeavesEarly),
    );
}

/// The thief begins the other job in between.
#[test]
fn a_question_before_the_claim() {
    refute(
        "nest: asked before the claim",
        "'x' is called a part",
        Bound::preemptions(2, 2),
        || a_nested_job(Bug::AsksEarly),
    );
}
