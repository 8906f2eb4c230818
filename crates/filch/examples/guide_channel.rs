//! The event queue as a channel: for threads, in a future, and two of them beside a timer.

use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use filch::actors::dynamic::Dynamic;
use filch::event_queue::{Receiver, RecvError, channel};
use filch::prelude::*;
use filch::scheduler::Scheduler;
use filch::timers::Timers;

// ANCHOR: race
#[derive(Debug, PartialEq)]
enum First {
    Order(u32),
    Alarm(&'static str),
    /// Nothing came in time.
    Late,
}

/// Waits for the first of three. An event that is not taken stays in its queue.
async fn first(
    orders: &mut Receiver<u32>,
    alarms: &mut Receiver<&'static str>,
    limit: impl Future,
) -> First {
    let mut limit = pin!(limit);
    poll_fn(|cx| {
        // The order of these three says who comes first if several are there.
        if let Poll::Ready(Some(alarm)) = alarms.poll_recv(cx) {
            return Poll::Ready(First::Alarm(alarm));
        }
        if let Poll::Ready(Some(order)) = orders.poll_recv(cx) {
            return Poll::Ready(First::Order(order));
        }
        limit.as_mut().poll(cx).map(|_| First::Late)
    })
    .await
}
// ANCHOR_END: race

fn main() -> Result<(), Box<dyn Error>> {
    // ANCHOR: threads
    let (sender, receiver) = channel();
    let producers = [1, 2].map(|producer| {
        let sender = sender.clone();
        thread::spawn(move || (0..3).try_for_each(|n| sender.push(10 * producer + n)))
    });
    drop(sender); // the last one to go ends the loop
    let mut sum = 0;
    for number in receiver {
        sum += number;
    }
    assert_eq!(sum, 96);
    // ANCHOR_END: threads
    for producer in producers {
        assert!(producer.join().is_ok_and(|pushed| pushed.is_ok()));
    }

    // ANCHOR: limits
    let (sender, mut receiver) = channel();
    assert_eq!(receiver.try_recv(), Err(RecvError::Empty));
    let soon = Instant::now() + Duration::from_millis(5);
    assert_eq!(receiver.recv_deadline(soon), Err(RecvError::Empty));
    sender.push("there")?;
    drop(sender);
    let mut seen = Vec::new();
    loop {
        match receiver.recv_timeout(Duration::from_secs(1)) {
            Ok(event) => seen.push(event),
            Err(RecvError::Empty) => {} // a second without an event
            Err(RecvError::Disconnected) => break, // every sender is gone
        }
    }
    assert_eq!(seen, ["there"]);
    // ANCHOR_END: limits

    // ANCHOR: use
    let scheduler = Scheduler::<Dynamic>::builder().workers(2).build()?;
    let timers = Timers::new()?;
    let (order, mut orders) = channel();
    let (alarm, mut alarms) = channel();
    order.push(7)?;
    alarm.push("fire")?;
    let shop = scheduler.spawn(async move {
        let mut seen = Vec::new();
        while seen.last() != Some(&First::Late) {
            let limit = timers.sleep(Duration::from_millis(20));
            seen.push(first(&mut orders, &mut alarms, limit).await);
        }
        seen
    })?;
    let seen = shop.join()?;
    assert_eq!(seen, [First::Alarm("fire"), First::Order(7), First::Late]);
    // ANCHOR_END: use
    Ok(())
}
