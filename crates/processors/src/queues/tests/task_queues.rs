//! Tests of what counts as there, and of the order of the global queue's lanes.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use crate::protocol::{Coordinator, Work};
use crate::queues::source::tests::Endless;
use crate::queues::task_queues::{GlobalQueue, TaskQueues};

#[test]
fn only_a_watched_processors_only_task_does_not_count() {
    let queues = TaskQueues::new(2, 2, Instant::now());
    let coordinator = Coordinator::new(2, 1, 1, 0);
    coordinator.start(1, 1, &queues).unwrap();
    let (permit, _) = coordinator.take_idle().unwrap();
    let local = queues.local(&permit);
    assert!(!queues.exists());
    local.deque.push("one");
    assert!(queues.exists() && queues.exists_beside(|watched| watched == 1));
    assert!(!queues.exists_beside(|watched| watched == 0));
    assert!(local.has_one());
    local.deque.push("two");
    assert!(queues.exists_beside(|_| true) && !local.has_one());
}

#[test]
fn what_is_in_no_deque_always_counts() {
    let queues = TaskQueues::new(1, 1, Instant::now());
    for lane in [&queues.global.new, &queues.global.woken] {
        lane.push(());
        assert!(queues.exists_beside(|_| true));
        queues.global.pop_new_first();
        assert!(!queues.exists_beside(|_| true));
    }
    queues.yielded.push(());
    assert!(queues.exists_beside(|_| true));
    queues.yielded.pop();
    assert!(!queues.exists_beside(|_| true));
    queues.idle_priority.push(());
    assert!(queues.exists_beside(|_| true));
    queues.idle_priority.pop();
    assert!(!queues.exists_beside(|_| true));
    assert!(queues.source.attach(Arc::new(Endless(1))).is_ok());
    assert!(queues.exists_beside(|_| true));
}

fn filled(new: u32, woken: u32) -> GlobalQueue<u32> {
    let queue = GlobalQueue {
        new: Arc::default(),
        woken: Arc::default(),
    };
    (0..new).for_each(|number| queue.new.push(number));
    (0..woken).for_each(|number| queue.woken.push(100 + number));
    queue
}

fn taken(queue: &GlobalQueue<u32>, more: usize) -> Vec<u32> {
    let lanes = Cell::new(false);
    let mut taken = Vec::new();
    loop {
        let mut rest = Vec::new();
        let Some(first) = queue.pop_batch(&lanes, more, |task| rest.push(task)) else {
            return taken;
        };
        taken.push(first);
        taken.append(&mut rest);
    }
}

#[test]
fn each_lane_keeps_its_order_and_neither_waits_for_the_other() {
    assert_eq!(taken(&filled(4, 3), 0), [100, 0, 101, 1, 102, 2, 3]);
    assert_eq!(taken(&filled(2, 4), 0), [100, 0, 101, 1, 102, 103]);
    assert_eq!(taken(&filled(5, 3), 1), [100, 101, 0, 1, 102, 2, 3, 4]);
}

/// A failure: a lane that was empty for long has so many turns in a row as the other one had.
#[test]
fn turns_are_not_saved_up() {
    let (queue, lanes) = (filled(3, 0), Cell::new(false));
    let next = || queue.pop_batch(&lanes, 0, |_| unreachable!("none comes along"));
    assert_eq!((next(), next()), (Some(0), Some(1)));
    queue.woken.push(100);
    queue.woken.push(101);
    let taken = [next(), next(), next(), next()];
    assert_eq!(taken, [Some(100), Some(2), Some(101), None]);
}

#[test]
fn a_mark_is_past_when_both_lanes_are() {
    for (new, woken) in [(1, 0), (0, 1), (1, 1)] {
        let (queue, lanes) = (filled(new, woken), Cell::new(false));
        let next = || queue.pop_batch(&lanes, 0, |_| unreachable!("none comes along"));
        let mark = queue.end();
        for _ in 0..new + woken {
            assert!(!queue.is_past(mark) && next().is_some());
        }
        queue.new.push(7);
        queue.woken.push(8);
        assert!(queue.is_past(mark) && !queue.is_empty());
        assert_eq!(queue.lengths(), (1, 1));
    }
}
