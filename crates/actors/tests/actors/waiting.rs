//! Standstills of futures that wait for each other, and of timers; and their time limit.

use std::future::{Future, pending, poll_fn};
use std::mem;
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::{self, Poll, Waker};
use std::time::Duration;

use filch_actors::JoinHandle;
use filch_actors::Rings;
use filch_actors::prelude::*;
use filch_scheduler::{Activity, Event, PendingTimers, Pid, Scheduler, StandstillError, Verdict};

use crate::common::{Command, Test, scheduler, scripted, start, summing, until, waiting};
use crate::timers::{SECOND, asked, fake};

type Handle = JoinHandle<Test, ()>;

/// Futures, each given handles to await: the first of them to end.
struct Tangle {
    scheduler: Scheduler<Test>,
    futures: Vec<(Pid, mpsc::Sender<Vec<Handle>>)>,
    handles: Vec<Option<Handle>>,
}

impl Tangle {
    fn of(count: usize) -> Self {
        let scheduler = scheduler(2);
        let (mut futures, mut handles) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (give, take) = mpsc::channel::<Vec<Handle>>();
            let future = scheduler.spawn(async move {
                // Blocks its worker: the test gives them at once.
                first_of(take.recv().unwrap()).await;
            });
            let future = future.unwrap();
            futures.push((future.pid(), give));
            handles.push(Some(future));
        }
        Self {
            scheduler,
            futures,
            handles,
        }
    }

    /// Gives each future the handles to await, by number. No handle is given twice.
    fn tie(&mut self, awaits: &[&[usize]]) {
        for ((_, give), awaited) in self.futures.iter().zip(awaits) {
            let handles = awaited.iter().map(|&one| self.handles[one].take().unwrap());
            give.send(handles.collect()).unwrap();
        }
    }

    fn pid(&self, number: usize) -> Pid {
        self.futures[number].0
    }
}

/// Waits until one of these has ended.
async fn first_of(mut handles: Vec<Handle>) {
    poll_fn(|context| {
        let mut over = Poll::Pending;
        for handle in &mut handles {
            if Pin::new(handle).poll(context).is_ready() {
                over = Poll::Ready(());
            }
        }
        over
    })
    .await;
}

/// A failure: the report says that one outside may wake two futures that wait only for each other.
#[test]
fn two_futures_that_wait_for_each_other_are_found() {
    let mut tangle = Tangle::of(2);
    tangle.tie(&[&[1], &[0]]);
    let standstill = tangle.scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), Verdict::Deadlock, "{standstill}");
    let (one, other) = (tangle.pid(0), tangle.pid(1));
    assert_eq!(Rings::of(&standstill).rings(), [[one, other]]);
    assert_eq!(Rings::of(&standstill).stuck(), [one, other]);
    let text = Rings::of(&standstill).to_string();
    let ring = format!("in a ring, for ever: {one} awaits {other} awaits {one}");
    assert!(text.contains(&ring), "{text}");
}

/// A ring of three, one that waits for it, one that waits for nothing at all, and one that waits
/// for either; and beside them a process that a message may wake, and a future that waits for it.
#[test]
fn rings_and_what_leads_to_them() {
    let mut tangle = Tangle::of(8);
    tangle.tie(&[&[1], &[2], &[0], &[], &[3], &[4, 6], &[5], &[]]);
    let served = tangle.handles[7].take().unwrap();
    let scheduler = &tangle.scheduler;
    let server = Box::new(summing(1));
    scheduler.upgrade(served.pid(), server, "run", 0).unwrap();
    let client = scheduler.spawn(async move { served.await.is_err() });
    let client = client.unwrap();
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), Verdict::Deadlock, "{standstill}");
    let pids = |numbers: &[usize]| {
        numbers
            .iter()
            .map(|&one| tangle.pid(one))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        Rings::of(&standstill).rings(),
        [pids(&[0, 1, 2]), pids(&[5, 6])]
    );
    assert_eq!(Rings::of(&standstill).stuck(), pids(&[0, 1, 2, 3, 4, 5, 6]));
    let waits = standstill
        .futures
        .iter()
        .find(|one| one.pid == client.pid());
    assert_eq!(waits.unwrap().awaits, [tangle.pid(7)]);
    // One of the ring is terminated: that wakes the next, and so on, round the ring.
    scheduler.terminate(tangle.pid(1)).unwrap();
    scheduler.send(tangle.pid(7), (0, 1)).unwrap();
    assert!(client.join().unwrap(), "terminated, since it was replaced");
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(Rings::of(&standstill).stuck(), pids(&[3, 4, 5, 6]));
}

/// A handle that is awaited beside something else; one that is polled and let go; one that a thread
/// polls. A failure: "deadlock" while the other waker is there.
#[test]
fn a_waker_elsewhere_is_not_taken_for_a_handles() {
    let scheduler = scheduler(2);
    let awaited = scheduler.spawn(pending::<()>()).unwrap();
    let awaited_pid = awaited.pid();
    let (give, take) = mpsc::channel();
    let mut awaited = Some(awaited);
    let mut polls = 0;
    let future = scheduler.spawn(poll_fn(move |context| {
        polls += 1;
        if let Some(handle) = &mut awaited {
            assert!(pin!(handle).poll(context).is_pending());
        }
        if polls == 2 {
            awaited = None;
        }
        give.send(context.waker().clone()).unwrap();
        Poll::<()>::Pending
    }));
    let future = future.unwrap();
    let look = |awaits: &[Pid], wakers| {
        let standstill = scheduler.wait_for_standstill().unwrap();
        let own = standstill
            .futures
            .iter()
            .find(|one| one.pid == future.pid());
        let own = own.unwrap();
        assert_eq!((&*own.awaits, own.wakers), (awaits, wakers), "{standstill}");
        let outside = Rings::of(&standstill).stuck().contains(&future.pid());
        assert_eq!(outside, wakers == 0, "{standstill}");
    };
    let first = take.recv().unwrap();
    look(&[awaited_pid], 1);
    let second = first.clone();
    look(&[awaited_pid], 2);
    drop(second);
    first.wake();
    let third = take.recv().unwrap();
    look(&[], 1);
    drop(third);
    look(&[], 0);
}

#[test]
fn a_message_that_a_timer_will_send_is_no_deadlock() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let process = scheduler.submit(summing(2), "run", 0).unwrap();
    timers
        .send_at(timers.now() + 3 * SECOND, &scheduler, process.pid(), (0, 9))
        .unwrap();
    let due = |count, seconds| {
        let next = seconds * SECOND;
        Verdict::AwaitsTimers(PendingTimers { count, next })
    };
    let verdict = || scheduler.wait_for_standstill().unwrap().verdict();
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), due(1, 3), "{standstill}");
    let text = Rings::of(&standstill).to_string();
    assert!(
        text.contains("; pending timers: 1, the first due in 3s:"),
        "{text}"
    );
    let key = timers
        .interval(2 * SECOND, &scheduler, process.pid(), || (0, 1))
        .unwrap();
    assert_eq!(verdict(), due(2, 2));
    clock.advance(SECOND);
    assert_eq!(verdict(), due(2, 1));
    assert!(timers.cancel(key));
    clock.advance(2 * SECOND);
    assert_eq!(verdict(), Verdict::Deadlock);
    // A call that was set for nobody: these timers have served this scheduler.
    let (handle, pid) = (scheduler.handle(), process.pid());
    timers
        .call_after(SECOND, move || handle.send(pid, (0, 1)).unwrap())
        .unwrap();
    assert_eq!(verdict(), due(1, 1));
    clock.advance(SECOND);
    assert_eq!(process.join().unwrap(), 10);
}

#[test]
fn what_sleeps_and_what_has_a_deadline_awaits_a_timer() {
    let (clock, timers) = fake();
    let (scheduler, other) = (scheduler(2), scheduler(1));
    let bystander = other.submit(waiting(), "run", 0).unwrap();
    let sleep = timers.sleep(2 * SECOND);
    let future = scheduler.spawn(sleep).unwrap();
    let verdict = || scheduler.wait_for_standstill().unwrap().verdict();
    let due = |count, seconds| {
        let next = seconds * SECOND;
        Verdict::AwaitsTimers(PendingTimers { count, next })
    };
    assert_eq!(verdict(), due(1, 2));
    let (process, completion) = asked(&scheduler);
    let bounded = timers
        .deadline(timers.now() + SECOND, completion, "late".to_owned())
        .unwrap();
    assert_eq!(verdict(), due(2, 1));
    // Not another scheduler's.
    let standstill = other.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), Verdict::Deadlock, "{standstill}");
    clock.advance(SECOND);
    drop(bounded);
    assert!(process.join().is_err());
    assert_eq!(verdict(), due(1, 1));
    clock.advance(SECOND);
    future.join().unwrap().unwrap();
    assert_eq!(verdict(), Verdict::AllEnded);
    drop(bystander);
}

/// It says "go on" with a command under way, and spins. A failure: no figure shows that.
#[test]
fn steps_without_an_event_beside_commands_are_counted() {
    let scheduler = scheduler(1);
    let (give, completions) = mpsc::channel();
    let (mut steps, mut asked) = (0, false);
    let process = start(&scheduler, move |_, events, out| {
        if !mem::replace(&mut asked, true) {
            out.yield_command(0, Command::Give(give.clone()));
        }
        steps += u64::from(events.is_empty());
        match events.is_empty() {
            true => out.go_on(),
            false => out.done(steps),
        }
    });
    let completion: filch_scheduler::Completion<Test> = completions.recv().unwrap();
    until(|| scheduler.stats().total().empty_steps >= 10);
    let dump = scheduler.dump().to_string();
    assert!(dump.contains("steps were given no event"), "{dump}");
    let own = format!(" of process {}\n", process.pid());
    assert!(dump.contains(&own), "{dump}");
    assert!(scheduler.info(process.pid()).unwrap().empty_steps >= 10);
    completion.complete(1);
    let empty = process.join().unwrap();
    // But for the first one, which had asked for nothing before.
    assert_eq!(scheduler.stats().total().empty_steps, empty - 1);
    // A process that goes on without commands is none of these.
    let mut left = 10;
    let process = scripted(move |_, _, out| {
        left -= 1;
        if left > 0 {
            out.go_on();
        } else {
            out.done(0);
        }
    });
    scheduler.submit(process, "run", 0).unwrap().join().unwrap();
    assert_eq!(scheduler.stats().total().empty_steps, empty - 1);
}

/// It never stops running. A failure: the wait does not return.
#[test]
fn a_wait_for_a_standstill_has_a_limit() {
    let scheduler = scheduler(2);
    let busy = start(&scheduler, |_, events, out| {
        out.go_on();
        if events
            .iter()
            .any(|event| matches!(event, Event::Message(_)))
        {
            out.done(1);
        }
    });
    let idle = scheduler.submit(waiting(), "run", 0).unwrap();
    until(|| scheduler.info(idle.pid()).unwrap().activity == Activity::Idle);
    let limit = Duration::from_millis(1);
    let error = scheduler.wait_for_standstill_timeout(limit).unwrap_err();
    let StandstillError::StillRunning { processes } = &error else {
        panic!("{error}");
    };
    let pids: Vec<_> = processes.iter().map(|one| one.pid).collect();
    assert_eq!(pids, [busy.pid()]);
    let text = error.to_string();
    assert!(text.contains(&busy.pid().to_string()), "{text}");
    scheduler.send(busy.pid(), (0, 0)).unwrap();
    let standstill = scheduler
        .wait_for_standstill_timeout(Duration::MAX)
        .unwrap();
    assert_eq!(standstill.processes[0].pid, idle.pid());
    let zero = scheduler.wait_for_standstill_timeout(Duration::ZERO);
    assert_eq!(zero.unwrap().verdict(), Verdict::Deadlock);
}

/// One future awaits another's end, by its own waker or by another's, exchanges them, or gives up.
/// A failure: it sleeps on; or a waker's pin is kept, or given back twice.
#[test]
fn an_end_meets_whatever_becomes_of_the_wakers_of_its_handle() {
    let scheduler = scheduler(2);
    let rounds = 3_000;
    for round in 0..rounds {
        let mut has_yielded = round % 2 == 0;
        let first = scheduler.spawn(poll_fn(move |context| {
            if mem::replace(&mut has_yielded, true) {
                return Poll::Ready(round);
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }));
        let (mut first, mut polls) = (first.unwrap(), 0);
        let second = scheduler.spawn(poll_fn(move |context| {
            let mut foreign = task::Context::from_waker(Waker::noop());
            // Own, another's, and own again; or it gives up after one of these.
            loop {
                polls += 1;
                let by = match (round / 2 + polls) % 3 {
                    0 => &mut foreign,
                    _ => &mut *context,
                };
                match Pin::new(&mut first).poll(by) {
                    Poll::Ready(output) => return Poll::Ready(output.unwrap()),
                    Poll::Pending if round % 5 == 0 => return Poll::Ready(round),
                    Poll::Pending if polls >= 3 && (round / 2 + polls) % 3 != 0 => {
                        return Poll::Pending;
                    }
                    Poll::Pending => {}
                }
            }
        }));
        let second = second.unwrap();
        let place = second.pid().slot();
        assert!(place < 1_000, "round {round} has place {place}");
        assert_eq!(second.join().unwrap(), round);
    }
    scheduler.wait_for_standstill().unwrap();
    assert_eq!(scheduler.live(), 0);
}
