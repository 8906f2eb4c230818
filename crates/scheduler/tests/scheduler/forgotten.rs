//! A step that forgets its events (`mem::forget`) leaves them to no other step.

use filch_scheduler::{Context, Event, Events, Pid, Process, Protocol, Scheduler, from_fn};

enum Numbers {}

impl Protocol for Numbers {
    type Input = ();
    type Message = u64;
    type Command = ();
    type Reply = ();
    type Output = u64;
    type Error = String;
}

/// Makes a process that ends with the sum of the first messages that it gets; or forgets them, and
/// writes to that other process.
fn reader(other: Option<Pid>) -> impl Process<Numbers> + 'static {
    from_fn(
        move |context: &Context<'_, Numbers>, events: Events<'_, Numbers>, out| {
            if let Some(other) = other {
                if events.len() > 0 {
                    context.send(other, 2).unwrap();
                }
                std::mem::forget(events);
                return Ok(());
            }
            let messages = events.filter_map(|event| match event {
                Event::Message(message) => Some(message),
                _ => None,
            });
            let sum = messages.sum();
            if sum > 0 {
                out.done(sum);
            }
            Ok(())
        },
    )
}

#[test]
fn the_next_process_of_the_worker_does_not_get_them() {
    let scheduler: Scheduler<Numbers> = Scheduler::builder().workers(1).build().unwrap();
    let submit = |other| scheduler.submit(reader(other), "run", ()).unwrap();
    let reader = submit(None);
    let forgetful = submit(Some(reader.pid()));
    scheduler.send(forgetful.pid(), 1).unwrap();
    assert_eq!(reader.join().unwrap(), 2);
    scheduler.handle().terminate(forgetful.pid()).unwrap();
}
