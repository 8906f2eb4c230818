//! The list of processes, and the standstill, with each process's wait when nothing can run.

use std::future::poll_fn;
use std::mem;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::common::{Command, scheduler, scripted, start, summing, waiting};
use filch_actors::Rings;
use filch_actors::prelude::*;
use filch_scheduler::{Activity, Pid, Standstill, StandstillError, Verdict};

#[test]
fn nothing_is_left() {
    let scheduler = scheduler(2);
    for _ in 0..100 {
        drop(scheduler.submit(summing(0), "run", 0).unwrap());
    }
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), Verdict::AllEnded);
    assert_eq!(standstill.to_string(), "all processes have ended");
}

/// It has waited for its waker once, and waits for messages now.
#[test]
fn one_that_was_pending_is_idle_later() {
    let scheduler = scheduler(1);
    let mut has_begun = false;
    let process = start(&scheduler, move |context, _, out| {
        if mem::replace(&mut has_begun, true) {
            out.idle();
        } else {
            context.waker().wake_by_ref();
            out.pending();
        }
    });
    let standstill = scheduler.wait_for_standstill().unwrap();
    let found = &standstill.processes[0];
    assert_eq!((found.pid, found.activity), (process.pid(), Activity::Idle));
    assert_eq!(found.steps, 2);
}

#[test]
fn b8_a_ring_of_processes_that_wait_for_each_other() {
    let scheduler = scheduler(2);
    let first = scheduler
        .submission(summing(3), "run", 0)
        .mailbox(10)
        .submit()
        .unwrap();
    let second = scheduler.submit(waiting(), "run", 0).unwrap();
    (0..2).for_each(|_| scheduler.send(first.pid(), (0, 1)).unwrap());
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), Verdict::Deadlock);
    let [one, other] = &standstill.processes[..] else {
        panic!("{standstill}")
    };
    assert_eq!((one.pid, one.activity), (first.pid(), Activity::Idle));
    assert_eq!(
        (one.messages, one.undelivered, one.outstanding),
        (2, Some(0), 0)
    );
    assert!((1..=3).contains(&one.steps), "{}", one.steps);
    assert_eq!((other.pid, other.undelivered), (second.pid(), None));
    assert_eq!((other.steps, other.messages), (1, 0));
    let text = standstill.to_string();
    assert!(
        text.starts_with("processes that wait: 2; commands under way outside: 0; "),
        "{text}"
    );
    assert!(text.contains(&first.pid().to_string()), "{text}");
    assert_eq!(text.lines().count(), 4);
    // It was none: somebody outside goes on.
    scheduler.send(first.pid(), (0, 5)).unwrap();
    assert_eq!(first.join().unwrap(), 7);
    assert_eq!(scheduler.info(second.pid()).as_ref(), Some(other));
}

#[test]
fn a_completion_that_is_held_outside_is_no_deadlock() {
    let scheduler = scheduler(2);
    let (give, completions) = mpsc::channel();
    let process = start(&scheduler, move |_, events, out| {
        if events.is_empty() {
            (0..3).for_each(|tag| out.yield_command(tag, Command::Give(give.clone())));
        }
        match events.len() {
            0 | 1 => out.wait(),
            _ => out.done(1),
        }
    });
    let bystander = scheduler.submit(waiting(), "run", 0).unwrap();
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), Verdict::AwaitsOutside);
    let text = standstill.to_string();
    assert!(
        text.starts_with("processes that wait: 2; commands under way outside: 3; "),
        "{text}"
    );
    completions.recv().unwrap().complete(1);
    let standstill = scheduler.wait_for_standstill().unwrap();
    let info = scheduler.info(process.pid()).unwrap();
    assert_eq!((info.activity, info.outstanding), (Activity::Blocked, 2));
    assert!(standstill.processes.contains(&info));
    // It is terminated, and what it asked for does not matter any more.
    scheduler.terminate(process.pid()).unwrap();
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), Verdict::Deadlock);
    assert_eq!(standstill.processes[0].pid, bystander.pid());
    assert_eq!(scheduler.info(process.pid()), None, "kept by completions");
    drop(completions);
}

/// Any holder of its waker may wake a future. While a thread holds the waker, even unused, it is no
/// deadlock; when nobody does any more, it is one.
#[test]
fn a_future_that_is_pending_waits_for_whatever_has_its_waker() {
    let scheduler = scheduler(2);
    let bystander = scheduler.submit(waiting(), "run", 0).unwrap();
    let (give, take) = mpsc::channel();
    let future = scheduler.spawn(poll_fn(move |context| {
        give.send(context.waker().clone()).unwrap();
        Poll::<()>::Pending
    }));
    let future = future.unwrap();
    let waker: Waker = take.recv().unwrap();
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), Verdict::AwaitsOutside, "{standstill}");
    assert_eq!(standstill.futures[0].wakers, 1);
    assert_eq!(Rings::of(&standstill).stuck(), []);
    let text = standstill.to_string();
    assert!(
        text.contains("; futures with a waker outside: 1; nothing runs"),
        "{text}"
    );
    let activity = |pid| scheduler.info(pid).unwrap().activity;
    assert_eq!(activity(future.pid()), Activity::Pending);
    assert_eq!(activity(bystander.pid()), Activity::Idle);
    drop(waker);
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), Verdict::Deadlock, "{standstill}");
    assert_eq!(Rings::of(&standstill).stuck(), [future.pid()]);
    assert_eq!(Rings::of(&standstill).rings(), Vec::<Vec<Pid>>::new());
    // Replaced by a process that waits for messages, it is no future any more.
    let successor = Box::new(waiting());
    scheduler
        .upgrade(future.pid(), successor, "run", 0)
        .unwrap();
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), Verdict::Deadlock, "{standstill}");
    assert_eq!(
        (Rings::of(&standstill).stuck(), standstill.futures),
        (vec![], vec![])
    );
    // Nor is the next occupant of its slot.
    let pid = future.pid();
    future.abort();
    assert!(future.join().is_err());
    let occupant = (0..100)
        .map(|_| scheduler.submit(waiting(), "run", 0).unwrap())
        .find(|occupant| occupant.pid().to_bits() as u64 >> 32 == pid.to_bits() as u64 >> 32);
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), Verdict::Deadlock, "{standstill}");
    drop(occupant);
}

#[test]
fn what_runs_is_waited_for() {
    let scheduler = scheduler(2);
    let (mut left, target) = (10_000, scheduler.submit(summing(10_000), "run", 0).unwrap());
    let pid = target.pid();
    let busy = scripted(move |context, _, out| {
        context
            .send(pid, (0, 1))
            .map_err(|error| error.to_string())?;
        left -= 1;
        if left == 0 {
            out.done(0);
        } else {
            out.go_on();
        }
        Ok(())
    });
    drop(scheduler.submit(busy, "run", 0).unwrap());
    let Standstill { processes, .. } = scheduler.wait_for_standstill().unwrap();
    assert_eq!(processes, []);
    assert!(target.has_ended());
}

#[test]
fn each_activity_is_listed() {
    let scheduler = scheduler(1);
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let running = scripted(move |context, _, out| {
        let error = context.handle().wait_for_standstill().unwrap_err();
        assert_eq!(error, StandstillError::CalledFromInside);
        entered.send(()).unwrap();
        gate.recv().unwrap();
        out.done(0);
    });
    let idle = scheduler.submit(waiting(), "run", 0).unwrap();
    scheduler.wait_for_standstill().unwrap();
    let running = scheduler.submit(running, "run", 0).unwrap();
    inside.recv().unwrap();
    let ready = scheduler
        .submission(summing(1), "run", 0)
        .mailbox(5)
        .submit()
        .unwrap();
    scheduler.send(ready.pid(), (0, 3)).unwrap();
    let list = scheduler.list();
    let activity = |pid| list.iter().find(|one| one.pid == pid).unwrap().activity;
    assert_eq!(activity(idle.pid()), Activity::Idle);
    assert_eq!(activity(running.pid()), Activity::Running);
    assert_eq!(activity(ready.pid()), Activity::Ready);
    let info = scheduler.info(ready.pid()).unwrap();
    assert_eq!((info.undelivered, info.steps), (Some(1), 0));
    go_on.send(()).unwrap();
    assert_eq!(ready.join().unwrap(), 3);
    assert_eq!(running.join().unwrap(), 0);
    let handle = scheduler.handle();
    scheduler.shutdown(Duration::from_secs(30)).unwrap();
    let standstill = handle.wait_for_standstill().unwrap();
    assert_eq!(standstill.verdict(), Verdict::AllEnded);
}
