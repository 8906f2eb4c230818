//! A source beside tasks: neither starves the other.

use std::sync::Arc;

use super::{Kind, MICRO, MILLI, World, is_pair, is_yielder, mixture};
use crate::queues::find_work::StealMode;
use crate::queues::source::Found;
use crate::queues::source::tests::Endless;

fn attach(world: &World, micros: usize) {
    let attached = world.shared.queues.source.attach(Arc::new(Endless(micros)));
    assert!(attached.is_ok());
}

/// Turns of all tasks of a kind.
fn sum(world: &World, of: fn(Kind) -> bool) -> u32 {
    world.turns(of).iter().sum()
}

/// Tasks that never rest, and a source that always has something. A failure: it gets nothing, as no
/// processor ever searches; or it takes the time that the tasks want.
#[test]
fn a_source_has_a_share_beside_tasks_that_never_rest() {
    for processors in [1, 2, 8] {
        for micros in [1, 5, 50] {
            let mut world = mixture(processors, &[], &[(32, micros)]);
            attach(&world, 20);
            world.run_until(10 * MILLI);
            let (external_tasks, pairs) = (world.external_tasks, sum(&world, is_pair));
            world.run_until(110 * MILLI);
            let of_time = |micros| micros / 1_000 / processors as u32;
            let external_tasks = of_time((world.external_tasks - external_tasks) * 20);
            let pairs = of_time((sum(&world, is_pair) - pairs) * micros);
            assert!(
                (8..=26).contains(&external_tasks) && pairs >= 70,
                "{external_tasks} % outside, {pairs} % for pairs of {micros} on {processors}"
            );
        }
    }
}

/// The longest external task is followed by a task.
#[test]
fn no_two_external_tasks_in_a_row_beside_a_task() {
    for micros in [1, 50, 120, 5_000] {
        let mut world = mixture(1, &[], &[(2, 5)]);
        attach(&world, micros);
        world.run_until(200 * MILLI);
        let pairs = sum(&world, is_pair);
        assert!(
            world.external_tasks >= 20 && pairs >= world.external_tasks,
            "{pairs} to {} of {micros}",
            world.external_tasks
        );
    }
}

/// Tasks that never rest, tasks that give way, a flood from outside, and a source that always has
/// something. A failure: of the global queue and the source one has all turns at a look.
#[test]
fn the_source_and_the_global_queue_have_turns() {
    for processors in [1, 2, 8] {
        for micros in [5, 50, 500] {
            let mut world = mixture(processors, &[(4, 20)], &[(16, micros)]);
            attach(&world, 20);
            world.flood = Some((10 * MICRO / processors as u32, 20 * MICRO));
            world.run_until(200 * MILLI);
            let (external_tasks, outside) = (world.external_tasks, world.waits.len() as u32);
            assert!(
                (outside * 2 / 3..=outside * 3 / 2).contains(&external_tasks),
                "{external_tasks} beside {outside} from outside, and {micros} on {processors}"
            );
            assert!(sum(&world, is_yielder) > 0);
        }
    }
}

/// A task comes from outside every 370 µs. A failure: it waits until an external task has been
/// taken at each of many looks.
#[test]
fn a_task_from_outside_waits_for_an_external_task_more() {
    for processors in [1, 2, 8] {
        let mut world = mixture(processors, &[], &[(32, 5)]);
        attach(&world, 20);
        world.run_until(10 * MILLI);
        world.came = 10 * MILLI;
        world.flood = Some((370 * MICRO, MICRO));
        world.run_until(100 * MILLI);
        let worst = world.waits.iter().max().expect("some came");
        assert!(*worst <= 250 * MICRO, "{worst:?} on {processors}");
    }
}

/// Processors that have nothing else take one external task after the other; and the tasks that
/// come are found at once.
#[test]
fn tasks_come_before_external_tasks() {
    for processors in [1, 2, 8] {
        let mut world = World::new(processors);
        attach(&world, 20);
        world.flood = Some((100 * MICRO, MICRO));
        world.run_until(50 * MILLI);
        let worst = world.waits.iter().max().expect("some came");
        assert!(*worst <= 25 * MICRO, "{worst:?} on {processors}");
        assert!(world.external_tasks >= 2_000 * processors as u32);
    }
}

/// Two processors; the second one has two tasks, then one, then none. A failure: external tasks
/// come before what can be stolen, or are withheld because a task is spared.
#[test]
fn a5_a_search_steals_before_it_asks_the_source() {
    let mut world = World::new(2);
    attach(&world, 20);
    world.add(2, Kind::Pair(MICRO), 1);
    let thief = world.shared.queues.local(&world.permits[0]);
    let search = |mode| thief.search(&world.shared, mode);
    assert!(matches!(search(StealMode::Spare), Some(Found::Task(0))));
    assert!(matches!(
        search(StealMode::Spare),
        Some(Found::ExternalTask(_))
    ));
    assert!(matches!(search(StealMode::Take), Some(Found::Task(1))));
    assert!(matches!(
        search(StealMode::Take),
        Some(Found::ExternalTask(_))
    ));
}

/// Two processors; the second one has a task, then none. A failure: an external task overtakes the
/// task; or each external task takes a search.
#[test]
fn an_external_task_takes_no_search_unless_there_is_a_task() {
    let mut world = World::new(2);
    assert!(world.shared.queues.take_external_task().is_none());
    attach(&world, 20);
    world.add(1, Kind::Pair(MICRO), 1);
    let second = world.shared.queues.local(&world.permits[1]);
    assert!(world.shared.queues.take_external_task().is_none());
    assert_eq!(second.deque.pop(), Some(0));
    assert!(matches!(
        world.shared.queues.take_external_task(),
        Some(Found::ExternalTask(_))
    ));
}
