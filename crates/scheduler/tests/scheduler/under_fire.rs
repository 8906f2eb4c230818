//! Cases of the Go original's tests that no other file here has: answers out of order, ends amid
//! everything, upgrades and the limit under load.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use filch_scheduler::{Completion, Event, Scheduler, SubmitError};

use crate::common::{Command, Scripted, Test, closed_once, scheduler, scripted, start};

/// Each answer is a separate step, in the order of the answers; a tag may be used again while
/// another command is under way.
#[test]
fn completions_come_in_the_order_of_their_answers() {
    let scheduler = scheduler(1);
    let (give, asked) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let mut tags = vec![vec![0], vec![u64::MAX, 0]];
    let process = start(&scheduler, move |_, events, out| {
        let answers: Vec<_> = events
            .into_iter()
            .map(|event| match event {
                Event::Completed { tag, result } => (tag, result.unwrap()),
                event => panic!("{event:?}"),
            })
            .collect();
        match &answers[..] {
            [] | [(0, 2)] => {
                for tag in tags.pop().expect("it asks twice") {
                    out.yield_command(tag, Command::Give(give.clone()));
                }
                out.wait();
            }
            [(0, 3)] => out.done(7),
            _ => out.wait(),
        }
        tell.send(answers).unwrap();
    });
    assert_eq!(told.recv().unwrap(), []);
    let [slow, fast] = [(); 2].map(|()| asked.recv().unwrap());
    assert_eq!((slow.tag(), fast.tag()), (u64::MAX, 0));
    fast.complete(2);
    assert_eq!(told.recv().unwrap(), [(0, 2)]);
    let again = asked.recv().unwrap();
    slow.complete(1);
    assert_eq!(told.recv().unwrap(), [(u64::MAX, 1)]);
    again.complete(3);
    assert_eq!(told.recv().unwrap(), [(0, 3)]);
    assert_eq!(process.join().unwrap(), 7);
}

/// Asks for five answers, one after the other, and counts its running steps.
fn asking(give: mpsc::Sender<Completion<Test>>, inside: &Arc<AtomicUsize>) -> Scripted {
    let (mut left, inside) = (5, Arc::clone(inside));
    scripted(move |_, _, out| {
        inside.fetch_add(1, Ordering::Relaxed);
        thread::yield_now();
        if left == 0 {
            out.done(0);
        } else {
            left -= 1;
            out.yield_command(0, Command::Give(give.clone()));
            out.wait();
        }
        inside.fetch_sub(1, Ordering::Relaxed);
    })
}

/// Two threads submit and one answers while the scheduler shuts down without patience. Afterwards
/// no process is in a step, each was closed once, and later answers start none.
#[test]
fn after_the_shutdown_nobody_steps() {
    for round in 0..20 {
        let scheduler = scheduler(4);
        let handle = scheduler.handle();
        let inside = Arc::new(AtomicUsize::new(0));
        let closed = Mutex::new(Vec::new());
        let (give, asked) = mpsc::channel();
        let steps = |handle: &filch_scheduler::Handle<Test>| handle.stats().total().steps;
        let before = thread::scope(|scope| {
            for _ in 0..2 {
                let (give, handle, inside, closed) = (give.clone(), &handle, &inside, &closed);
                scope.spawn(move || {
                    for _ in 0..50 {
                        let process = asking(give.clone(), inside);
                        let count = process.closed();
                        if handle.submit(process, "run", 0).is_ok() {
                            closed.lock().unwrap().push(count);
                        }
                    }
                });
            }
            drop(give);
            scope.spawn(move || asked.into_iter().for_each(|asked| asked.complete(1)));
            (0..10 * round).for_each(|_| thread::yield_now());
            let report = scheduler.shutdown(Duration::ZERO).unwrap();
            assert_eq!(report.stuck, []);
            assert_eq!(inside.load(Ordering::Relaxed), 0);
            steps(&handle)
        });
        assert_eq!(steps(&handle), before);
        assert!(
            closed
                .into_inner()
                .unwrap()
                .iter()
                .all(|one| closed_once(one))
        );
    }
}

/// Two threads send in order while a third replaces the receiver all the time. Each message is read
/// once, in its sender's order, by any version; and each version that has begun is closed once.
#[test]
fn upgrades_under_fire() {
    const EACH: u64 = 5_000;
    let scheduler = scheduler(2);
    let last = Arc::new(Mutex::new([0; 2]));
    let version = || {
        let last = Arc::clone(&last);
        scripted(move |_, events, out| {
            let mut last = last.lock().unwrap();
            for event in events {
                let Event::Message((sender, number)) = event else {
                    panic!("{event:?}")
                };
                assert_eq!(number, last[sender] + 1, "lost, doubled or out of order");
                last[sender] = number;
            }
            match *last {
                [EACH, EACH] => out.done(EACH),
                _ => out.idle(),
            }
        })
    };
    let first = version();
    let mut closed = vec![first.closed()];
    let process = scheduler.submit(first, "run", 0).unwrap();
    let pid = process.pid();
    thread::scope(|scope| {
        let scheduler = &scheduler;
        let senders = [0, 1].map(|sender| {
            scope.spawn(move || {
                for number in 1..=EACH {
                    scheduler.send(pid, (sender, number)).unwrap();
                }
            })
        });
        while !senders.iter().all(ScopedJoinHandle::is_finished) {
            let next = version();
            let count = next.closed();
            if scheduler.upgrade(pid, Box::new(next), "run", 0).is_ok() {
                closed.push(count);
            }
        }
    });
    scheduler.wait_for_standstill().unwrap();
    assert_eq!(process.try_join().unwrap(), EACH);
    drop(scheduler);
    // Those that come after the last message are dropped with the process, unused.
    let begun = closed.iter().take_while(|count| closed_once(count)).count();
    assert!(begun >= 1);
    let unused = |count: &Arc<AtomicUsize>| count.load(Ordering::Relaxed) == 0;
    assert!(closed[begun..].iter().all(unused));
}

/// Three threads submit as fast as they can, where three processes may live: never do four, each
/// refused one comes back, and all are run in the end.
#[test]
fn the_limit_holds_under_fire() {
    const EACH: usize = 2_000;
    let scheduler = Scheduler::<Test>::builder().workers(2).limit(3);
    let scheduler = scheduler.build().unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    let ran = Arc::clone(&ran);
                    let process = scripted(move |context, _, out| {
                        assert!(context.handle().live() <= 3);
                        ran.fetch_add(1, Ordering::Relaxed);
                        out.done(0);
                    });
                    let mut submitted = scheduler.submit(process, "run", 0);
                    while let Err(error) = submitted {
                        let SubmitError::NotAdmitted(
                            filch_scheduler::NotAdmitted::LimitReached(limit),
                            refused,
                        ) = error
                        else {
                            panic!("{error}")
                        };
                        assert_eq!(limit.get(), 3);
                        thread::yield_now();
                        let (process, input) = refused.into_inner();
                        submitted = scheduler.submit(process, "run", input);
                    }
                }
            });
        }
    });
    scheduler.wait_for_standstill().unwrap();
    assert_eq!(ran.load(Ordering::Relaxed), 3 * EACH);
    assert_eq!(scheduler.stats().total().failed, 0, "more lived");
}
