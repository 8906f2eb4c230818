//! Calls by processes and by futures: each has exactly one answer, in any race.

use std::sync::{Arc, Mutex, mpsc};

use crate::common::until;
use filch_actors::prelude::*;
use filch_actors::timers::{TimeoutError, Timers};
use filch_actors::{CallError, Caller};
use filch_scheduler::{
    CommandError, Context, Event, Pid, ProcessHandle, Protocol, Scheduler, StepOutput, from_fn,
};

use crate::timers::{SECOND, fake};

enum Calls {}

enum Message {
    /// Answer with twice the number.
    Double(u64, Caller<u64>),
    /// Keep the caller, answer later or never.
    Keep(Caller<u64>),
}

impl Protocol for Calls {
    type Input = ();
    type Message = Message;
    type Command = ();
    type Reply = u64;
    type Output = u64;
    type Error = String;
}

fn scheduler() -> Scheduler<Calls> {
    Scheduler::builder().workers(2).build().unwrap()
}

/// Answers as it is told, and keeps callers in `kept`.
fn callee(scheduler: &Scheduler<Calls>, kept: &Kept) -> Pid {
    let kept = Arc::clone(kept);
    let callee = from_fn(move |_, events, out| {
        for event in events {
            match event {
                Event::Message(Message::Double(value, caller)) => out.answer(caller, 2 * value),
                Event::Message(Message::Keep(caller)) => kept.lock().unwrap().push(caller),
                _ => out.done(0),
            }
        }
        Ok(())
    });
    scheduler.submit(callee, "run", ()).unwrap().pid()
}

type Kept = Arc<Mutex<Vec<Caller<u64>>>>;

fn text(answer: Result<u64, CallError<Calls>>) -> Result<u64, String> {
    answer.map_err(|error| error.to_string())
}

/// A process that makes one call by `call`, tells its result, and waits as for a command.
fn asking(
    scheduler: &Scheduler<Calls>,
    mut call: impl FnMut(&Context<'_, Calls>, &mut StepOutput<Calls>) + Send + 'static,
) -> (ProcessHandle<Calls>, mpsc::Receiver<Result<u64, String>>) {
    let (tell, told) = mpsc::channel();
    let asker = from_fn(move |context, events, out| {
        let begins = events.len() == 0;
        for event in events {
            match event {
                Event::Completed { tag: 7, result } => {
                    let result = result.map_err(|error: CommandError<Calls>| error.to_string());
                    tell.send(result).unwrap();
                    out.done(0);
                }
                Event::Cancel(_) => out.done(0),
                _ => panic!("an event that nobody sent"),
            }
        }
        if begins {
            call(context, out);
            out.wait();
        }
        Ok(())
    });
    (scheduler.submit(asker, "run", ()).unwrap(), told)
}

#[test]
fn a_process_waits_for_an_answer_as_for_a_command() {
    let scheduler = scheduler();
    let callee = callee(&scheduler, &Kept::default());
    let (asker, told) = asking(&scheduler, move |context, out| {
        let ask = |caller| Message::Double(21, caller);
        out.call(context, 7, callee, ask, text);
    });
    assert_eq!(told.recv().unwrap(), Ok(42));
    asker.join().unwrap();
}

/// The callee has the caller in its hands, or ended before the call.
#[test]
fn a_caller_that_is_dropped_is_an_error_at_once() {
    let scheduler = scheduler();
    let kept = Kept::default();
    let forgetful = callee(&scheduler, &kept);
    let (asker, told) = asking(&scheduler, move |context, out| {
        out.call(context, 7, forgetful, Message::Keep, text);
    });
    until(|| !kept.lock().unwrap().is_empty());
    kept.lock().unwrap().clear();
    let error = told.recv().unwrap().unwrap_err();
    assert!(error.contains("dropped without an answer"), "{error}");
    let gone = asker.pid();
    asker.join().unwrap();

    let (asker, told) = asking(&scheduler, move |context, out| {
        out.call(context, 7, gone, Message::Keep, text);
    });
    asker.join().unwrap();
    let error = told.recv().unwrap().unwrap_err();
    assert!(error.contains("no such process"), "{error}");
}

#[test]
fn a_call_of_oneself_is_an_error() {
    let scheduler = scheduler();
    let (tell, told) = mpsc::channel();
    let asker = from_fn(move |context: &Context<'_, Calls>, events, out| {
        for event in events {
            if let Event::Completed { result, .. } = event {
                tell.send(result.unwrap()).unwrap();
                out.done(0);
                return Ok(());
            }
        }
        let is_itself = |answer: Result<u64, CallError<Calls>>| match answer {
            Err(CallError::ToItself(Message::Keep(_))) => Ok(1),
            _ => Ok(0),
        };
        out.call(context, 7, context.pid(), Message::Keep, is_itself);
        out.wait();
        Ok(())
    });
    scheduler.execute(asker, "run", ()).unwrap();
    assert_eq!(told.recv().unwrap(), 1);
}

#[test]
fn a_call_has_a_time_limit_and_leaves_no_timer() {
    let (clock, timers) = fake();
    let scheduler = scheduler();
    let kept = Kept::default();
    let callee = callee(&scheduler, &kept);
    let by = |timers: &Timers, message: fn(Caller<u64>) -> Message| {
        let timers = timers.clone();
        asking(&scheduler, move |context, out| {
            let limit = (timers.now() + SECOND, &timers);
            out.call_by(context, 7, limit, callee, message, text);
        })
    };
    let (late, told) = by(&timers, Message::Keep);
    // A deadline that comes before the message is sent may keep it from being sent.
    until(|| !kept.lock().unwrap().is_empty());
    clock.advance(SECOND);
    assert_eq!(
        told.recv().unwrap(),
        Err("the process has not answered yet".to_owned())
    );
    late.join().unwrap();
    // The answer that comes later is nobody's.
    kept.lock().unwrap().pop().unwrap().answer(3);
    let (early, told) = by(&timers, |caller| Message::Double(4, caller));
    assert_eq!(told.recv().unwrap(), Ok(8));
    early.join().unwrap();
    assert_eq!(timers.pending(), 0);
}

/// The answer, the deadline and the end of the callee, all at once: one of them answers.
#[test]
fn whatever_comes_first_is_the_only_answer() {
    const ROUNDS: usize = 2_000;
    let (clock, timers) = fake();
    let scheduler = scheduler();
    let (mut answered, mut others) = (0, 0);
    for round in 0..ROUNDS {
        let kept = Kept::default();
        let callee = callee(&scheduler, &kept);
        let (asker, told) = {
            let timers = timers.clone();
            asking(&scheduler, move |context, out| {
                let limit = (timers.now() + SECOND, &timers);
                let ask = |caller| Message::Double(4, caller);
                out.call_by(context, 7, limit, callee, ask, text);
            })
        };
        if round % 2 == 0 {
            clock.advance(SECOND);
        }
        if round % 3 == 0 {
            let _ = scheduler.terminate(callee);
        }
        // Late enough for those whose clock had not been set.
        match told.recv().unwrap() {
            Ok(8) => answered += 1,
            Err(_) => others += 1,
            other => panic!("{other:?}"),
        }
        asker.join().unwrap();
        assert!(told.recv().is_err(), "two answers");
        let _ = scheduler.terminate(callee);
    }
    assert_eq!(answered + others, ROUNDS);
}

/// With timers that are shut down the deadline of a call that is under way has passed; one that is
/// not yet made is not made. A failure: the caller waits for ever.
#[test]
fn a_call_does_not_outlast_the_timers_of_its_limit() {
    let scheduler = scheduler();
    let kept = Kept::default();
    let callee = callee(&scheduler, &kept);
    for is_under_way in [true, false] {
        let (clock, timers) = fake();
        if !is_under_way {
            timers.shutdown();
        }
        let own = timers.clone();
        let (asker, told) = asking(&scheduler, move |context, out| {
            let limit = (own.after(SECOND), &own);
            out.call_by(context, 7, limit, callee, Message::Keep, text);
        });
        if is_under_way {
            clock.block_until(1);
            timers.shutdown();
        }
        let told = told.recv().unwrap();
        let told = told.unwrap_err();
        match is_under_way {
            true => assert_eq!(told, "the process has not answered yet"),
            false => assert_eq!(told, "the timers of the call's limit are shut down"),
        }
        asker.join().unwrap();
    }
    assert_eq!(kept.lock().unwrap().len(), 1, "one call was made");
    scheduler.terminate(callee).unwrap();
}

#[test]
fn a_future_awaits_an_answer_with_a_limit() {
    let (clock, timers) = fake();
    let scheduler = scheduler();
    let kept = Kept::default();
    let callee = callee(&scheduler, &kept);
    let answer = scheduler.ask(callee, |caller| Message::Double(5, caller));
    assert_eq!(
        scheduler.spawn(answer).unwrap().join().unwrap().unwrap(),
        10
    );
    let (ask, handle) = (timers.clone(), scheduler.handle());
    let late = scheduler.spawn(async move {
        let answer = handle.ask(callee, Message::Keep);
        ask.timeout(SECOND, answer).await.map(|_| ())
    });
    clock.block_until(1);
    clock.advance(SECOND);
    assert_eq!(late.unwrap().join().unwrap(), Err(TimeoutError::Elapsed));
    assert_eq!(timers.pending(), 0);
    let answer = scheduler.ask(callee, Message::Keep);
    let waiting = scheduler.spawn(answer).unwrap();
    scheduler.terminate(callee).unwrap();
    while !waiting.has_ended() {
        // The message may be read by a step that is under way.
        kept.lock().unwrap().clear();
        std::thread::yield_now();
    }
    let answer = waiting.join().unwrap();
    assert!(matches!(
        answer,
        Err(CallError::Abandoned | CallError::Send(_))
    ));
}

#[test]
fn a_reply_that_panics_completes_the_call_and_a_message_ends_the_process() {
    let scheduler = scheduler();
    let callee = callee(&scheduler, &Kept::default());
    let (asker, told) = asking(&scheduler, move |context, out| {
        let ask = |caller| Message::Double(1, caller);
        out.call(context, 7, callee, ask, |_| panic!("the reply's message"));
    });
    let error = told.recv().unwrap().unwrap_err();
    assert!(error.contains("the reply's message"), "{error}");
    asker.join().unwrap();
    let (asker, told) = asking(&scheduler, move |context, out| {
        let ask = |_| -> Message { panic!("the message's message") };
        out.call(context, 7, callee, ask, text);
    });
    let error = asker.join().unwrap_err().to_string();
    assert!(error.contains("the message's message"), "{error}");
    assert!(told.recv().is_err(), "its step has ended it");
}

/// Like a message that is sent, it is there before the step is over, even if the step fails.
#[test]
fn a_call_is_made_at_once() {
    let scheduler = Scheduler::<Calls>::builder().workers(1).build().unwrap();
    let kept = Kept::default();
    let own = Arc::clone(&kept);
    let callee = from_fn(move |_, events, _| {
        for event in events {
            if let Event::Message(Message::Keep(caller)) = event {
                own.lock().unwrap().push(caller);
            }
        }
        Ok(())
    });
    let callee = scheduler.submission(callee, "run", ()).mailbox(5);
    let callee = callee.submit().unwrap().pid();
    let asker = from_fn(move |context: &Context<'_, Calls>, _, out| {
        let depth = || context.handle().info(callee).unwrap().undelivered;
        assert_eq!(depth(), Some(0));
        out.call(context, 7, callee, Message::Keep, text);
        assert_eq!(depth(), Some(1));
        Err("after the call".to_owned())
    });
    let error = scheduler.execute(asker, "run", ()).unwrap_err().to_string();
    assert!(error.contains("after the call"), "{error}");
    let caller = loop {
        if let Some(caller) = kept.lock().unwrap().pop() {
            break caller;
        }
        std::thread::yield_now();
    };
    // Nobody is left who would have the answer.
    caller.answer(8);
    scheduler.terminate(callee).unwrap();
}
