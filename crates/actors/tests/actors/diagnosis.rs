//! Reports on processes that hang: names, mailboxes, queues.

use std::sync::mpsc;

use filch_actors::prelude::*;
use filch_scheduler::{Activity, Pid, Scheduler};

use crate::common::{Test, scheduler, scripted, summing, waiting};

/// Makes a scheduler whose one worker stays in a step until the sender is dropped.
fn kept() -> (Scheduler<Test>, Pid, mpsc::Sender<()>) {
    let scheduler = scheduler(1);
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let keeping = scripted(move |_, _, out| {
        entered.send(()).unwrap();
        assert!(gate.recv().is_err());
        out.done(0);
    });
    let keeping = scheduler.submission(keeping, "run", 0).name("keeper");
    let pid = keeping.submit().unwrap().pid();
    inside.recv().unwrap();
    (scheduler, pid, go_on)
}

#[test]
fn names_are_in_each_report() {
    let scheduler = scheduler(2);
    let named = scheduler.submission(waiting(), "run", 0).name("account");
    let named = named.submit().unwrap();
    scheduler.register("purse", named.pid()).unwrap();
    let nameless = scheduler.submit(waiting(), "run", 0).unwrap();
    let standstill = scheduler.wait_for_standstill().unwrap();
    for info in [
        scheduler.info(named.pid()).unwrap(),
        scheduler.list().swap_remove(0),
        standstill.processes[0].clone(),
    ] {
        let mut names = info.names;
        names.sort();
        assert_eq!(names, ["account".into(), "purse".into()]);
    }
    assert!(standstill.to_string().contains("  account, purse"));
    let dump = scheduler.dump().to_string();
    assert!(dump.contains("2 processes live") && dump.contains("  account, purse"));
    scheduler.unregister("purse").unwrap();
    let info = scheduler.info(named.pid()).unwrap();
    assert_eq!(info.names, ["account".into()]);
    let info = scheduler.info(nameless.pid()).unwrap();
    assert!(info.names.is_empty());
}

#[test]
fn a_mailbox_that_nobody_empties_grows() {
    let (scheduler, keeper, go_on) = kept();
    let queued = || scheduler.info(keeper).unwrap().queued;
    assert_eq!(queued().to_string(), "0");
    scheduler.send(keeper, (0, 1)).unwrap();
    assert_eq!(queued().events, 1);
    let quiet = scheduler.submit(waiting(), "run", 0).unwrap();
    let flooded = scheduler.submit(summing(1_000), "run", 0).unwrap();
    for _ in 0..1_000 {
        scheduler.send(flooded.pid(), (0, 1)).unwrap();
    }
    let info = scheduler.info(flooded.pid()).unwrap();
    assert_eq!(info.activity, Activity::Ready);
    assert!((1..=1_000).contains(&info.queued.events) && !info.queued.is_exact);
    let dump = scheduler.dump().to_string();
    let at = |pid: Pid| dump.find(&format!("\n{pid}")).expect("it lives");
    assert!(dump.contains(&format!("{}+", info.queued.events)), "{dump}");
    assert!(at(flooded.pid()) < at(quiet.pid()), "{dump}");
    drop(go_on);
    assert_eq!(flooded.join().unwrap(), 1_000);
}

#[test]
fn a_process_sees_its_own_figures() {
    let scheduler = scheduler(1);
    let (tell, told) = mpsc::channel();
    let curious = scripted(move |context, events, out| {
        tell.send(context.info()).unwrap();
        match events.len() {
            0 => out.idle(),
            _ => out.done(0),
        }
    });
    let curious = scheduler.submission(curious, "run", 0).name("curious");
    let curious = curious.submit().unwrap();
    let first = told.recv().unwrap();
    assert_eq!(
        (first.pid, first.activity),
        (curious.pid(), Activity::Running)
    );
    assert_eq!((first.steps, first.messages), (1, 0));
    assert_eq!(first.names, ["curious".into()]);
    scheduler.send(curious.pid(), (0, 1)).unwrap();
    let second = told.recv().unwrap();
    assert_eq!((second.messages, second.queued.events), (1, 0));
    curious.join().unwrap();
}

#[test]
fn what_waits_to_be_run_is_counted_by_queue() {
    let (scheduler, _, go_on) = kept();
    let idle = scheduler.submission(waiting(), "run", 0).idle_priority();
    drop(idle.submit().unwrap());
    drop(scheduler.submit(waiting(), "run", 0).unwrap());
    let woken = scheduler.submit(waiting(), "run", 0).unwrap();
    let queues = scheduler.stats().queues;
    assert_eq!((queues.new, queues.woken, queues.given_way), (2, 0, 0));
    assert_eq!((queues.idle_priority, &*queues.local), (1, &[0][..]));
    assert_eq!(queues.total(), 3);
    let dump = scheduler.dump().to_string();
    assert!(dump.contains("global queue: 2 and 0 woken, given way: 0, idle priority: 1"));
    drop(go_on);
    scheduler.wait_for_standstill().unwrap();
    assert_eq!(scheduler.stats().queues.total(), 0);
    drop(woken);
}

/// A process that is woken while the worker is kept comes to the other lane.
#[test]
fn a_process_that_is_woken_waits_in_a_lane_of_its_own() {
    let scheduler = scheduler(1);
    let sleeper = scheduler.submit(waiting(), "run", 0).unwrap();
    scheduler.wait_for_standstill().unwrap();
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let keeping = scripted(move |context, _, out| {
        // Its own worker's.
        let pid = context.submit(waiting(), "run", 0).unwrap().pid();
        entered.send(pid).unwrap();
        assert!(gate.recv().is_err());
        out.done(0);
    });
    drop(scheduler.submit(keeping, "run", 0).unwrap());
    inside.recv().unwrap();
    scheduler.send(sleeper.pid(), (0, 1)).unwrap();
    let queues = scheduler.stats().queues;
    assert_eq!((queues.new, queues.woken, &*queues.local), (0, 1, &[1][..]));
    drop(go_on);
}
