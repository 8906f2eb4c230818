//! The protocol without types.

use filch_actors::ExecuteError;
use filch_actors::dynamic::{Commands, Dynamic, Failure, Payload};
use filch_actors::prelude::*;
use filch_scheduler::{
    Completion, Context, Event, Events, InitError, Process, ProcessError, Scheduler, StepOutput,
};

/// Yields its input as a command, and is done with the reply.
struct Asks(Option<Payload>);

impl Process<Dynamic> for Asks {
    fn init(
        &mut self,
        _: &Context<'_, Dynamic>,
        _: &str,
        command: Payload,
    ) -> Result<(), InitError<Dynamic>> {
        self.0 = Some(command);
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Dynamic>,
        events: Events<'_, Dynamic>,
        out: &mut StepOutput<Dynamic>,
    ) -> Result<(), Failure> {
        if let Some(command) = self.0.take() {
            out.yield_command(0, command);
            out.wait();
        }
        for event in events {
            if let Event::Completed { result, .. } = event {
                out.done(result?);
            }
        }
        Ok(())
    }
}

struct Double(u32);
struct Greet(&'static str);

#[test]
fn commands_are_told_apart_by_their_types() {
    let scheduler = Scheduler::builder()
        .workers(1)
        .handler(
            Commands::new()
                .on(|Double(number), completion| completion.complete(Payload::new(2 * number)))
                .unwrap()
                .on(|Greet(name), completion| match name {
                    "" => completion.fail(Failure::msg("whom?")),
                    name => completion.complete(Payload::new(format!("hello {name}"))),
                })
                .unwrap()
                .into_handler(),
        )
        .build()
        .unwrap();
    let run = |command| match scheduler.execute(Asks(None), "", command) {
        Ok(output) => Ok(output),
        Err(ExecuteError::Process(ProcessError::Failed(error))) => Err(error.to_string()),
        Err(error) => panic!("{error}"),
    };
    assert_eq!(
        run(Payload::new(Double(4)))
            .unwrap()
            .downcast::<u32>()
            .unwrap(),
        8
    );
    let greeting = run(Payload::new(Greet("you"))).unwrap();
    assert_eq!(greeting.downcast::<String>().unwrap(), "hello you");
    assert_eq!(run(Payload::new(Greet(""))).unwrap_err(), "whom?");
    let unknown = run(Payload::new(3_i8)).unwrap_err();
    assert_eq!(unknown, "no handler for commands of type `i8`");
}

#[test]
fn a_payload_is_one_box_and_comes_back_from_a_wrong_guess() {
    assert_eq!(size_of::<Payload>(), 2 * size_of::<usize>());
    let mut payload = Payload::new(7_u64);
    assert!(payload.is::<u64>() && !payload.is::<u32>() && !payload.is::<Payload>());
    *payload.downcast_mut::<u64>().unwrap() += 1;
    assert_eq!(payload.downcast_ref::<u64>(), Some(&8));
    assert_eq!(payload.downcast_ref::<i64>(), None);
    let wrong = payload.downcast::<String>().unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "wanted a `alloc::string::String`, got a `u64`"
    );
    assert_eq!(format!("{:?}", wrong.payload), "Payload(u64)");
    assert_eq!(wrong.payload.downcast::<u64>().unwrap(), 8);
}

#[test]
fn two_closures_for_one_type_of_command_are_refused() {
    let double = |Double(_): Double, _: Completion<Dynamic>| {};
    let refused = Commands::new().on(double).unwrap().on(double).unwrap_err();
    assert!(refused.to_string().contains("Double"), "{refused}");
    // What was there is whole.
    let refused = refused.commands.on(double).unwrap_err();
    assert!(refused.commands.on(|Greet(_), _| {}).is_ok());
}
