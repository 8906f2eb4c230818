//! Calls: a thread, a process with a limit, and a future ask a store; and each caller learns when
//! nobody answers.

use std::collections::HashMap;
use std::error::Error;
use std::time::{Duration, Instant};

use filch::actors::timers::Timers;
use filch::actors::{CallError, Caller};
use filch::prelude::*;
use filch::scheduler::{Event, Process, Protocol, Scheduler, SendError, Undelivered, from_fn};

// ANCHOR: protocol
enum Stock {}

enum Request {
    Put(&'static str, u64),
    Get(&'static str, Caller<Option<u64>>),
    /// Answer at some later time.
    Later(Caller<Option<u64>>),
}

impl Protocol for Stock {
    type Input = ();
    type Message = Request;
    type Command = ();
    type Reply = Option<u64>;
    type Output = Option<u64>;
    type Error = String;
}
// ANCHOR_END: protocol

// ANCHOR: store
fn store() -> impl Process<Stock> {
    let (mut goods, mut waiting) = (HashMap::new(), Vec::new());
    from_fn::<Stock, _>(move |_context, events, out| {
        for event in events {
            match event {
                Event::Message(Request::Put(name, count)) => {
                    goods.insert(name, count);
                }
                Event::Message(Request::Get(name, caller)) => {
                    out.answer(caller, goods.get(name).copied());
                }
                Event::Message(Request::Later(caller)) => waiting.push(caller),
                _ => out.done(None),
            }
        }
        Ok(())
    })
}
// ANCHOR_END: store

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let scheduler = Scheduler::<Stock>::builder().workers(2).build()?;
    let timers = Timers::new()?;

    // ANCHOR: thread
    let shop = scheduler.submit(store(), "run", ())?;
    let store = shop.pid();
    scheduler.send(store, Request::Put("apples", 3))?;
    let apples = scheduler.call(store, |caller| Request::Get("apples", caller))?;
    assert_eq!(apples, Some(3));
    // ANCHOR_END: thread

    // ANCHOR: process
    let asker = from_fn::<Stock, _>(move |context, events, out| {
        for event in events {
            if let Event::Completed { result, .. } = event {
                out.done(result.map_err(|error| error.to_string())?);
                return Ok(());
            }
        }
        let limit = (Instant::now() + Duration::from_secs(60), &timers);
        let message = |caller| Request::Get("apples", caller);
        out.call_by(context, 0, limit, store, message, |answer| {
            answer.map_err(|error| error.to_string())
        });
        out.wait();
        Ok(())
    });
    assert_eq!(scheduler.execute(asker, "run", ())?, Some(3));
    // ANCHOR_END: process

    // ANCHOR: future
    let handle = scheduler.handle();
    let asker = scheduler.spawn(async move {
        let pears = handle.ask(store, |caller| Request::Get("pears", caller));
        let apples = handle.ask(store, |caller| Request::Get("apples", caller));
        (pears.await, apples.await)
    })?;
    let (pears, apples) = asker.join()?;
    assert_eq!((pears?, apples?), (None, Some(3)));
    // ANCHOR_END: future

    // ANCHOR: errors
    let limit = Duration::from_millis(1);
    let late = scheduler.call_timeout(store, limit, Request::Later);
    assert!(matches!(late, Err(CallError::NotYet)));

    // The store has the caller, and ends: the answer comes at once.
    let asked = scheduler.ask(store, Request::Later);
    scheduler.cancel(store, "closing time")?;
    let abandoned = scheduler.spawn(asked)?.join()?;
    assert!(matches!(abandoned, Err(CallError::Abandoned)));

    // From now on nobody can answer.
    shop.join()?;
    let refused = scheduler.call(store, Request::Later);
    let Err(CallError::Send(SendError { reason, .. })) = refused else {
        return Err("there is no store any more".into());
    };
    assert_eq!(reason, Undelivered::NoSuchProcess);
    // ANCHOR_END: errors
    Ok(())
}
