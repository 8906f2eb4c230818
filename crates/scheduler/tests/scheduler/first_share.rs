//! A process that has many events whose cost is unknown: it gets one of them first. Nothing is lost
//! or overtaken, and no wait ends that should not.

use std::sync::{Arc, mpsc};

use crate::backlog::gated;
use crate::common::{Command, Counted, scheduler, start};
use filch_scheduler::{Event, Events, Scheduler, from_fn};

/// More than a step gets while their cost is unknown, and no more than a step may get.
const SOME: u64 = 40;

/// The completion that it waits for stands behind messages, and comes alone before them. Then it
/// waits for the next one. A failure: a step without a completion, or messages out of order.
#[test]
fn a_completion_comes_first_where_one_is_waited_for() {
    let scheduler = scheduler(1);
    let (give, completions) = mpsc::channel();
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let (mut steps, mut seen) = (0, Vec::new());
    let process = start(&scheduler, move |_, events, out| {
        steps += 1;
        if steps == 1 {
            entered.send(()).unwrap();
            gate.recv().unwrap();
        }
        let completed = events
            .iter()
            .filter(|event| matches!(event, Event::Completed { .. }));
        assert_eq!(completed.count(), usize::from((2..4).contains(&steps)));
        for event in &events {
            if let Event::Message((_, number)) = event {
                seen.push(*number);
            }
        }
        if steps <= 2 {
            assert!(seen.is_empty(), "they have come before the completion");
            out.yield_command(steps, Command::Give(give.clone()));
            out.wait();
        } else if seen.len() as u64 == SOME {
            assert!(seen.iter().copied().eq(0..SOME), "{seen:?}");
            out.done(steps);
        } else {
            out.idle();
        }
    });
    inside.recv().unwrap();
    // The worker is kept until all of it is in the queue.
    let (other, other_inside, other_go_on) = gated(|_, _, _| {});
    let _other = scheduler.submit(other, "run", 0).unwrap();
    go_on.send(()).unwrap();
    let first = completions.recv().unwrap();
    other_inside.recv().unwrap();
    for number in 0..SOME {
        scheduler.send(process.pid(), (0, number)).unwrap();
    }
    first.complete(0);
    other_go_on.send(()).unwrap();
    completions.recv().unwrap().complete(0);
    process.join().unwrap();
}

/// The step with the one event fails: the process ends, and all events are dropped.
#[test]
fn the_others_go_with_a_process_that_fails_with_the_first() {
    let scheduler = Scheduler::<Counted>::builder().workers(1).build().unwrap();
    let (given, steps) = mpsc::channel();
    let (go_on, gate) = mpsc::channel();
    // Fails in its first step with messages, which it does not take.
    let fails = from_fn(move |_, events: Events<'_, Counted>, out| {
        given.send(events.len()).unwrap();
        if events.len() > 0 {
            std::mem::forget(events);
            return Err("it fails".into());
        }
        gate.recv().unwrap();
        out.idle();
        Ok(())
    });
    let process = scheduler.submit(fails, "run", ()).unwrap();
    assert_eq!(steps.recv(), Ok(0));
    let alive = Arc::new(());
    for _ in 0..SOME {
        let sent = scheduler.send(process.pid(), Arc::clone(&alive));
        assert!(sent.is_ok());
    }
    go_on.send(()).unwrap();
    assert!(process.join().is_err());
    assert_eq!(steps.try_iter().collect::<Vec<_>>(), [1]);
    assert_eq!(Arc::strong_count(&alive), 1);
}
