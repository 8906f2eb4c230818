//! Row A14 at its worst: destructors that panic, twice, wherever the scheduler drops a user's
//! value. The process concerned ends, with an exit, and nobody else notices.

use std::sync::mpsc;

use filch_actors::prelude::*;
use filch_scheduler::{
    Completion, Context, Event, Events, ExitReason, InitError, Process, Protocol, Scheduler,
    StepOutput, SubmitError,
};

enum Hostile {}

/// Panics when it is dropped, if it is armed.
struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.0, "bomb");
    }
}

const DUD: Bomb = Bomb(false);
const ARMED: Bomb = Bomb(true);

enum Command {
    Complete,
    Give(mpsc::Sender<Completion<Hostile>>),
    Carry(#[expect(dead_code, reason = "it is there to be dropped")] Bomb),
}

impl Protocol for Hostile {
    type Input = ();
    type Message = Bomb;
    type Command = Command;
    type Reply = Bomb;
    type Output = (u64, Bomb);
    type Error = String;
}

type Step = dyn FnMut(Vec<Event<Hostile>>, &mut StepOutput<Hostile>) -> Result<(), String> + Send;

struct Villain {
    step: Box<Step>,
    close_panics: bool,
    drop_panics: bool,
    init_panics: bool,
}

fn villain(
    step: impl FnMut(Vec<Event<Hostile>>, &mut StepOutput<Hostile>) -> Result<(), String>
    + Send
    + 'static,
) -> Villain {
    Villain {
        step: Box::new(step),
        close_panics: false,
        drop_panics: false,
        init_panics: false,
    }
}

impl Process<Hostile> for Villain {
    fn init(
        &mut self,
        _: &Context<'_, Hostile>,
        _: &str,
        (): (),
    ) -> Result<(), InitError<Hostile>> {
        assert!(!self.init_panics, "init");
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Hostile>,
        events: Events<'_, Hostile>,
        out: &mut StepOutput<Hostile>,
    ) -> Result<(), String> {
        (self.step)(events.collect(), out)
    }

    fn close(&mut self, _: &ExitReason) {
        assert!(!self.close_panics, "close");
    }
}

impl Drop for Villain {
    fn drop(&mut self) {
        assert!(!self.drop_panics, "drop");
    }
}

/// One worker, so that any damage to it shows in the next process.
fn scheduler() -> Scheduler<Hostile> {
    Scheduler::builder()
        .workers(1)
        .handler(
            |command: Command, completion: Completion<Hostile>| match command {
                Command::Complete => completion.complete(DUD),
                Command::Give(to) => to.send(completion).unwrap(),
                Command::Carry(_) => {}
            },
        )
        .build()
        .unwrap()
}

fn assert_works(scheduler: &Scheduler<Hostile>) {
    let innocent = villain(|_, out| {
        out.done((1, DUD));
        Ok(())
    });
    assert_eq!(scheduler.execute(innocent, "", ()).unwrap().0, 1);
    assert_eq!((scheduler.live(), scheduler.processes().len()), (0, 0));
}

/// The commands of a failing step must not become the next process's, even if `close` panics, too.
#[test]
fn the_output_of_a_failed_step_dies_with_it() {
    let scheduler = scheduler();
    let mut failing = villain(|_, out| {
        out.yield_command(9, Command::Complete);
        out.yield_command(9, Command::Carry(ARMED));
        out.done((666, ARMED));
        Err("no".to_owned())
    });
    failing.close_panics = true;
    let error = scheduler.execute(failing, "", ()).err().unwrap();
    assert_eq!(error.to_string(), "the process failed: no");
    let (told, first_step) = mpsc::channel();
    let innocent = villain(move |events, out| {
        if events.is_empty() {
            told.send(()).unwrap();
            // Says nothing, and is idle therefore.
        } else {
            assert!(matches!(events[..], [Event::Message(_)]), "{events:?}");
            out.done((1, DUD));
        }
        Ok(())
    });
    let innocent = scheduler.submit(innocent, "", ()).unwrap();
    first_step.recv().unwrap();
    scheduler.send(innocent.pid(), DUD).unwrap();
    assert_eq!(innocent.join().unwrap().0, 1);
}

#[test]
fn close_and_the_destructor_both_panic() {
    let scheduler = scheduler();
    let mut process = villain(|_, out| {
        out.done((1, ARMED));
        Ok(())
    });
    (process.close_panics, process.drop_panics) = (true, true);
    let error = scheduler.execute(process, "", ()).err().unwrap();
    let error = error.to_string();
    assert!(
        error.starts_with("the process panicked: close (in process "),
        "{error}"
    );

    let mut process = villain(|_, _| Ok(()));
    (
        process.init_panics,
        process.close_panics,
        process.drop_panics,
    ) = (true, true, true);
    let Err(SubmitError::Init(error)) = scheduler.submit(process, "", ()) else {
        panic!("it was submitted")
    };
    let error = error.to_string();
    assert!(
        error.starts_with("init panicked: init (in process "),
        "{error}"
    );
    assert_works(&scheduler);
}

#[test]
fn unread_messages_that_panic() {
    let scheduler = scheduler();
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let process = villain(move |_, out| {
        entered.send(()).unwrap();
        gate.recv().unwrap();
        out.done((1, DUD));
        Ok(())
    });
    let process = scheduler.submit(process, "", ()).unwrap();
    inside.recv().unwrap();
    (0..5).for_each(|_| scheduler.send(process.pid(), ARMED).unwrap());
    go_on.send(()).unwrap();
    assert_eq!(process.join().unwrap().0, 1);
    assert_works(&scheduler);
}

/// If a bomb went off while another one, or the step, unwinds, the program would abort.
#[test]
fn events_that_a_step_leaves_and_that_panic() {
    struct Careless(bool);
    impl Process<Hostile> for Careless {
        fn init(
            &mut self,
            context: &Context<'_, Hostile>,
            _: &str,
            (): (),
        ) -> Result<(), InitError<Hostile>> {
            (0..3).for_each(|_| context.send(context.pid(), ARMED).unwrap());
            Ok(())
        }
        fn step(
            &mut self,
            _: &Context<'_, Hostile>,
            _: Events<'_, Hostile>,
            out: &mut StepOutput<Hostile>,
        ) -> Result<(), String> {
            assert!(!self.0, "step");
            out.done((1, DUD));
            Ok(())
        }
    }
    let scheduler = scheduler();
    for (process, message) in [(Careless(false), "bomb"), (Careless(true), "step")] {
        let error = scheduler.execute(process, "", ()).err().unwrap();
        let (error, told) = (
            error.to_string(),
            format!("the process panicked: {message} (in "),
        );
        assert!(error.starts_with(&told), "{error}");
    }
    assert_works(&scheduler);
}

#[test]
fn a_command_that_panics_and_no_handler() {
    let scheduler = Scheduler::<Hostile>::builder().workers(1).build().unwrap();
    let process = villain(|events, out| {
        if events.is_empty() {
            out.yield_command(0, Command::Carry(ARMED));
            out.wait();
        } else {
            out.done((1, DUD));
        }
        Ok(())
    });
    assert_eq!(scheduler.execute(process, "", ()).unwrap().0, 1);
    assert_works(&scheduler);
}

#[test]
fn a_reply_that_panics_and_that_nobody_waits_for() {
    let scheduler = scheduler();
    let (give, completions) = mpsc::channel();
    let process = villain(move |_, out| {
        out.yield_command(0, Command::Give(give.clone()));
        out.done((1, DUD));
        Ok(())
    });
    assert_eq!(scheduler.execute(process, "", ()).unwrap().0, 1);
    completions.recv().unwrap().complete(ARMED);
    assert_works(&scheduler);
}
