//! Bounded mailboxes, idle priority.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use crate::common::{Command, scheduler, scripted, start, summing, until};
use filch_actors::prelude::*;
use filch_scheduler::Undelivered;

/// A completion outside keeps it in the table, and it is full: a sender that tries again until
/// there is room would try for ever.
#[test]
fn one_that_has_ended_is_gone_and_not_full() {
    let scheduler = scheduler(1);
    let (give, completions) = mpsc::channel();
    let process = scripted(move |_, _, out| {
        out.yield_command(0, Command::Give(give.clone()));
        out.wait();
    });
    let process = scheduler
        .submission(process, "run", 0)
        .mailbox(1)
        .submit()
        .unwrap();
    let (pid, completion) = (process.pid(), completions.recv().unwrap());
    scheduler.send(pid, (0, 0)).unwrap();
    let full = scheduler.send(pid, (0, 0)).unwrap_err();
    assert_eq!(
        (full.to, full.reason),
        (pid, Undelivered::Full { limit: 1 })
    );
    assert!(full.to_string().contains("is full"), "{full}");
    scheduler.terminate(pid).unwrap();
    assert!(process.join().is_err());
    let gone = scheduler.send(pid, (0, 0)).unwrap_err();
    assert_eq!(gone.reason, Undelivered::NoSuchProcess);
    completion.complete(0);
}

/// A limit belongs to the process, not to the slot that it lived in.
#[test]
fn the_next_tenant_has_no_limit() {
    let scheduler = scheduler(1);
    for _ in 0..100 {
        let limited = scheduler
            .submission(summing(1), "run", 0)
            .mailbox(1)
            .submit()
            .unwrap();
        scheduler.send(limited.pid(), (0, 1)).unwrap();
        assert_eq!(limited.join().unwrap(), 1);
        let free = scheduler.submit(summing(3), "run", 0).unwrap();
        (0..3).for_each(|_| scheduler.send(free.pid(), (0, 1)).unwrap());
        assert_eq!(free.join().unwrap(), 3);
    }
}

/// Two threads push against the limit while the process reads. No step ever gets more than the
/// limit, and every accepted message arrives.
#[test]
fn the_limit_is_exact() {
    const LIMIT: usize = 4;
    let scheduler = scheduler(2);
    let (read, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(0)));
    let process = scripted({
        let (read, most) = (Arc::clone(&read), Arc::clone(&most));
        move |_, events, out| {
            let mut most = most.lock().unwrap();
            *most = events.len().max(*most);
            read.fetch_add(events.len(), Ordering::Relaxed);
            out.idle();
        }
    });
    let process = scheduler
        .submission(process, "run", 0)
        .mailbox(LIMIT)
        .submit()
        .unwrap();
    let pid = process.pid();
    let accepted: usize = std::thread::scope(|scope| {
        let senders = [0, 1].map(|_| {
            let handle = scheduler.handle();
            scope.spawn(move || {
                (0..50_000)
                    .filter(|_| handle.send(pid, (0, 0)).is_ok())
                    .count()
            })
        });
        senders.into_iter().map(|one| one.join().unwrap()).sum()
    });
    until(|| read.load(Ordering::Relaxed) >= accepted);
    assert_eq!(read.load(Ordering::Relaxed), accepted);
    let most = *most.lock().unwrap();
    assert!(most <= LIMIT, "{most} at once");
}

/// On one worker, every runnable process goes before those of idle priority: when they start, when
/// they are woken, and when they yield.
#[test]
fn idle_priority_comes_last() {
    let scheduler = scheduler(1);
    let order = Arc::new(Mutex::new(Vec::new()));
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let gate = start(&scheduler, move |_, _, out| {
        entered.send(()).unwrap();
        if gate.recv().is_err() {
            out.done(0);
        }
        out.idle();
    });
    let note = |name: &'static str| {
        let order = Arc::clone(&order);
        scripted(move |_, _, out| {
            order.lock().unwrap().push(name);
            out.idle();
        })
    };
    inside.recv().unwrap();
    let idle = scheduler
        .submission(note("idle"), "run", 0)
        .idle_priority()
        .submit()
        .unwrap();
    let normal = scheduler.submit(note("normal"), "run", 0).unwrap();
    // Once more when both are woken, in the same order.
    for _ in 0..2 {
        go_on.send(()).unwrap();
        until(|| order.lock().unwrap().ends_with(&["normal", "idle"]));
        order.lock().unwrap().push("|");
        scheduler.send(gate.pid(), (0, 0)).unwrap();
        inside.recv().unwrap();
        scheduler.send(idle.pid(), (0, 0)).unwrap();
        scheduler.send(normal.pid(), (0, 0)).unwrap();
    }
    let order = order.lock().unwrap().clone();
    assert_eq!(order, ["normal", "idle", "|", "normal", "idle", "|"]);
    go_on.send(()).unwrap();
}
