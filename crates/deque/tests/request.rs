//! A thief that has asked the owners of biased deques, and waits, told on one thread: the owners do
//! what they do meanwhile where the thief looks whether it has enough.

use filch_deque::{Request, Steal, Stealer, Worker};
use filch_sync::asymmetric::{Refused, heavy, heavy_fences, register};
use filch_sync::{Mutex, MutexGuard, lock};

/// Heavy fences are counted for the whole process, and run out for it: one test at a time has them.
/// `None` where there are none.
fn fences() -> Option<MutexGuard<'static, ()>> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    register().then(|| lock(&ONE_AT_A_TIME))
}

/// Three items, in a deque that is the owner's.
fn biased() -> Worker<u32> {
    let worker = Worker::biased(8);
    worker.push_batch(0..4);
    assert_eq!(worker.pop(), Some(3));
    assert!(!worker.stealer().is_shared());
    worker
}

/// Awaits them, again if the fences of this second were used up, and says how many were passed.
fn await_all(requests: &[Request<'_, u32>]) -> u64 {
    let before = heavy_fences();
    loop {
        match Request::await_all(requests, || false) {
            Ok(()) => return heavy_fences() - before,
            refused => assert_eq!(refused, Err(Refused::ForNow)),
        }
    }
}

#[test]
fn nothing_is_awaited_where_nobody_was_asked() {
    let Some(_alone) = fences() else { return };
    assert_eq!(await_all(&[]), 0);
    // It was shared when it was asked.
    let worker: Worker<_> = Worker::biased(8);
    let stealer = worker.stealer();
    assert_eq!(await_all(&Vec::from_iter(stealer.ask())), 0);
}

#[test]
fn an_owner_that_answers_in_time_needs_no_fence() {
    let Some(_alone) = fences() else { return };
    let worker = biased();
    let stealer = worker.stealer();
    let requests = [stealer.ask().expect("it is biased")];
    let before = heavy_fences();
    let mut looks = 0;
    let awaited = Request::await_all(&requests, || {
        looks += 1;
        if looks == 2 {
            worker.push(3);
        }
        false
    });
    assert_eq!((awaited, heavy_fences()), (Ok(()), before));
    assert_eq!(looks, 2, "there is nothing left to wait for");
    assert!(!requests[0].is_pending());
    assert_eq!(stealer.steal(), Steal::Success(0));
}

/// One fence for all of them, and those that have answered are left alone.
#[test]
fn owners_that_are_silent_are_done_without() {
    let Some(_alone) = fences() else { return };
    let [first, answers, last] = [(); 3].map(|()| biased());
    let stealers = [&first, &answers, &last].map(Worker::stealer);
    let requests = stealers
        .each_ref()
        .map(|stealer| stealer.ask().expect("it is biased"));
    answers.push(3);
    // It takes its deque back.
    assert_eq!((answers.pop(), answers.pop()), (Some(3), Some(2)));
    assert_eq!(await_all(&requests), 1);
    assert!(!requests.iter().any(Request::is_pending));
    let is_shared = stealers.each_ref().map(Stealer::is_shared);
    assert_eq!(is_shared, [true, false, true]);
    for (worker, stealer) in [(&first, &stealers[0]), (&last, &stealers[2])] {
        assert_eq!(stealer.steal(), Steal::Success(0));
        assert_eq!(stealer.steal(), Steal::Success(1));
        assert_eq!((worker.pop(), worker.pop()), (Some(2), None));
    }
}

#[test]
fn a_thief_that_finds_something_else_waits_no_longer() {
    let Some(_alone) = fences() else { return };
    let worker = biased();
    let stealer = worker.stealer();
    let requests = [stealer.ask().expect("it is biased")];
    let before = heavy_fences();
    for enough in [1, 2, 5] {
        let mut looks = 0;
        let awaited = Request::await_all(&requests, || {
            looks += 1;
            looks == enough
        });
        assert_eq!((awaited, heavy_fences()), (Ok(()), before));
        assert_eq!(looks, enough);
    }
    assert!(!stealer.is_shared() && requests[0].is_pending());
    worker.push(3);
    assert!(worker.was_asked(), "the request stands");
    assert_eq!(stealer.steal(), Steal::Success(0));
}

/// A process passes a thousand fences in a second. Beyond these nothing is taken, and the request
/// stands.
#[test]
fn a_thief_that_is_refused_takes_nothing() {
    let Some(_alone) = fences() else { return };
    // One is earned in a millisecond: perhaps between the last and the thief's.
    let (worker, refused) = loop {
        let worker = biased();
        while heavy().is_ok() {}
        let stealer = worker.stealer();
        let request = stealer.ask().expect("it is biased");
        match Request::await_all(&[request], || false) {
            Ok(()) => assert!(stealer.is_shared()),
            Err(refused) => break (worker, refused),
        }
    };
    assert_eq!(refused, Refused::ForNow);
    let stealer = worker.stealer();
    assert!(!stealer.is_shared());
    assert_eq!(stealer.steal(), Steal::Empty);
    let request = stealer.ask().expect("it is biased");
    assert!(request.is_pending());
    worker.was_asked();
    worker.push(3);
    assert!(!request.is_pending() && worker.was_asked());
    assert_eq!(stealer.steal(), Steal::Success(0));
}
