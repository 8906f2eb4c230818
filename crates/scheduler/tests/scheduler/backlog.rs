//! A process with more events than a step is given: others run in between, nothing is lost or
//! overtaken, and an event that ends or replaces the process does not wait for the rest.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use filch_actors::prelude::*;
use filch_scheduler::*;

use crate::common::{
    Command, Scripted, Test, assert_terminated, closed_once, handle, scripted, start, summing,
};

pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// More than the events of any step here.
pub(crate) const MANY: u64 = 10_000;

/// Makes a scheduler with one worker, and with steps of `events` events, between which others run.
pub(crate) fn scheduler(events: usize) -> Scheduler<Test> {
    Scheduler::builder()
        .workers(1)
        .events_per_step(events)
        .slice(Duration::ZERO)
        .handler(handle)
        .build()
        .unwrap()
}

/// Tells that its first step has begun, and stays there until it is let out. Then comes `rest`.
pub(crate) fn gated<F>(mut rest: F) -> (Scripted, mpsc::Receiver<()>, mpsc::Sender<()>)
where
    F: FnMut(&Context<'_, Test>, Vec<Event<Test>>, &mut StepOutput<Test>) + Send + 'static,
{
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let mut first = true;
    let process = scripted(move |context, events, out| {
        if std::mem::take(&mut first) {
            entered.send(()).unwrap();
            gate.recv().unwrap();
            out.idle();
        } else {
            rest(context, events, out);
        }
    });
    (process, inside, go_on)
}

/// Submits a [`gated`] process, and sends it that many messages while it is in its first step.
pub(crate) fn submit_with(
    scheduler: &Scheduler<Test>,
    process: Scripted,
    inside: &mpsc::Receiver<()>,
    messages: u64,
) -> ProcessHandle<Test> {
    let process = scheduler.submit(process, "run", 0).unwrap();
    inside.recv().unwrap();
    for number in 0..messages {
        scheduler.send(process.pid(), (0, number)).unwrap();
    }
    process
}

/// Checks the order of the messages, and is done after that number of them.
fn counting(
    count: u64,
    share: usize,
) -> impl FnMut(&Context<'_, Test>, Vec<Event<Test>>, &mut StepOutput<Test>) + Send {
    let mut next = 0;
    move |_, events, out| {
        assert!(events.len() <= share);
        for event in events {
            let Event::Message((_, number)) = event else {
                panic!("{event:?}");
            };
            assert_eq!(number, next);
            next += 1;
        }
        if next == count {
            out.done(next);
        }
    }
}

/// The backlog of one process, and behind it a single message for another, which has its step after
/// the first share.
#[test]
fn others_come_before_a_backlog_is_through() {
    let scheduler = scheduler(16);
    let read = Arc::new(AtomicU64::new(0));
    let mut count = counting(MANY, 16);
    let (busy, inside, go_on) = gated({
        let read = Arc::clone(&read);
        move |context, events, out| {
            read.fetch_add(events.len() as u64, Ordering::Relaxed);
            count(context, events, out);
        }
    });
    let other = start(&scheduler, move |_, events, out| {
        if !events.is_empty() {
            out.done(read.load(Ordering::Relaxed));
        }
    });
    let busy = submit_with(&scheduler, busy, &inside, MANY);
    scheduler.send(other.pid(), (0, 0)).unwrap();
    go_on.send(()).unwrap();
    assert!(other.join().unwrap() <= 16);
    assert_eq!(busy.join().unwrap(), MANY);
}

/// It goes on while its slice lasts: the same messages, in the same order.
#[test]
fn a_slice_changes_nothing_for_the_process() {
    let scheduler = Scheduler::<Test>::builder()
        .workers(2)
        .events_per_step(3)
        .slice(Duration::MAX)
        .build()
        .unwrap();
    let (process, inside, go_on) = gated(counting(MANY, 3));
    let process = scheduler.submit(process, "run", 0).unwrap();
    inside.recv().unwrap();
    go_on.send(()).unwrap();
    for number in 0..MANY {
        scheduler.send(process.pid(), (0, number)).unwrap();
    }
    assert_eq!(process.join().unwrap(), MANY);
}

/// Makes a process in its first step, with a backlog, and the sender that lets it out. It must not
/// have another step.
pub(crate) fn doomed(scheduler: &Scheduler<Test>) -> (ProcessHandle<Test>, mpsc::Sender<()>) {
    let (process, inside, go_on) = gated(|_, events, _| panic!("a step with {events:?}"));
    let process = submit_with(scheduler, process, &inside, MANY);
    (process, go_on)
}

#[test]
fn a_termination_does_not_stand_behind_it() {
    let scheduler = scheduler(1);
    let (process, go_on) = doomed(&scheduler);
    scheduler.terminate(process.pid()).unwrap();
    go_on.send(()).unwrap();
    assert_terminated(process.join());
}

#[test]
fn the_end_of_a_linked_process_does_not_either() {
    let scheduler = scheduler(1);
    let ended = scheduler.submit(summing(0), "run", 0).unwrap();
    let pid = ended.pid();
    ended.join().unwrap();
    let (process, go_on) = doomed(&scheduler);
    scheduler.link(process.pid(), pid);
    go_on.send(()).unwrap();
    match process.join() {
        Err(JoinError::Process(ProcessError::Linked { origin, .. })) => assert_eq!(origin, pid),
        other => panic!("{other:?}"),
    }
}

/// The new version gets all events that the old one did not, in order, before later ones.
#[test]
fn an_upgrade_does_not_and_the_new_version_has_the_rest() {
    let scheduler = scheduler(3);
    let (process, go_on) = doomed(&scheduler);
    let pid = process.pid();
    let version = Box::new(scripted({
        let mut count = counting(MANY + 1, 3);
        move |context, events, out| {
            count(context, events, out);
        }
    }));
    scheduler.upgrade(pid, version, "run", 0).unwrap();
    scheduler.send(pid, (0, MANY)).unwrap();
    go_on.send(()).unwrap();
    assert_eq!(process.join().unwrap(), MANY + 1);
}

/// It terminates itself in its second step with messages; in the first, more are still to come.
#[test]
fn a_process_that_terminates_itself_has_no_other_step() {
    let scheduler = scheduler(1);
    let mut steps = 0;
    let (process, inside, go_on) = gated(move |context, _, _| {
        steps += 1;
        assert!(steps <= 2);
        if steps == 2 {
            context.terminate(context.pid()).unwrap();
        }
    });
    let closed = process.closed();
    let process = submit_with(&scheduler, process, &inside, MANY);
    go_on.send(()).unwrap();
    assert_terminated(process.join());
    assert!(closed_once(&closed));
}

/// It yields a command in the middle of a backlog, and waits: the completion stands behind the
/// rest, and is in its next step, with the oldest of the messages. All come once and in order,
/// whatever the share, and however many turns it takes to find the completion.
#[test]
fn a_completion_is_found_behind_it() {
    for share in [1, 2, 16, 1_000, 20_000] {
        let scheduler = scheduler(share);
        let (mut next, mut asked) = (0, false);
        let (process, inside, go_on) = gated(move |_, events, out| {
            assert!(events.len() <= share);
            let waited = std::mem::take(&mut asked);
            let completed = events
                .iter()
                .any(|event| matches!(event, Event::Completed { .. }));
            assert_eq!(completed, waited, "{next}");
            for event in events {
                if let Event::Message((_, number)) = event {
                    assert_eq!(number, next);
                    next += 1;
                }
            }
            if next == MANY {
                out.done(next);
            } else if !waited {
                asked = true;
                out.yield_command(0, Command::Echo(1));
                out.wait();
            }
        });
        let process = submit_with(&scheduler, process, &inside, MANY);
        go_on.send(()).unwrap();
        assert_eq!(process.join().unwrap(), MANY);
    }
}

/// Three completions stand behind a few messages, and a step is given one event: the turn that
/// looks for one of them finds all, and the wait for the others goes on. The messages come when it
/// is over.
#[test]
fn several_completions_are_found_at_a_time() {
    let scheduler = scheduler(1);
    let mut seen = Vec::new();
    let (process, inside, go_on) = gated(move |_, events, out| {
        match &events[..] {
            [Event::Message((_, number))] => seen.push(*number),
            [Event::Completed { tag, .. }] => seen.push(100 + tag),
            events => panic!("{events:?}"),
        }
        if seen == [0] {
            (0..3).for_each(|tag| out.yield_command(tag, Command::Echo(1)));
        }
        match seen.len() {
            1..=3 => out.wait(),
            8 => {
                assert_eq!(seen, [0, 100, 101, 102, 1, 2, 3, 4]);
                out.done(1);
            }
            _ => {}
        }
    });
    let process = submit_with(&scheduler, process, &inside, 5);
    go_on.send(()).unwrap();
    assert_eq!(process.join().unwrap(), 1);
}

/// It waits for a command with a backlog that has no completion: its turns come to an end, and then
/// it is blocked. Events that a worker meets meanwhile, looking for signals, stay in order.
#[test]
fn a_wait_for_commands_comes_to_rest() {
    let scheduler = scheduler(2);
    let (give, completions) = mpsc::channel();
    let mut count = counting(MANY + 2, 2);
    let (process, inside, go_on) = gated(move |context, mut events, out| {
        if let Some(Event::Message((_, 0))) = events.first() {
            out.yield_command(0, Command::Give(give.clone()));
            out.wait();
        }
        events.retain(|event| !matches!(event, Event::Completed { .. }));
        count(context, events, out);
    });
    let process = submit_with(&scheduler, process, &inside, MANY);
    go_on.send(()).unwrap();
    let completion = completions.recv().unwrap();
    for number in [MANY, MANY + 1] {
        let standstill = scheduler.wait_for_standstill().unwrap();
        assert_eq!(standstill.processes[0].activity, Activity::Blocked);
        assert_eq!(standstill.processes[0].messages, 2);
        scheduler.send(process.pid(), (0, number)).unwrap();
        let normal = scheduler.submit(summing(1), "run", 0).unwrap();
        scheduler.link(normal.pid(), process.pid());
        scheduler.send(normal.pid(), (0, 0)).unwrap();
        normal.join().unwrap();
    }
    completion.complete(1);
    assert_eq!(process.join().unwrap(), MANY + 2);
}

/// A full mailbox gets room for the messages that a step was given, and no more: for a share.
#[test]
fn a_bounded_mailbox_has_room_for_what_a_step_was_given() {
    let scheduler = scheduler(10);
    let mut first = true;
    let (process, inside, go_on) = gated(move |context, events, out| {
        assert!(events.len() <= 10);
        if std::mem::take(&mut first) {
            for _ in 0..10 {
                context.send(context.pid(), (0, 0)).unwrap();
            }
            let refused = context.send(context.pid(), (0, 0));
            let Err(SendError { reason, .. }) = refused else {
                panic!("accepted");
            };
            assert_eq!(reason, Undelivered::Full { limit: 100 });
        }
        if events.iter().any(|event| matches!(event, Event::Cancel(_))) {
            out.done(7);
        }
    });
    let process = scheduler
        .submission(process, "run", 0)
        .mailbox(100)
        .submit()
        .unwrap();
    inside.recv().unwrap();
    for _ in 0..100 {
        scheduler.send(process.pid(), (0, 0)).unwrap();
    }
    assert!(scheduler.send(process.pid(), (0, 0)).is_err());
    go_on.send(()).unwrap();
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.processes[0].undelivered, Some(0));
    assert_eq!(standstill.processes[0].messages, 110);
    scheduler.shutdown(PATIENCE).unwrap();
    assert_eq!(process.join().unwrap(), 7);
}

/// A cancel is an event: it comes in its turn.
#[test]
fn a_cancel_stands_behind_it() {
    let scheduler = scheduler(7);
    let mut messages = 0;
    let (process, inside, go_on) = gated(move |_, events, out| {
        for event in events {
            match event {
                Event::Message(_) => messages += 1,
                Event::Cancel(_) => out.done(messages),
                event => panic!("{event:?}"),
            }
        }
    });
    let process = submit_with(&scheduler, process, &inside, MANY);
    let shutdown = std::thread::spawn(move || scheduler.shutdown(PATIENCE).unwrap());
    go_on.send(()).unwrap();
    assert_eq!(process.join().unwrap(), MANY);
    assert!(shutdown.join().unwrap().stuck.is_empty());
}

/// It takes no messages, but is told of ends. A future's backlog of those is dropped share by
/// share, and delays neither its end nor others.
#[test]
fn a_future_goes_on_whatever_it_is_told() {
    let scheduler = scheduler(1);
    let dead = scheduler.submit(summing(0), "run", 0).unwrap();
    let nobody = dead.pid();
    dead.join().unwrap();
    let tell = |future| (0..MANY).for_each(|_| drop(scheduler.monitor(future, nobody)));
    let (resolve, gate) = mpsc::channel();
    let future = scheduler.spawn(async move { gate.recv().unwrap() });
    let future = future.unwrap();
    tell(future.pid());
    resolve.send(7).unwrap();
    assert_eq!(future.join().unwrap(), 7);
    let pending = scheduler.spawn(std::future::pending::<()>()).unwrap();
    tell(pending.pid());
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.processes[0].activity, Activity::Pending);
    pending.abort();
    assert!(pending.join().is_err());
}
