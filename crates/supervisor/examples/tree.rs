//! A shop: a ledger that everything depends on, and below it a supervisor of its own for the
//! customers, who come and go. A customer that misbehaves fails alone; a ledger that fails takes
//! the customers with it, and both begin anew.

use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::timers::Timers;
use filch_scheduler::{Event, Handle, Protocol, Scheduler, from_fn};
use filch_supervisor::{Backoff, Child, Restart, Strategy, Supervisor};

enum Shop {}

impl Protocol for Shop {
    type Input = ();
    /// The price of a purchase, in cents.
    type Message = i64;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// Adds up the purchases of customers, and fails at a negative number.
fn ledger() -> Child<Shop> {
    Child::new("ledger", |scheduler: &Handle<Shop>| {
        let mut total = 0;
        let ledger = from_fn(move |_, events, out| {
            for event in events {
                match event {
                    Event::Message(cents) if cents < 0 => return Err(format!("{cents} cents")),
                    Event::Message(cents) => total += cents,
                    Event::Cancel(_) => {
                        println!("the ledger closes at {total} cents");
                        out.done(());
                    }
                    _ => {}
                }
            }
            Ok(())
        });
        scheduler.submission(ledger, "run", ())
    })
}

/// Buys something, and leaves when it is sent away.
fn customer(cents: i64) -> Child<Shop> {
    let customer = Child::unnamed(move |scheduler: &Handle<Shop>| {
        let customer = from_fn(move |context, events, out| {
            if events.len() == 0 {
                let ledger = context.handle().whereis("ledger").ok_or("it is closed")?;
                let sent = context.send(ledger, cents);
                sent.map_err(|error| error.to_string())?;
            } else if events
                .into_iter()
                .any(|event| matches!(event, Event::Cancel(_)))
            {
                out.done(());
            }
            Ok(())
        });
        scheduler.submission(customer, "run", ())
    });
    customer.restart(Restart::Temporary)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scheduler = Scheduler::<Shop>::builder().workers(2).build()?;
    let timers = Timers::new()?;
    let shop = Supervisor::new(Strategy::RestForOne)
        .intensity(3, Duration::from_secs(60))
        .backoff(Backoff::exponential(
            Duration::from_millis(1),
            Duration::from_secs(1),
        ))
        .child(ledger())
        .child(Child::supervisor("customers", || {
            Supervisor::new(Strategy::Dynamic)
        }))
        .start(&scheduler, &timers)?
        .wait()?;

    let inside = shop.below("customers").wait()?;
    for cents in [250, 125] {
        inside.start_child(customer(cents)).wait()?;
    }
    let first = scheduler.whereis("ledger").ok_or("it has been started")?;
    // A refund ends the ledger, and the customers with it.
    inside.start_child(customer(-100)).wait()?;
    inside.ended().wait()?;
    // Their supervisor comes back with the ledger, without customers.
    let children = loop {
        let customers = shop.below("customers").wait();
        if let Some(children) = customers.ok().and_then(|now| now.children().wait().ok()) {
            break children;
        }
        std::thread::yield_now();
    };
    assert_eq!(children, []);
    assert_ne!(scheduler.whereis("ledger"), Some(first));

    shop.stop().wait()?;
    assert!(scheduler.shutdown(Duration::from_secs(10))?.is_clean());
    Ok(())
}
