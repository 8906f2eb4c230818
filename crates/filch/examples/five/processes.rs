//! Processes: each has its state for itself, gets messages, and fails alone.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use filch::actors::dynamic::{Dynamic, Payload};
use filch::actors::timers::Timers;
use filch::actors::{Caller, Inbox, JoinHandle};
use filch::prelude::*;
use filch::scheduler::{Completion, Event, Pid, Scheduler, from_fn};
use filch::supervisor::{Child, Strategy, Supervisor};

use crate::{HOPS, MOVES, Programs, RING, SHORTS, none};

pub(crate) const PROGRAMS: Programs = [none, ring, long, shared, failure];

fn scheduler(workers: usize) -> Scheduler<Dynamic> {
    let scheduler = Scheduler::builder().workers(workers).handler(count);
    scheduler.build().unwrap()
}

// ANCHOR: ring
async fn member(mut inbox: Inbox<Dynamic>) {
    while let Event::Message(token) = inbox.next().await {
        let (ring, left): ([Pid; RING], usize) = token.downcast().unwrap();
        let Some(left) = left.checked_sub(1) else {
            return;
        };
        // It wakes up in the deque of the worker that runs this member.
        let (next, token) = (ring[left % RING], Payload::new((ring, left)));
        inbox.handle().send(next, token).unwrap();
    }
}
// ANCHOR_END: ring

fn ring() -> String {
    let scheduler = scheduler(2);
    let members = [(); RING].map(|()| scheduler.spawn_with(member).unwrap());
    let ring = members.each_ref().map(JoinHandle::pid);
    scheduler.send(ring[0], Payload::new((ring, HOPS))).unwrap();
    let [first, ..] = members;
    first.join().unwrap();
    let stats = scheduler.stats().total().processor;
    let (stolen, wakes) = (stats.stolen, stats.wake_ups);
    format!("{HOPS} hops, {stolen} to another thread; {wakes} wake-ups")
}

// ANCHOR: long
fn count(shorts: Payload, completion: Completion<Dynamic>) {
    let shorts: Receiver<()> = shorts.downcast().unwrap();
    thread::spawn(move || completion.complete(Payload::new(shorts.iter().count())));
}
// ANCHOR_END: long

fn long() -> String {
    let (scheduler, (done, shorts)) = (scheduler(1), mpsc::channel());
    let mut shorts = Some(shorts);
    // ANCHOR: long
    let long = from_fn(move |_context, mut events, out| {
        if let Some(Event::Completed { result, .. }) = events.next() {
            out.done(result.unwrap());
        } else if let Some(shorts) = shorts.take() {
            out.yield_command(0, Payload::new(shorts));
            out.wait();
        }
        Ok(())
    });
    // ANCHOR_END: long
    let long = scheduler.submit(long, "run", Payload::new(())).unwrap();
    for done in vec![done; SHORTS] {
        drop(scheduler.spawn(async move { done.send(()) }));
    }
    assert_eq!(long.join().unwrap().downcast::<usize>().ok(), Some(SHORTS));
    format!("1 worker ran {SHORTS} short ones meanwhile")
}

// ANCHOR: shared
async fn bank(mut inbox: Inbox<Dynamic>) {
    let (mut first, mut second) = (1_000, 1_000);
    while let Event::Message(message) = inbox.next().await {
        let (amount, caller): (i64, Caller<i64>) = message.downcast().unwrap();
        (first, second) = (first - amount, second + amount);
        caller.answer(first + second);
    }
}
// ANCHOR_END: shared

fn shared() -> String {
    let scheduler = scheduler(2);
    let bank = scheduler.spawn_with(bank).unwrap().pid();
    let clerk = |amount: i64| {
        let message = |caller: Caller<i64>| Payload::new((amount, caller));
        scheduler.spawn(scheduler.ask(bank, message)).unwrap()
    };
    let clerks: Vec<_> = [1, -1].repeat(MOVES / 2).into_iter().map(clerk).collect();
    for clerk in clerks {
        assert_eq!(clerk.join().unwrap().unwrap(), 2_000);
    }
    format!("{MOVES} transfers, a message each")
}

fn failure() -> String {
    let (scheduler, timers) = (scheduler(2), Timers::new().unwrap());
    let (tell, told) = mpsc::channel();
    // ANCHOR: failure
    let mut lives = 0;
    let child = Child::async_fn("fails once", move |mut inbox| {
        lives += 1;
        tell.send(lives).unwrap();
        let is_first = lives == 1;
        async move {
            is_first.then(|| resume_unwind(Box::new("in the middle")));
            drop(inbox.next().await);
        }
    });
    let supervisor = Supervisor::new(Strategy::OneForOne).child(child);
    let _tree = supervisor.start(&scheduler, &timers).unwrap();
    assert_eq!((told.recv(), told.recv()), (Ok(1), Ok(2)));
    // ANCHOR_END: failure
    "1 process failed, and had a second life".to_owned()
}
