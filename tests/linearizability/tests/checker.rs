//! The checker accepts the histories that a correct object can have, and refuses the others.

use linearizability::{Deque, DequeOperation, Fifo, FifoOperation, History, check};

use DequeOperation::{Pop, Steal, StealHalf};
use FifoOperation::{Admit, Close, Drain, Enter, Push, Refused, Take};

type Call = (usize, std::ops::RangeInclusive<u64>, FifoOperation<u32>);

fn take(items: &[u32]) -> FifoOperation<u32> {
    Take {
        max: 2,
        items: items.to_vec(),
    }
}

fn is_fifo(calls: impl IntoIterator<Item = Call>) -> bool {
    check(&Fifo::new(), &History::of_intervals(calls)).is_ok()
}

#[test]
fn a_queue_in_sequence_is_accepted() {
    let calls = [(0, 0..=1, Push(1)), (0, 2..=3, Push(2))];
    assert!(is_fifo(calls.clone()));
    let together = calls.iter().cloned().chain([(1, 4..=5, take(&[1, 2]))]);
    assert!(is_fifo(together));
    let drained = calls.into_iter().chain([(1, 4..=5, Drain(vec![1, 2]))]);
    assert!(is_fifo(drained));
}

#[test]
fn overlapping_pushes_have_either_order() {
    let pushes = [(0, 0..=3, Push(1)), (1, 1..=2, Push(2))];
    for (first, second) in [(1, 2), (2, 1)] {
        let pops = [
            (2, 4..=5, FifoOperation::pop(Some(first))),
            (2, 6..=7, FifoOperation::pop(Some(second))),
        ];
        assert!(is_fifo(pushes.iter().cloned().chain(pops)));
    }
}

/// In a long overlap, the operation may take effect before or after a chain of others, but not
/// inside a chain that excludes it.
#[test]
fn a_moment_is_sought_in_the_whole_interval() {
    let long = |answer| (1, 0..=9, FifoOperation::pop(answer));
    let chain = [
        (0, 1..=2, Push(1)),
        (0, 3..=4, Push(2)),
        (0, 5..=6, take(&[1, 2])),
    ];
    assert!(is_fifo(chain.iter().cloned().chain([long(None)])));
    assert!(!is_fifo(chain.into_iter().chain([long(Some(2))])));
}

#[test]
fn an_empty_answer_may_come_while_a_push_is_under_way() {
    assert!(is_fifo([(0, 0..=3, Push(1)), (1, 1..=2, take(&[]))]));
    assert!(is_fifo([(0, 0..=3, Push(1)), (1, 1..=2, Drain(vec![]))]));
}

#[test]
fn an_overtaken_item_is_refused() {
    let pushes = [(0, 0..=1, Push(1)), (1, 2..=3, Push(2))];
    let overtaken = [(2, 4..=5, take(&[2]))];
    assert!(!is_fifo(pushes.iter().cloned().chain(overtaken)));
    let reversed = [(2, 4..=5, take(&[2, 1]))];
    assert!(!is_fifo(pushes.iter().cloned().chain(reversed)));
    let partial = [(2, 4..=5, Drain(vec![1]))];
    assert!(!is_fifo(pushes.into_iter().chain(partial)));
}

/// A batch of one of two consumers has one moment: the other may not take from the middle of it.
#[test]
fn a_torn_batch_is_refused() {
    let pushes = (1..=3).map(|item| {
        let at = 2 * u64::from(item);
        (0, at..=at + 1, Push(item))
    });
    let torn = [(1, 10..=20, take(&[1, 3])), (2, 11..=19, take(&[2]))];
    assert!(!is_fifo(pushes.chain(torn)));
}

#[test]
fn a_lost_item_is_refused() {
    let lost = [(0, 0..=1, Push(1)), (1, 2..=3, Drain(vec![]))];
    assert!(!is_fifo(lost));
}

#[test]
fn a_false_empty_answer_is_refused() {
    assert!(!is_fifo([(0, 0..=1, Push(1)), (1, 2..=3, take(&[]))]));
}

#[test]
fn a_doubled_item_and_one_from_nowhere_are_refused() {
    let doubled = [
        (0, 0..=1, Push(1)),
        (1, 2..=4, take(&[1])),
        (2, 3..=5, take(&[1])),
    ];
    assert!(!is_fifo(doubled));
    assert!(!is_fifo([(1, 0..=1, take(&[1])), (0, 2..=3, Push(1))]));
}

#[test]
fn more_than_was_asked_for_is_refused() {
    let pushes = (1..=3).map(|item| (0, 0..=9, Push(item)));
    assert!(!is_fifo(pushes.chain([(1, 10..=11, take(&[1, 2, 3]))])));
}

#[test]
fn a_close_splits_accepted_from_refused() {
    let close = (1, 2..=3, Close);
    assert!(is_fifo([
        (0, 0..=1, Push(1)),
        close.clone(),
        (0, 4..=5, Refused(2))
    ]));
    assert!(!is_fifo([close.clone(), (0, 4..=5, Push(1))]));
    assert!(!is_fifo([(0, 0..=1, Refused(1)), close]));
}

/// Accepted before the close and queued after it: only a push of two moments may do that.
#[test]
fn an_accepted_push_may_come_in_late_if_it_has_two_moments() {
    let mut history = History::of_intervals([
        (0, 0..=9, Push(1)),
        (1, 1..=2, Close),
        (1, 3..=4, Drain(vec![])),
        (1, 10..=11, Drain(vec![1])),
    ]);
    assert!(check(&Fifo::new(), &history).is_err());
    history.replace(0, 0, [Admit(1), Enter(1)]);
    assert!(check(&Fifo::new(), &history).is_ok());
    // But not once it has returned.
    let mut history = History::of_intervals([
        (0, 0..=2, Push(1)),
        (1, 1..=3, Close),
        (1, 4..=5, Drain(vec![])),
    ]);
    history.replace(0, 0, [Admit(1), Enter(1)]);
    assert!(check(&Fifo::new(), &history).is_err());
}

#[test]
fn a_call_without_an_answer_has_no_effect() {
    let mut history = History::of_intervals([(0, 0..=1, Push(1)), (1, 2..=3, take(&[]))]);
    history.replace(1, 0, []);
    assert!(check(&Fifo::new(), &history).is_ok());
}

fn deque(answers: impl IntoIterator<Item = (usize, DequeOperation<u32>)>) -> bool {
    let pushed = (1..=4).map(|item| (0, DequeOperation::Push(item)));
    let calls = pushed.chain(answers).enumerate();
    let calls = calls.map(|(place, (thread, call))| {
        let at = 2 * place as u64;
        (thread, at..=at + 1, call)
    });
    let history = History::of_intervals(calls);
    check(&Deque::new(), &history).is_ok()
}

#[test]
fn a_deque_gives_the_youngest_to_its_owner_and_the_oldest_to_thieves() {
    let half = |items: &[u32]| StealHalf {
        limit: 8,
        items: items.to_vec(),
    };
    assert!(deque([(0, Pop(Some(4))), (1, Steal(Some(1)))]));
    assert!(deque([(1, half(&[1, 2])), (0, Pop(Some(4)))]));
    assert!(!deque([(0, Pop(Some(1)))]));
    assert!(!deque([(1, Steal(Some(4)))]));
    assert!(!deque([(1, Steal(None))]));
    assert!(!deque([(0, Pop(None))]));
    assert!(!deque([(1, half(&[]))]));
    // More than half; and with a gap.
    assert!(!deque([(1, half(&[1, 2, 3]))]));
    assert!(!deque([(1, half(&[1, 3]))]));
    let limited = StealHalf {
        limit: 1,
        items: vec![1, 2],
    };
    assert!(!deque([(1, limited)]));
}

#[test]
fn a_counterexample_shows_who_did_what_when() {
    let history = History::of_intervals([
        (0, 0..=1, Push(1)),
        (1, 2..=5, take(&[])),
        (0, 3..=4, Push(2)),
    ]);
    let counterexample = check(&Fifo::new(), &history).unwrap_err();
    let expected = "\
not linearizable:

thread 0
    0–1   ├┤      push(1)
    2–4     ├─┤   push(2)
thread 1
    3–5      ├─┤  take(2) = []

the longest order: push(1); push(2)
leads to: Fifo { items: [1, 2], admitted: [], closed: false }
where none of these can follow: take(2) = [] of thread 1";
    assert_eq!(counterexample.to_string(), expected);
}

/// The memory of dead ends keeps this short: eight overlapping pushes have 40 320 orders, all wrong
/// in the same way.
#[test]
fn a_hopeless_search_ends_soon() {
    let pushes = (0..7).map(|thread| (thread, 0..=1, Push(thread as u32)));
    let wrong = (7, 2..=3, Drain((1..7).collect()));
    assert!(!is_fifo(pushes.chain([wrong])));
}
