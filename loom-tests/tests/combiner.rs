//! Models of the build scheduler's combiner: one of the threads, the driver, applies the events of
//! all to one state. loom reports two threads at the state as a race on its cell.

use std::sync::{Arc as StdArc, Mutex as StdMutex};

use filch_build_scheduler::{Apply, Combiner};
use filch_models::{Bound, beside};
use filch_parker::{Parker, Unparker};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, thread};

/// Notes the applied events, in order. The log is not loom's, so that reading it orders nothing.
struct Log {
    applied: Vec<u32>,
    told: Told,
    /// Batches that were not empty.
    batches: Batches,
    in_batch: usize,
}

impl Apply<u32> for Log {
    fn apply(&mut self, event: u32) {
        self.applied.push(event);
        self.in_batch += 1;
        self.told.lock().unwrap().clone_from(&self.applied);
    }

    fn applied(&mut self) {
        if self.in_batch > 0 {
            self.batches.lock().unwrap().push(self.in_batch);
            self.in_batch = 0;
        }
    }
}

type Told = StdArc<StdMutex<Vec<u32>>>;
type Batches = StdArc<StdMutex<Vec<usize>>>;

fn combiner() -> (Arc<Combiner<Log, u32>>, Told, Batches) {
    let (told, batches) = (Told::default(), Batches::default());
    let log = Log {
        applied: Vec::new(),
        told: StdArc::clone(&told),
        batches: StdArc::clone(&batches),
        in_batch: 0,
    };
    (Arc::new(Combiner::new(log)), told, batches)
}

/// Two threads submit an event each. The second comes before the first is at the state, while it
/// is, between its last look at the queue and its leaving, or after. When both have returned, each
/// event was applied once. Failure: an event left behind, or a race on the state.
#[test]
fn an_event_beside_another() {
    Bound::exhaustive(600)
        .outcomes("two threads submit", || {
            let (combiner, told, batches) = combiner();
            let other = beside(&combiner, |combiner| combiner.submit(2));
            combiner.submit(1);
            other.join().unwrap();
            let applied = told.lock().unwrap().clone();
            (applied, batches.lock().unwrap().len())
        })
        // One or the other first; by one drain, or by two. loom leaves out the single drain in the
        // second order, which is the first with the threads exchanged.
        .assert_exactly([(vec![1, 2], 1), (vec![1, 2], 2), (vec![2, 1], 2)]);
}

/// Runs the event's work, or submits it if a thread is at the state. Returns true if it ran.
fn call(combiner: &Combiner<Log, u32>, event: u32) -> bool {
    let ran = combiner.run(|log| log.apply(event)).is_ok();
    if !ran {
        combiner.submit(event);
    }
    ran
}

/// Two threads run work, or submit it if the other is at the state. Failure: as above, or two
/// threads at the state, which is a race on its cell.
#[test]
fn work_beside_work() {
    Bound::exhaustive(30)
        .outcomes("two threads run work", || {
            let (combiner, told, _) = combiner();
            let other = beside(&combiner, |combiner| call(combiner, 2));
            let ran = call(&combiner, 1);
            let other_ran = other.join().unwrap();
            let applied = told.lock().unwrap().clone();
            (applied, ran, other_ran)
        })
        // One after the other; or the second finds the first at the state, and leaves its event to
        // it, or comes too late for that.
        .assert_exactly([
            (vec![1, 2], true, true),
            (vec![2, 1], true, true),
            (vec![1, 2], true, false),
            (vec![2, 1], false, true),
        ]);
}

/// One thread runs work, another submits an event, and a third runs work, too. The second finds the
/// first at the state, or the first finds the second. Failure: as above.
#[test]
fn work_beside_events() {
    Bound::preemptions(3, 240_000).check(
        "two threads run work, one of them after an event of its own, and a third one submits",
        || {
            let (combiner, told, _) = combiner();
            let submits = beside(&combiner, |combiner| combiner.submit(3));
            let runs = beside(&combiner, |combiner| call(combiner, 4));
            combiner.submit(1);
            call(&combiner, 2);
            submits.join().unwrap();
            runs.join().unwrap();
            let mut applied = told.lock().unwrap().clone();
            let at = |event| applied.iter().position(|&other| other == event);
            assert!(at(1) < at(2), "out of order: {applied:?}");
            applied.sort_unstable();
            assert_eq!(applied, [1, 2, 3, 4], "left behind");
        },
    );
}

/// Three threads, one of which submits twice. The driver finds several signals at once, and must
/// count them all. Events of one thread keep their order. Failure: as above, or 2 before 1.
#[test]
fn many_signals_at_once() {
    Bound::preemptions(3, 420_000).check("three threads submit, one of them twice", || {
        let (combiner, told, _) = combiner();
        let others = [3, 4].map(|event| {
            let combiner = Arc::clone(&combiner);
            thread::spawn(move || combiner.submit(event))
        });
        combiner.submit(1);
        combiner.submit(2);
        others.into_iter().for_each(|other| other.join().unwrap());
        let mut applied = told.lock().unwrap().clone();
        let at = |event| applied.iter().position(|&other| other == event);
        assert!(at(1) < at(2), "out of order: {applied:?}");
        applied.sort_unstable();
        assert_eq!(applied, [1, 2, 3, 4], "left behind");
    });
}

/// An event with the place for its answer.
struct Ask {
    question: Arc<AtomicUsize>,
    unparker: Unparker,
    answer: Arc<AtomicUsize>,
}

struct Answers;

impl Apply<Ask> for Answers {
    fn apply(&mut self, ask: Ask) {
        let question = ask.question.load(Ordering::Relaxed);
        ask.answer.store(question + 1, Ordering::Relaxed);
        ask.unparker.unpark();
    }

    fn applied(&mut self) {}
}

/// Submits a question, or runs the work if no thread is at the state; then waits for the answer.
fn ask(combiner: &Combiner<Answers, Ask>, runs: bool) {
    let parker = Parker::new();
    let question = Arc::new(AtomicUsize::new(0));
    let answer = Arc::new(AtomicUsize::new(0));
    question.store(6, Ordering::Relaxed);
    let question = Ask {
        question: Arc::clone(&question),
        unparker: parker.unparker(),
        answer: Arc::clone(&answer),
    };
    if runs {
        // The work is behind a reference, so that it is still there after a refusal.
        let mut question = Some(question);
        let work = |answers: &mut Answers| question.take().map(|ask| answers.apply(ask));
        let refused = combiner.run(work).is_err();
        if let (true, Some(question)) = (refused, question) {
            combiner.submit(question);
        }
    } else {
        combiner.submit(question);
    }
    parker.park();
    assert_eq!(answer.load(Ordering::Relaxed), 7, "not published");
}

/// Two threads submit, and each sleeps until its event was applied, by itself or by the other.
/// Failure: a deadlock, when an event is left behind; an answer, or a write before the question,
/// that is not seen.
#[test]
fn a_thread_that_waits_for_its_event_is_woken() {
    Bound::preemptions(3, 180).check("two threads submit, and wait for the answers", || {
        let combiner = Arc::new(Combiner::new(Answers));
        let other = beside(&combiner, |combiner| ask(combiner, false));
        ask(&combiner, false);
        other.join().unwrap();
    });
}

/// The threads run the work themselves if they can; else as above.
#[test]
fn a_thread_that_was_refused_is_woken() {
    Bound::preemptions(3, 75).check(
        "two threads run work or submit it, and wait for the answers",
        || {
            let combiner = Arc::new(Combiner::new(Answers));
            let other = beside(&combiner, |combiner| ask(combiner, true));
            ask(&combiner, true);
            other.join().unwrap();
        },
    );
}
