//! The README's table of messages for a full mailbox: each cell, with a process that steps and with
//! an async function.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{self, Receiver, Sender};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::timers::{FakeClock, Timers};
use filch_actors::{CallError, Caller, WhenFull};
use filch_scheduler::{Event, Pid, Protocol, Scheduler, SendError, Undelivered, from_fn};

use crate::common::until;

const README: &str = include_str!("../../README.md");

/// The column of each choice.
const CHOICES: [(&str, WhenFull); 4] = [
    ("`Refuse`", WhenFull::Refuse),
    ("`DropNewest`", WhenFull::DropNewest),
    ("`DropOldest`", WhenFull::DropOldest),
    ("`End`", WhenFull::End),
];

enum Letters {}

struct Letter(u64, Option<Caller<()>>);

impl Protocol for Letters {
    type Input = ();
    type Message = Letter;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// The outcome that the sender has heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Sent,
    Back,
    /// Nothing yet.
    Waits,
}

/// The receiver is in its first turn until the gate opens, with one message in its mailbox for one.
struct Stage {
    scheduler: Scheduler<Letters>,
    pid: Pid,
    gate: Sender<()>,
    read: Receiver<u64>,
    /// Told what becomes of a message that the receiver sends itself.
    own: Receiver<Told>,
}

impl Stage {
    fn new(when_full: WhenFull, is_function: bool, to_itself: bool) -> Self {
        let scheduler = Scheduler::builder().workers(2).build().unwrap();
        let (gate, opened) = mpsc::channel::<()>();
        let (tell, read) = mpsc::channel();
        let (tell_own, own) = mpsc::channel();
        let (enter, entered) = mpsc::channel();
        // Callers are kept, so that nobody is told that they were dropped.
        let mut kept = Vec::new();
        let mut note = move |letter: Letter| {
            let _ = tell.send(letter.0);
            kept.push(letter.1);
        };
        let pid = if is_function {
            let function = scheduler.submission_with(move |mut inbox| async move {
                enter.send(()).unwrap();
                opened.recv().unwrap();
                while let Event::Message(letter) = inbox.next().await {
                    note(letter);
                }
            });
            function.mailbox_with(1, when_full).spawn().unwrap().pid()
        } else {
            let mut has_begun = false;
            let process = from_fn::<Letters, _>(move |context, events, out| {
                if !has_begun {
                    has_begun = true;
                    enter.send(()).unwrap();
                    opened.recv().unwrap();
                    if to_itself {
                        let (own, tell) = (context.pid(), tell_own.clone());
                        let reply =
                            move |sent| tell.send(told(sent)).map_err(|error| error.to_string());
                        out.send_when_room(context, 0, own, Letter(1, None), reply);
                    }
                }
                for event in events {
                    match event {
                        Event::Message(letter) => note(letter),
                        Event::Cancel(_) => out.done(()),
                        _ => {}
                    }
                }
                Ok(())
            });
            let process = scheduler.submission(process, "run", ());
            process.mailbox_with(1, when_full).submit().unwrap().pid()
        };
        entered.recv().unwrap();
        scheduler.send(pid, Letter(0, None)).unwrap();
        Self {
            scheduler,
            pid,
            gate,
            read,
            own,
        }
    }

    /// Opens the gate, and says in the table's words what became of a message of which the sender
    /// was told this.
    fn words(&self, first: Told, last: impl FnOnce() -> Told) -> String {
        let _ = self.gate.send(());
        self.scheduler.wait_for_standstill().unwrap();
        let read: Vec<_> = self.read.try_iter().collect();
        let has_ended = !self.scheduler.lives(self.pid);
        let words = match (first, &read[..], has_ended) {
            (Told::Waits, [0, 1], false) if last() == Told::Sent => "waits",
            (Told::Back, [0], false) => "comes back",
            (Told::Back, [], true) => "comes back, and ends the process",
            (Told::Sent, [0], false) => "is dropped",
            (Told::Sent, [1], false) => "replaces the oldest",
            (Told::Sent, [], true) => "is dropped, and ends the process",
            _ => return format!("{first:?}, read {read:?}, ended {has_ended}"),
        };
        words.to_owned()
    }
}

fn told(sent: Result<(), SendError<Letters>>) -> Told {
    match sent {
        Ok(()) => Told::Sent,
        Err(error) => {
            assert_eq!(error.reason, Undelivered::Full { limit: 1 });
            assert_eq!(error.message.0, 1);
            Told::Back
        }
    }
}

/// A call whose message lies in the mailbox, and one whose message was dropped, count as sent.
fn told_of_call(answer: Result<(), CallError<Letters>>) -> Told {
    match answer {
        Err(CallError::Send(error)) => told(Err(error)),
        Err(CallError::Abandoned | CallError::NotYet) => Told::Sent,
        other => panic!("{other:?}"),
    }
}

/// Has a process send in its step, which tells through the sender what becomes of the message; and
/// waits until it has taken that step.
fn in_step(
    scheduler: &Scheduler<Letters>,
    mut send: impl FnMut(
        &filch_scheduler::Context<'_, Letters>,
        &mut filch_scheduler::StepOutput<Letters>,
        Sender<Told>,
    ) + Send
    + 'static,
) -> Receiver<Told> {
    let (tell, heard) = mpsc::channel();
    let mut tell = Some(tell);
    let process = from_fn::<Letters, _>(move |context, _, out| {
        if let Some(tell) = tell.take() {
            send(context, out, tell);
        }
        Ok(())
    });
    let process = scheduler.submit(process, "run", ()).unwrap();
    until(|| scheduler.info(process.pid()).unwrap().steps > 0);
    until(|| !scheduler.info(process.pid()).unwrap().can_run());
    heard
}

fn of_step(heard: &Receiver<Told>, otherwise: Told) -> Told {
    heard.try_recv().unwrap_or(otherwise)
}

/// Sends the letter 1 by that way to a full mailbox; returns what became of it.
fn sends(way: &str, when_full: WhenFull, is_function: bool) -> String {
    let stage = Stage::new(when_full, is_function, way.ends_with(" to itself"));
    let (scheduler, pid) = (&stage.scheduler, stage.pid);
    let never = || unreachable!("it was told before");
    let clock = FakeClock::new();
    let timers = Timers::with_clock(clock.clone()).unwrap();
    let second = Duration::from_secs(1);
    let call = |caller| Letter(1, Some(caller));
    match way {
        "`send`" => stage.words(told(scheduler.send(pid, Letter(1, None))), never),
        "`broadcast`" => {
            scheduler.join_group("all", pid).unwrap();
            let mut sent = scheduler.broadcast("all", |_| Letter(1, None));
            let refused = sent.refused.pop().map_or(Ok(()), Err);
            assert_eq!(sent.sent, usize::from(refused.is_ok()));
            stage.words(told(refused), never)
        }
        "`call`" => {
            let answer = scheduler.call_timeout(pid, Duration::ZERO, call);
            stage.words(told_of_call(answer), never)
        }
        "`ask`" => {
            let mut answer = pin!(scheduler.ask(pid, call));
            let answer = answer
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            let told = match answer {
                Poll::Ready(answer) => told_of_call(answer),
                Poll::Pending => Told::Sent,
            };
            stage.words(told, never)
        }
        "`out.call`" => {
            let heard = in_step(scheduler, move |context, out, tell| {
                let reply = move |answer| {
                    tell.send(told_of_call(answer))
                        .map_err(|error| error.to_string())
                };
                out.call(context, 0, pid, call, reply);
            });
            stage.words(of_step(&heard, Told::Sent), never)
        }
        "`send_when_room`" => {
            let mut sent = pin!(scheduler.send_when_room(pid, Letter(1, None)));
            let mut poll = || match sent.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(sent) => told(sent),
                Poll::Pending => Told::Waits,
            };
            stage.words(poll(), poll)
        }
        "`out.send_when_room`" => {
            let heard = in_step(scheduler, move |context, out, tell| {
                let reply = move |sent| tell.send(told(sent)).map_err(|error| error.to_string());
                out.send_when_room(context, 0, pid, Letter(1, None), reply);
            });
            stage.words(of_step(&heard, Told::Waits), || {
                of_step(&heard, Told::Waits)
            })
        }
        "`out.send_when_room` to itself" => {
            stage.gate.send(()).unwrap();
            let told = stage.own.recv().unwrap();
            stage.words(told, never)
        }
        "`timers.send_at`" => {
            let due = timers.after(second);
            timers
                .send_at(due, scheduler, pid, Letter(1, None))
                .unwrap();
            clock.advance(second);
            stage.words(Told::Sent, never)
        }
        "`timers.interval`" => {
            let key = timers.interval(second, scheduler, pid, || Letter(1, None));
            clock.advance(second);
            timers.cancel(key.unwrap());
            stage.words(Told::Sent, never)
        }
        _ => panic!("the table has a way that the test does not know: {way}"),
    }
}

/// A failure: the table promises what is not kept, as "waits" of a message that is told to be sent
/// and is gone.
#[test]
fn the_table_says_what_becomes_of_a_message() {
    let table = README.split("| a message by |").nth(1).unwrap();
    let mut lines = table.lines();
    let heads: Vec<_> = lines.next().unwrap().trim_matches('|').split('|').collect();
    let heads: Vec<_> = heads.iter().map(|head| head.trim()).collect();
    assert_eq!(heads, CHOICES.map(|(head, _)| head));
    let mut ways = BTreeSet::new();
    for line in lines.skip(1).take_while(|line| line.starts_with('|')) {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let row: Vec<_> = cells.next().unwrap().split(", ").collect();
        for ((_, when_full), promised) in CHOICES.into_iter().zip(cells) {
            for way in &row {
                for is_function in [false, true] {
                    // A function would await itself.
                    if !(is_function && way.ends_with(" to itself")) {
                        let kept = sends(way, when_full, is_function);
                        assert_eq!(kept, promised, "{way}, {when_full:?}, {is_function}");
                    }
                }
            }
        }
        ways.extend(row);
    }
    assert_eq!(ways.len(), 10, "{ways:?}");
}
