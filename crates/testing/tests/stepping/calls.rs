//! Calls and answers of a step.

use std::thread;
use std::time::{Duration, Instant};

use filch_actors::prelude::*;
use filch_actors::timers::{FakeClock, Timers};
use filch_actors::{CallError, Caller, NoAnswer};
use filch_scheduler::{CommandError, Context, Event, Events, InitError, Pid, Process, StepOutput};
use filch_testing::{Mailbox, ProcessTest, StepStatus};

use crate::{Message, Shop, begun, price};

/// Asks another process for the price, at once or until a deadline, and is done with the answer.
#[derive(Default)]
struct Asks {
    whom: Option<Pid>,
    limit: Option<(Instant, Timers)>,
}

impl Process<Shop> for Asks {
    fn init(&mut self, _: &Context<'_, Shop>, _: &str, whom: Pid) -> Result<(), InitError<Shop>> {
        self.whom = Some(whom);
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Shop>,
        events: Events<'_, Shop>,
        out: &mut StepOutput<Shop>,
    ) -> Result<(), String> {
        for event in events {
            match (event, self.whom) {
                (Event::Message(Message::Price(of)), Some(to)) => {
                    let message = |caller| Message::Ask(of, caller);
                    let reply = |answer: Result<_, CallError<Shop>>| {
                        answer.map_err(|error| error.to_string())
                    };
                    match &self.limit {
                        Some((at, timers)) => {
                            out.call_by(context, 9, (*at, timers), to, message, reply);
                        }
                        None => out.call(context, 9, to, message, reply),
                    }
                    out.wait();
                }
                (Event::Completed { tag: 9, result }, _) => match result {
                    Ok(price) => out.done(price),
                    Err(CommandError::Failed(error)) => return Err(error),
                    Err(error) => panic!("{error}"),
                },
                _ => {}
            }
        }
        Ok(())
    }
}

/// Makes a process that has yielded a call to the mailbox, and waits.
fn asking(limit: Option<(Instant, Timers)>) -> (ProcessTest<Shop, Asks>, Mailbox<Shop>) {
    let mut test = ProcessTest::new(Asks { whom: None, limit });
    let whom = test.mailbox();
    test.init("run", whom.pid()).unwrap();
    let step = test.step([price("tea")]).unwrap();
    assert_eq!((&step.opened[..], step.commands.len()), (&[9][..], 0));
    assert!(matches!(step.status, StepStatus::Wait), "{step:?}");
    (test, whom)
}

/// Takes the caller from the one message in the mailbox.
fn caller(whom: &Mailbox<Shop>) -> Caller<u64> {
    let mut messages = whom.take_messages();
    assert_eq!(messages.len(), 1);
    let Some(Message::Ask(of, caller)) = messages.pop() else {
        panic!("another message");
    };
    assert_eq!(of, "tea");
    caller
}

/// Gives the process its one event, and returns the error that it fails with.
fn failure(mut test: ProcessTest<Shop, Asks>) -> String {
    let events = test.take_events();
    assert_eq!(events.len(), 1, "{events:?}");
    match test.step(events).unwrap().status {
        StepStatus::Failed(error) => error.to_string(),
        status => panic!("{status:?}"),
    }
}

#[test]
fn calls_are_made_and_completed_by_events() {
    let (mut test, whom) = asking(None);
    let caller_of_it = caller(&whom);
    assert!(test.take_events().is_empty(), "there is no answer yet");
    caller_of_it.answer(250);
    let events = test.take_events();
    let step = test.step(events).unwrap();
    assert!(matches!(step.status, StepStatus::Done(250)), "{step:?}");

    let (test, whom) = asking(None);
    drop(caller(&whom));
    assert!(failure(test).contains("without an answer"));

    let clock = FakeClock::new();
    let timers = Timers::with_clock(clock.clone()).unwrap();
    let at = timers.after(Duration::from_secs(1));
    let (test, whom) = asking(Some((at, timers)));
    let _caller = caller(&whom);
    clock.advance(Duration::from_secs(1));
    assert!(failure(test).contains("not answered yet"));

    // A process that ends before it takes the message: the call is refused, or abandoned.
    let mut test = ProcessTest::new(Asks::default());
    let ended = test.mailbox();
    test.init("run", ended.pid()).unwrap();
    drop(ended);
    test.take_events();
    test.step([price("tea")]).unwrap();
    assert!(failure(test).contains("process"));

    let mut test = ProcessTest::new(Asks::default());
    let itself = test.pid();
    test.init("run", itself).unwrap();
    test.step([price("tea")]).unwrap();
    assert!(failure(test).contains("has called itself"));
}

#[test]
fn answers_reach_their_callers() {
    let (mut test, _) = begun(|_, event, out| {
        if let Event::Message(Message::Ask(of, caller)) = event {
            out.answer(caller, of.len() as u64);
        }
        Ok(())
    });
    // A call of the test.
    let (asks, answer) = Caller::new();
    let ask = Event::Message(Message::Ask("bread".to_owned(), asks));
    assert!(!answer.is_ready());
    test.step([ask]).unwrap();
    assert!(answer.is_ready());
    assert_eq!(answer.wait(), Ok(5));
    // A dropped call.
    let (asks, answer) = Caller::<u64>::new();
    drop(Message::Ask("tea".to_owned(), asks));
    assert_eq!(answer.wait(), Err(NoAnswer));
    // A call of a thread.
    let (handle, pid) = (test.handle().clone(), test.pid());
    let (begins, begun) = std::sync::mpsc::channel();
    let thread = thread::spawn(move || {
        handle.call(pid, |caller| {
            begins.send(()).unwrap();
            Message::Ask("tea".to_owned(), caller)
        })
    });
    begun.recv().unwrap();
    let events = loop {
        let events = test.take_events();
        if !events.is_empty() {
            break events;
        }
        thread::yield_now();
    };
    test.step(events).unwrap();
    assert_eq!(thread.join().unwrap().unwrap(), 3);
}
