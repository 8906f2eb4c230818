//! A process that calls another one on the same worker, again and again.

use filch_actors::prelude::*;
use filch_actors::{CallError, Caller};
use filch_scheduler::{Event, Protocol, from_fn};

use crate::scheduler::start;

/// A protocol of questions only.
enum Questions {}

impl Protocol for Questions {
    type Input = ();
    type Message = Caller<u64>;
    type Command = ();
    type Reply = u64;
    type Output = ();
    type Error = String;
}

/// Makes so many calls, one after another.
pub(crate) fn call(times: u64) {
    let scheduler = start::<Questions>();
    let oracle = from_fn(|_, events, out| {
        for event in events {
            match event {
                Event::Message(caller) => out.answer(caller, 1),
                _ => out.done(()),
            }
        }
        Ok(())
    });
    let oracle = scheduler.submit(oracle, "run", ());
    let oracle = oracle.unwrap_or_else(|error| panic!("{error}")).pid();
    let mut left = times;
    let asker = from_fn(move |context, events, out| {
        for event in events {
            if let Event::Completed { result, .. } = event {
                assert!(matches!(result, Ok(1)));
            }
        }
        if left == 0 {
            out.done(());
        } else {
            left -= 1;
            let reply = |answer: Result<u64, CallError<_>>| answer.map_err(|e| e.to_string());
            out.call(context, 0, oracle, |caller| caller, reply);
            out.wait();
        }
        Ok(())
    });
    let asker = scheduler.submit(asker, "run", ());
    let asker = asker.unwrap_or_else(|error| panic!("{error}"));
    assert!(asker.join().is_ok());
}
