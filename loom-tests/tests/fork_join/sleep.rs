//! Joiners that sleep, against work that becomes public.

use std::sync::{Arc as StdArc, Mutex as StdMutex};

use filch_fork_join::Worker;
use filch_fork_join::protocol::{Host, Latch, Sleepers, install, run_one, source, wait};
use filch_models::{Bound, beside};
use filch_parker::Parker;
use filch_processors::Source;
use filch_sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use filch_sync::{Arc, thread};

use super::{Threads, registered, shared, shared_by, shared_with_a_host};

/// Two threads: one publishes and chooses a sleeper, the other says that it is about to sleep and
/// looks. A failure: the sleeper does not see what was published, and was not chosen.
#[test]
fn a_sleeper_sees_what_is_published_or_is_chosen() {
    Bound::exhaustive(39)
        .outcomes("sleepers: announce against choose", || {
            let shared = Arc::new((
                Sleepers::default(),
                AtomicBool::new(false),
                AtomicBool::new(false),
            ));
            let publisher = beside(&shared, |shared| {
                let (sleepers, flag, work) = shared;
                // ORDERING: Relaxed, here and below: by the fences.
                work.store(true, Ordering::Relaxed);
                // ORDERING: SeqCst, partner of the one in `announce`.
                fence(Ordering::SeqCst);
                sleepers.choose(|| [flag].into_iter()).is_some()
            });
            let (sleepers, flag, work) = &*shared;
            sleepers.announce(flag);
            let sees = work.load(Ordering::Relaxed);
            let is_chosen = publisher.join().unwrap();
            assert!(sees || is_chosen, "asleep beside work");
            assert_eq!(sleepers.withdraw(flag), !is_chosen);
            (sees, is_chosen)
        })
        .assert_exactly([(true, false), (true, true), (false, true)]);
}

/// Three threads: one sleeps for certain; another one is about to, and its flag comes first. Two
/// others choose. A failure: the one that is about to sleep is chosen and counted off before it is
/// counted, and the second choice finds that nobody sleeps.
#[test]
fn a_sleeper_is_counted_while_another_one_comes() {
    Bound::exhaustive(110_000)
        .outcomes("sleepers: two choices, one and a half sleepers", || {
            let shared = Arc::new((
                Sleepers::default(),
                [AtomicBool::new(false), AtomicBool::new(false)],
            ));
            shared.0.announce(&shared.1[1]);
            let coming = beside(&shared, |shared| shared.0.announce(&shared.1[0]));
            let choosing = beside(&shared, |shared| shared.0.choose(|| shared.1.iter()));
            let first = shared.0.choose(|| shared.1.iter());
            let second = choosing.join().unwrap();
            coming.join().unwrap();
            let both = [first, second];
            assert!(
                both.contains(&Some(1)) || !both.contains(&None),
                "nobody told the sleeper"
            );
            assert_ne!(first, second, "told twice");
            let asleep = shared
                .1
                .iter()
                .filter(|flag| shared.0.withdraw(flag))
                .count();
            assert_eq!(asleep + both.iter().flatten().count(), 2);
            assert_eq!(shared.0.choose(|| shared.1.iter()), None);
            both
        })
        .assert_reached([[Some(0), Some(1)], [Some(1), Some(0)]]);
}

/// Two threads: a joiner waits for a job that is done when the owner of a deque has done `work`.
fn beside_a_joiner(claim: &str, bound: Bound, work: impl Fn(&Worker) + Send + Sync + 'static) {
    bound.check(claim, move || {
        let shared = shared();
        let latch = Arc::new(Latch::holding(0));
        let (joiner, own) = (registered(&shared), Arc::clone(&latch));
        let joiner_slot = joiner.index();
        let joiner = thread::spawn(move || wait(&joiner, &own));
        let worker = registered(&shared);
        work(&worker);
        shared.finish(&latch, joiner_slot);
        joiner.join().unwrap();
    });
}

/// Two threads: a joiner waits, and the owner of a deque forks, which is public at once. The owner
/// waits in a leaf until somebody has run it. A failure: a joiner that sleeps
/// beside what is public, and an owner that waits for ever (a deadlock).
#[test]
fn a_joiner_is_told_of_what_becomes_public() {
    beside_a_joiner(
        "joiner: asleep beside a publication",
        Bound::preemptions(1, 4_100),
        |worker| {
            let ran = Parker::new();
            let runner = ran.unparker();
            worker.join(|_| ran.park(), |_| runner.unpark());
        },
    );
}

/// Two threads: a joiner asks for work that is private before it sleeps; the owner's next fork is
/// the answer. The owner waits in a leaf until that has been run. A failure: a request that is not
/// answered, or an answer that nobody is told of (a deadlock).
#[test]
fn a_joiner_that_has_asked_is_answered() {
    beside_a_joiner(
        "joiner: asleep beside private work",
        Bound::preemptions(1, 66_000),
        |worker| {
            let (first, second) = (Parker::new(), Parker::new());
            let (first_ran, second_ran) = (first.unparker(), second.unparker());
            worker.join(
                |worker| {
                    worker.join(
                        |worker| {
                            first.park();
                            worker.join(|_| second.park(), |_| ());
                        },
                        |_| second_ran.unpark(),
                    );
                },
                |_| first_ran.unpark(),
            );
        },
    );
}

/// Two threads: a joiner asks for what is spawned before it sleeps. The owner spawns twice, the
/// second time into a deque that it may have for itself, and waits until somebody has run that. A
/// failure: a job that nobody asks for, or is told of (a deadlock).
#[test]
fn a_joiner_is_told_of_what_is_spawned() {
    beside_a_joiner(
        "joiner: asleep beside a spawned job",
        Bound::preemptions(1, 4_000),
        |worker| {
            worker.spawn(|_| ());
            run_one(worker);
            let ran = Parker::new();
            let runner = ran.unparker();
            worker.spawn(move |_| _ = runner.unpark());
            ran.park();
        },
    );
}

/// Two threads: a joiner takes what the owner forks, perhaps before the owner has answered what was
/// asked, asks again, and sleeps. The owner waits in a leaf until that has been run, and forks once
/// more. A failure: a late answer, which takes the joiner's second request down and tells nobody (a
/// deadlock).
#[test]
fn a_joiner_that_is_answered_late_is_told_later() {
    beside_a_joiner(
        "joiner: asleep again before the answer",
        Bound::preemptions(1, 8_100),
        |worker| {
            let ran = Parker::new();
            let [first, second] = [ran.unparker(), ran.unparker()];
            worker.join(|_| ran.park(), |_| first.unpark());
            worker.join(|_| ran.park(), |_| second.unpark());
        },
    );
}

/// Three threads: two of the host's sleep, and have asked. The owner forks twice, and waits in a
/// leaf until both have been run. Its first answer takes down what both have asked, and one is
/// told. A failure: that one runs its job, and the other one sleeps beside the second (a deadlock).
#[test]
fn a_thread_that_is_told_thinks_of_the_others() {
    Bound::preemptions(2, 10_000).check("host: two asleep, one answer", || {
        let (first, second) = (Parker::new(), Parker::new());
        let in_turn = [second.unparker(), first.unparker(), first.unparker()];
        let host: StdArc<dyn Host> = StdArc::new(Threads {
            in_turn: StdMutex::new(in_turn.into()),
            always: None,
        });
        let shared = shared_by(&host);
        let worker = registered(&shared);
        // Of a new deque one is told in any case. From here on it is the owner's.
        worker.join(|_| (), |_| ());
        first.park();
        let [one, other] = [registered(&shared), registered(&shared)];
        let (jobs, next) = (source(&shared), second.unparker());
        assert!(jobs.is_empty(), "both look");
        let one = thread::spawn(move || {
            first.park();
            assert!(run_one(&one), "told of nothing");
            if jobs.may_have_some() {
                next.unpark();
            }
        });
        let other = thread::spawn(move || {
            second.park();
            assert!(run_one(&other), "told of nothing");
        });
        let (outer, inner) = (Parker::new(), Parker::new());
        let (outer_ran, inner_ran) = (outer.unparker(), inner.unparker());
        worker.join(
            |worker| {
                worker.join(
                    |_| {
                        outer.park();
                        inner.park();
                    },
                    |_| inner_ran.unpark(),
                );
            },
            |_| outer_ran.unpark(),
        );
        one.join().unwrap();
        other.join().unwrap();
    });
}

/// Two threads: one blocks in a job, and gives its processor away, which by the same thread's look
/// has nothing to do. Then it forks in the call, and waits in a leaf until the host's thread, which
/// sleeps until it is told, has run that. A failure: a fork that nobody is told of (a deadlock).
#[test]
fn a_fork_in_a_call_that_blocks_is_told() {
    Bound::preemptions(4, 540).check("blocking: a fork beside an idle processor", || {
        let (shared, host, _kept) = shared_with_a_host();
        let (worker, other) = (registered(&shared), registered(&shared));
        let jobs = source(&shared);
        // Of a new deque it is told in any case. From here on it is the owner's.
        worker.join(|_| (), |_| ());
        host.park();
        let machine = thread::spawn(move || {
            host.park();
            assert!(run_one(&other), "told of nothing");
        });
        let ran = Parker::new();
        let runner = ran.unparker();
        worker.blocking(|| {
            assert!(jobs.is_empty());
            worker.join(|_| ran.park(), |_| runner.unpark());
        });
        machine.join().unwrap();
    });
}

/// Two threads: a joiner waits for a job that is done when something from outside has been run. A
/// failure: the joiner sleeps beside that, and neither goes on (a deadlock).
#[test]
fn a_joiner_is_told_of_an_injection() {
    Bound::preemptions(3, 14_000).check("joiner: asleep beside an injection", || {
        let shared = shared();
        let worker = registered(&shared);
        let latch = Arc::new(Latch::holding(0));
        let outside = thread::spawn({
            let (shared, latch) = (Arc::clone(&shared), Arc::clone(&latch));
            let joiner = worker.index();
            move || {
                assert_eq!(install(&shared, &Parker::new(), |_| 7), 7);
                shared.finish(&latch, joiner);
            }
        });
        wait(&worker, &latch);
        outside.join().unwrap();
    });
}

/// Three threads: a joiner waits for a job that is done at any moment; work comes from outside, and
/// somebody is told of it: the joiner, or the host, whose thread then runs what is there. A joiner
/// that was chosen, and whose job is done before it has looked, tells the host. A failure: the
/// joiner takes the choice with it, the host's thread sleeps, and so does the outside one (a
/// deadlock).
#[test]
fn a_joiner_that_is_done_passes_its_choice_on() {
    Bound::preemptions(2, 33_000)
        .outcomes("joiner: chosen, and done", || {
            let (shared, host, _kept) = shared_with_a_host();
            let end = host.unparker();
            let latch = Arc::new(Latch::holding(0));
            let (joiner, own) = (registered(&shared), Arc::clone(&latch));
            let joiner_slot = joiner.index();
            let joiner = thread::spawn(move || wait(&joiner, &own));
            let ran_by_host = Arc::new(AtomicU32::new(0));
            let machine = thread::spawn({
                let (worker, shared) = (registered(&shared), Arc::clone(&shared));
                let ran = Arc::clone(&ran_by_host);
                move || {
                    shared.finish(&latch, joiner_slot);
                    host.park();
                    // ORDERING: Relaxed: read after the thread has ended.
                    ran.store(u32::from(run_one(&worker)), Ordering::Relaxed);
                }
            });
            assert_eq!(install(&shared, &Parker::new(), |_| 7), 7);
            // For a thread that was told nothing.
            end.unpark();
            machine.join().unwrap();
            joiner.join().unwrap();
            ran_by_host.load(Ordering::Relaxed)
        })
        .assert_exactly([0, 1]);
}
