//! Processes: each has its state for itself, gets messages, and fails alone.

use std::ops::Range;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use filch::actors::timers::Timers;
use filch::actors::{Caller, Inbox};
use filch::prelude::*;
use filch::scheduler::{Completion, Event, Handle, Pid, Protocol, Scheduler, from_fn};
use filch::supervisor::{Child, Strategy, Supervisor};

use crate::{HOPS, MOVES, NUMBERS, Programs, RING, SHORTS, halves};

pub(crate) const PROGRAMS: Programs = [tree, ring, long, shared, failure];

enum Five {}

enum Message {
    Token([Pid; RING], usize),
    Move(i64, Caller<[i64; 2]>),
}

impl Protocol for Five {
    type Input = ();
    type Message = Message;
    type Command = Receiver<()>; // count what comes
    type Reply = usize;
    type Output = usize;
    type Error = String;
}

fn scheduler(workers: usize) -> Scheduler<Five> {
    let scheduler = Scheduler::builder().workers(workers).handler(count);
    scheduler.build().unwrap()
}

// ANCHOR: tree
/// Each right half is a process, with a PID, an inbox, and an end that can be awaited.
fn sum(handle: Handle<Five>, numbers: Range<u64>) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        let Some([left, right]) = halves(&numbers) else {
            return numbers.start;
        };
        let right = handle.spawn(sum(handle.clone(), right)).unwrap();
        sum(handle, left).await + right.await.unwrap()
    })
}
// ANCHOR_END: tree

fn tree() -> String {
    let scheduler = scheduler(2);
    let root = scheduler.spawn(sum(scheduler.handle(), NUMBERS)).unwrap();
    assert_eq!(root.join().unwrap(), NUMBERS.sum());
    let total = scheduler.stats().total();
    let (ended, stolen) = (total.ended, total.processor.stolen);
    format!("{ended} processes, {stolen} stolen")
}

// ANCHOR: ring
async fn member(mut inbox: Inbox<Five>) {
    while let Event::Message(Message::Token(ring, left @ 1..)) = inbox.next().await {
        // The next member wakes up in the deque of the worker that runs this one.
        let (next, token) = (ring[(left - 1) % RING], Message::Token(ring, left - 1));
        inbox.handle().send(next, token).unwrap();
    }
}
// ANCHOR_END: ring

fn ring() -> String {
    let scheduler = scheduler(2);
    let members = [(); RING].map(|()| scheduler.spawn_with(member).unwrap());
    let ring = members.each_ref().map(|member| member.pid());
    scheduler.send(ring[0], Message::Token(ring, HOPS)).unwrap();
    let [first, ..] = members;
    first.join().unwrap();
    let stolen = scheduler.stats().total().processor.stolen;
    format!("{HOPS} hops, {stolen} of them to another thread")
}

// ANCHOR: long
/// Does the command of a process on a thread of its own; the worker goes on with other processes.
fn count(shorts: Receiver<()>, completion: Completion<Five>) {
    thread::spawn(move || completion.complete(shorts.iter().count()));
}

fn long() -> String {
    let (scheduler, (done, shorts)) = (scheduler(1), mpsc::channel());
    let mut shorts = Some(shorts);
    let long = from_fn(move |_context, mut events, out| {
        if let Some(Event::Completed { result, .. }) = events.next() {
            out.done(result.unwrap());
        } else if let Some(shorts) = shorts.take() {
            out.yield_command(0, shorts);
            out.wait();
        }
        Ok(())
    });
    // ANCHOR_END: long
    let long = scheduler.submit(long, "run", ()).unwrap();
    for done in vec![done; SHORTS] {
        drop(scheduler.spawn(async move { done.send(()) }));
    }
    assert_eq!(long.join().unwrap(), SHORTS);
    format!("1 worker ran {SHORTS} short ones meanwhile")
}

// ANCHOR: shared
/// Owns both accounts, and makes one transfer after the other.
async fn bank(mut inbox: Inbox<Five>) {
    let mut accounts = [1_000, 1_000];
    while let Event::Message(Message::Move(amount, caller)) = inbox.next().await {
        accounts[0] -= amount;
        accounts[1] += amount;
        caller.answer(accounts);
    }
}
// ANCHOR_END: shared

fn shared() -> String {
    let scheduler = scheduler(2);
    let bank = scheduler.spawn_with(bank).unwrap().pid();
    let ask = |amount| scheduler.ask(bank, |caller| Message::Move(amount, caller));
    let asked = [1, -1].repeat(MOVES / 2).into_iter().map(ask);
    let clerks = asked.map(|asked| scheduler.spawn(asked).unwrap());
    for accounts in clerks.map(|clerk| clerk.join().unwrap().unwrap()) {
        assert_eq!(accounts[0] + accounts[1], 2_000);
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
