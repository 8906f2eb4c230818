//! A step that forgets its events (`mem::forget`) leaves them to no other step.

use filch_scheduler::{
    Context, Event, Events, InitError, Pid, Process, Protocol, Scheduler, StepOutput,
};

enum Numbers {}

impl Protocol for Numbers {
    type Input = Option<Pid>;
    type Message = u64;
    type Command = ();
    type Reply = ();
    type Output = u64;
    type Error = String;
}

/// Ends with the sum of the first messages that it gets; or forgets them, and writes to the process
/// that they name.
#[derive(Default)]
struct Reader {
    other: Option<Pid>,
}

impl Process<Numbers> for Reader {
    fn init(
        &mut self,
        _: &Context<'_, Numbers>,
        _: &str,
        other: Option<Pid>,
    ) -> Result<(), InitError<Numbers>> {
        self.other = other;
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Numbers>,
        events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        if let Some(other) = self.other {
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
    }
}

#[test]
fn the_next_process_of_the_worker_does_not_get_them() {
    let scheduler: Scheduler<Numbers> = Scheduler::builder().workers(1).build().unwrap();
    let submit = |other| scheduler.submit(Reader::default(), "run", other).unwrap();
    let reader = submit(None);
    let forgetful = submit(Some(reader.pid()));
    scheduler.send(forgetful.pid(), 1).unwrap();
    assert_eq!(reader.join().unwrap(), 2);
    scheduler.handle().terminate(forgetful.pid()).unwrap();
}
