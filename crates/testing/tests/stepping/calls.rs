//! Calls that a step yields, and answers that it gives.

use std::thread;

use filch_actors::CallError;
use filch_actors::prelude::*;
use filch_scheduler::{CommandError, Context, Event, SendError, StepOutput, Undelivered};
use filch_testing::{CallAbandoned, ProcessTest, StepStatus, caller};

use crate::{Message, Script, Scripted, Shop, begun, price};

#[test]
fn calls_show_their_target_and_their_message() {
    let calls: Script = |context, event, out| {
        match event {
            Event::Message(Message::Price(of)) => {
                let message = |caller| Message::Ask(of, caller);
                out.call(context, 9, context.pid(), message, |answer| {
                    answer.map_err(|error: CallError<Shop>| error.to_string())
                });
                out.wait();
            }
            Event::Completed { tag: 9, result } => match result {
                Ok(price) => out.done(price),
                Err(CommandError::Failed(error)) => return Err(error),
                Err(error) => panic!("{error}"),
            },
            _ => {}
        }
        Ok(())
    };
    let called = || {
        let (mut test, _) = begun(calls);
        let mut step = test.step([price("tea")]).unwrap();
        assert_eq!((step.calls.len(), step.commands.len()), (1, 0));
        let call = step.calls.remove(0);
        assert_eq!((call.tag, call.to), (9, test.pid()));
        let Message::Ask(of, caller) = call.message else {
            panic!("another message");
        };
        assert_eq!(of, "tea");
        (test, caller, call.reply)
    };

    let (mut test, caller, reply) = called();
    let reply = reply.over().unwrap_err();
    caller.answer(250);
    let step = test.step([reply.over().unwrap()]).unwrap();
    assert!(matches!(step.status, StepStatus::Done(250)), "{step:?}");

    let failed = |mut test: ProcessTest<Shop, Scripted>, event| match test.step([event]) {
        Ok(step) => match step.status {
            StepStatus::Failed(error) => error.to_string(),
            status => panic!("{status:?}"),
        },
        Err(refused) => panic!("{refused}"),
    };
    let (test, caller, reply) = called();
    drop(caller);
    assert!(failed(test, reply.over().unwrap()).contains("without an answer"));
    let (test, _caller, reply) = called();
    assert!(failed(test, reply.not_yet()).contains("not answered yet"));
    let (test, caller, reply) = called();
    let error = SendError {
        to: test.pid(),
        reason: Undelivered::Full { limit: 3 },
        message: Message::Ask("tea".to_owned(), caller),
    };
    assert!(failed(test, reply.refused(error)).contains("is full"));
    let (test, caller, reply) = called();
    let message = Message::Ask("tea".to_owned(), caller);
    assert!(failed(test, reply.called_itself(message)).contains("has called itself"));
}

/// Answers a call with the length of what is asked for, and is done.
fn answering(
    _: &Context<'_, Shop>,
    event: Event<Shop>,
    out: &mut StepOutput<Shop>,
) -> Result<(), String> {
    if let Event::Message(Message::Ask(of, caller)) = event {
        out.answer(caller, of.len() as u64);
    }
    Ok(())
}

#[test]
fn answers_reach_their_callers() {
    // The test's own.
    let (mut test, _) = begun(answering);
    let (asks, mut answer) = caller();
    let ask = Event::Message(Message::Ask("bread".to_owned(), asks));
    assert_eq!(answer.take(), None);
    test.step([ask]).unwrap();
    assert_eq!((answer.take(), answer.take()), (Some(Ok(5)), None));
    // One that is dropped.
    let (asks, mut answer) = caller::<u64>();
    drop(Message::Ask("tea".to_owned(), asks));
    assert_eq!(answer.take(), Some(Err(CallAbandoned)));
    // A thread's.
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
