//! Messages and back-pressure: a bounded mailbox, one message too many, and a group.

use std::error::Error;

use filch::actors::WhenFull;
use filch::prelude::*;
use filch::scheduler::{Event, Pid, Process, Protocol, Scheduler, Undelivered, from_fn};

// ANCHOR: protocol
enum Numbers {}

impl Protocol for Numbers {
    type Input = ();
    type Message = u64;
    type Command = ();
    type Reply = ();
    type Output = Vec<u64>;
    type Error = String;
}

/// Keeps its messages, until it is asked to end.
fn collector() -> impl Process<Numbers> {
    let mut numbers = Vec::new();
    from_fn::<Numbers, _>(move |_context, events, out| {
        for event in events {
            match event {
                Event::Message(number) => numbers.push(number),
                // Behind all messages that were sent before.
                _ => out.done(std::mem::take(&mut numbers)),
            }
        }
        Ok(())
    })
}
// ANCHOR_END: protocol

// ANCHOR: sender
/// Sends ten numbers, and ends with those that came back.
fn sender(to: Pid) -> impl Process<Numbers> {
    let (mut unsent, mut refused) = ((0..10).collect::<Vec<_>>(), Vec::new());
    unsent.reverse();
    from_fn::<Numbers, _>(move |context, _events, out| {
        while let Some(number) = unsent.pop() {
            match context.send(to, number) {
                Ok(()) => {}
                Err(error) if matches!(error.reason, Undelivered::Full { .. }) => {
                    refused.push(error.message);
                    unsent.push(error.message);
                    // The others first, the receiver among them; then once more.
                    out.go_on();
                    return Ok(());
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        out.done(std::mem::take(&mut refused));
        Ok(())
    })
}
// ANCHOR_END: sender

// ANCHOR: patient
/// Sends ten numbers, each as soon as there is room.
fn patient(to: Pid) -> impl Process<Numbers> {
    let mut unsent = 0..10;
    from_fn::<Numbers, _>(move |context, events, out| {
        for event in events {
            if let Event::Completed { result, .. } = event {
                result.map_err(|error| error.to_string())?;
            }
        }
        let Some(number) = unsent.next() else {
            out.done(Vec::new());
            return Ok(());
        };
        // If the receiver ends before, the number comes back.
        out.send_when_room(context, number, to, number, |sent| {
            sent.map_err(|error| error.to_string())
        });
        out.wait();
        Ok(())
    })
}
// ANCHOR_END: patient

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    // ANCHOR: bounded
    // With one worker, nobody reads while the sender sends: so four numbers find room.
    let scheduler = Scheduler::<Numbers>::builder().workers(1).build()?;
    let receiver = scheduler
        .submission(collector(), "run", ())
        .mailbox(4)
        .submit()?;
    let sender = scheduler.submit(sender(receiver.pid()), "run", ())?;
    let refused = sender.join()?;
    assert_eq!(refused.first(), Some(&4));

    scheduler.cancel(receiver.pid(), "that is all")?;
    assert_eq!(receiver.join()?, (0..10).collect::<Vec<_>>());
    // ANCHOR_END: bounded

    // ANCHOR: waiting
    let receiver = scheduler
        .submission(collector(), "run", ())
        .mailbox(4)
        .submit()?;
    scheduler.execute(patient(receiver.pid()), "run", ())?;
    scheduler.cancel(receiver.pid(), "that is all")?;
    assert_eq!(receiver.join()?, (0..10).collect::<Vec<_>>());
    // ANCHOR_END: waiting

    // ANCHOR: latest
    let receiver = scheduler
        .submission(collector(), "run", ())
        .mailbox_with(4, WhenFull::DropOldest)
        .submit()?;
    // In one step: with one worker, nobody reads meanwhile.
    let to = receiver.pid();
    let hasty = scheduler.spawn_with(move |inbox| async move {
        (0..10).try_for_each(|number| inbox.send(to, number))
    });
    hasty?.join()??;
    scheduler.cancel(to, "that is all")?;
    assert_eq!(receiver.join()?, [6, 7, 8, 9]);
    assert_eq!(scheduler.stats().dropped, 6);
    // ANCHOR_END: latest

    // ANCHOR: group
    let mut listeners = Vec::new();
    for _ in 0..3 {
        let listener = scheduler.submit(collector(), "run", ())?;
        scheduler.join_group("listeners", listener.pid())?;
        listeners.push(listener);
    }
    let broadcast = scheduler.broadcast("listeners", |_pid| 7);
    assert_eq!((broadcast.sent, broadcast.refused.len()), (3, 0));

    for listener in listeners {
        scheduler.cancel(listener.pid(), "that is all")?;
        assert_eq!(listener.join()?, [7]);
    }
    // A process leaves its groups when it ends.
    assert!(scheduler.group("listeners").is_empty());
    // ANCHOR_END: group

    // ANCHOR: gone
    let ended = scheduler.submit(collector(), "run", ())?;
    let pid = ended.pid();
    scheduler.cancel(pid, "at once")?;
    ended.join()?;
    let Err(error) = scheduler.send(pid, 8) else {
        return Err("nobody reads this".into());
    };
    assert_eq!(
        (error.reason, error.message),
        (Undelivered::NoSuchProcess, 8)
    );
    // ANCHOR_END: gone
    Ok(())
}
