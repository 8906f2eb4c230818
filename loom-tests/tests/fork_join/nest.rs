//! Which of the jobs in a thief's deque are parts of the one that it has stolen.

use filch_deque::{Stealer, Worker};
use filch_fork_join::protocol::JobBoundary;
use filch_parker::Parker;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes};

/// What is taken from a thief's deque, and where it lay.
fn take(stealer: &Stealer<char>) -> Option<(char, u32)> {
    let mut at = 0;
    let job = stealer.steal_if(|index| {
        at = index;
        true
    });
    Some((job.success()?, at))
}

/// Pushes it, in sight of all, and takes it back; or waits until whoever has it has ended it.
fn fork(deque: &Worker<char>, job: char, ended: &Parker) {
    deque.push(job);
    if deque.pop().is_none() {
        ended.park();
    }
}

/// Two threads: a thief forks a part of its stolen job, 'a'; while it waits for that, it begins
/// another job, and forks 'x', a part of the latter; then it goes on with 'b', a part of the first.
/// The owner takes twice. A failure: 'x' is called a part of the stolen job, or 'b' is not, or 'x'
/// is no part of the job that has forked it. That 'a' is not called a part, when something has
/// begun behind it, is allowed.
#[test]
fn a_part_of_another_job_is_no_part() {
    Outcomes::of(
        "nest: claims beside a nested job",
        Bound::preemptions(2, 1_100),
        || {
            let deque = Worker::with_capacity(4);
            let nest = Arc::new(JobBoundary::default());
            let base = deque.position() as u32;
            let ended = Parker::new();
            let owner = thread::spawn({
                let (stealer, nest) = (deque.stealer(), Arc::clone(&nest));
                let end = ended.unparker();
                move || {
                    [(); 2].map(|()| {
                        let (job, at) = take(&stealer)?;
                        if job == 'x' {
                            assert!(nest.is_part(at, at), "the nested job has forked it");
                        }
                        let is_part = nest.is_part(at, base);
                        if job != 'a' {
                            end.unpark();
                        }
                        Some((job, is_part))
                    })
                }
            });
            deque.push('a');
            let outer = nest.enter(deque.position() as u32, Some(base));
            fork(&deque, 'x', &ended);
            nest.restore(outer);
            fork(&deque, 'b', &ended);
            let taken = owner.join().unwrap();
            for taken in taken.iter().flatten() {
                match *taken {
                    ('x', is_part) => assert!(!is_part, "of the nested job"),
                    ('b', is_part) => assert!(is_part, "of the stolen job"),
                    _ => {}
                }
            }
            taken
        },
    )
    .assert_reached([
        [None, None],
        [Some(('a', false)), Some(('x', false))],
        [Some(('a', true)), Some(('x', false))],
        [Some(('a', true)), Some(('b', true))],
    ]);
}
