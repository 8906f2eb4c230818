//! A scheduler whose table or queue cannot grow refuses the process, and goes on.

use std::sync::mpsc;

use filch_actors::SpawnError;
use filch_actors::prelude::*;
use filch_scheduler::{
    Context, Events, HandedBack, InitError, NotAdmitted, Process, ProcessHandle, Protocol,
    Scheduler, StepOutput, SubmitError,
};
use hostile_tests::refusing;

enum Numbers {}

impl Protocol for Numbers {
    type Input = u32;
    type Message = ();
    type Command = ();
    type Reply = ();
    type Output = u32;
    type Error = String;
}

/// A process whose step is a closure: that gets the number of events, and says whether the process
/// is done, with its input.
struct Scripted<F> {
    step: F,
    input: u32,
}

impl<F> Process<Numbers> for Scripted<F>
where
    F: FnMut(&Context<'_, Numbers>, usize) -> bool + Send + 'static,
{
    fn init(
        &mut self,
        _: &Context<'_, Numbers>,
        _: &str,
        input: u32,
    ) -> Result<(), InitError<Numbers>> {
        self.input = input;
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Numbers>,
        events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        match (self.step)(context, events.count()) {
            true => out.done(self.input),
            false => out.idle(),
        }
        Ok(())
    }
}

/// Makes a process of that step.
fn scripted<F>(step: F) -> Scripted<F>
where
    F: FnMut(&Context<'_, Numbers>, usize) -> bool + Send + 'static,
{
    Scripted { step, input: 0 }
}

/// Makes a process that waits for a message, and is then done.
fn until_told() -> impl Process<Numbers> {
    scripted(|_, events| events > 0)
}

/// Makes a process that ends at once.
fn brief() -> impl Process<Numbers> {
    scripted(|_, _| true)
}

/// Less than a full page of the table, and more than anything else that so few processes need.
const REFUSED: usize = 32 << 10;

#[test]
fn a_submission_is_refused_and_handed_back() {
    let scheduler = Scheduler::<Numbers>::builder().workers(1).build().unwrap();
    let mut waiting = Vec::new();
    let refused = refusing(REFUSED, || {
        loop {
            let number = waiting.len() as u32;
            match scheduler.submit(until_told(), "", number) {
                Ok(process) => waiting.push(process),
                Err(SubmitError::NotAdmitted(NotAdmitted::NoMemory, refused)) => return refused,
                Err(other) => panic!("{other}"),
            }
            assert!(waiting.len() < 1000, "the table has grown without memory");
        }
    });
    let (process, input) = refused.into_inner();
    assert_eq!(input as usize, waiting.len());
    let refused = HandedBack::new((process, input));
    assert_eq!(scheduler.live(), waiting.len(), "it was counted");

    // A future is refused, too.
    let future = refusing(REFUSED, || scheduler.spawn(std::future::ready(7)));
    let Err(SpawnError::NotAdmitted(NotAdmitted::NoMemory, future)) = future else {
        panic!("there is no place for it either");
    };

    // Ends make room, and the scheduler is as before. (Its worker gives places back by the batch:
    // it may keep those of some processes that have ended.)
    let mut again = Err(SubmitError::NotAdmitted(NotAdmitted::NoMemory, refused));
    while let Err(SubmitError::NotAdmitted(NotAdmitted::NoMemory, refused)) = again {
        let ended = waiting.pop().expect("all have ended, and there is no room");
        scheduler.send(ended.pid(), ()).unwrap();
        ended.join().unwrap();
        let (process, input) = refused.into_inner();
        again = refusing(REFUSED, || scheduler.submit(process, "", input));
    }
    waiting.push(again.unwrap());

    // With memory the table grows.
    assert_eq!(
        scheduler
            .spawn(future.into_inner())
            .unwrap()
            .join()
            .unwrap(),
        7
    );
    for process in waiting {
        scheduler.send(process.pid(), ()).unwrap();
        process.join().unwrap();
    }
}

const MANY: usize = 4_000;

/// Starts a scheduler whose table has room for [`MANY`].
fn roomy() -> Scheduler<Numbers> {
    let scheduler = Scheduler::<Numbers>::builder().workers(1).build().unwrap();
    let submit = |number: u32| {
        // Otherwise the global queue keeps blocks for the most that waited there at once.
        if number.is_multiple_of(100) {
            scheduler.wait_for_standstill().unwrap();
        }
        scheduler.submit(until_told(), "", number).unwrap()
    };
    let waiting: Vec<_> = (0..MANY as u32).map(submit).collect();
    for process in waiting {
        scheduler.send(process.pid(), ()).unwrap();
        process.join().unwrap();
    }
    scheduler
}

/// Submits, while the allocator refuses `limit` bytes or more, until a submission is refused;
/// returns the number of that one.
fn until_refused(
    limit: usize,
    submit: impl Fn(u32) -> Result<ProcessHandle<Numbers>, SubmitError<Numbers>>,
) -> (u32, Vec<ProcessHandle<Numbers>>) {
    let mut submitted = Vec::with_capacity(MANY);
    let refused = refusing(limit, || {
        loop {
            match submit(submitted.len() as u32) {
                Ok(process) => submitted.push(process),
                Err(SubmitError::NotAdmitted(NotAdmitted::NoMemory, refused)) => {
                    return refused.into_inner().1;
                }
                Err(other) => panic!("{other}"),
            }
            assert!(submitted.len() < MANY, "a queue has grown without memory");
        }
    });
    (refused, submitted)
}

fn all_run(processes: Vec<ProcessHandle<Numbers>>) {
    for (number, process) in (0..).zip(processes) {
        assert_eq!(process.join().unwrap(), number);
    }
}

#[test]
fn a_submission_is_refused_if_the_global_queue_cannot_grow() {
    for idle in [false, true] {
        let scheduler = roomy();
        let (go_on, told) = mpsc::channel();
        // Keeps the worker busy.
        let blocking = scripted(move |_, _| {
            told.recv().unwrap();
            true
        });
        let blocking = scheduler.submit(blocking, "", 0).unwrap();
        // Less than a block.
        let (refused, submitted) = until_refused(1 << 10, |number| {
            let submission = scheduler.submission(brief(), "", number);
            match idle {
                true => submission.idle_priority().submit(),
                false => submission.submit(),
            }
        });
        assert_eq!(refused as usize, submitted.len());
        assert_eq!(scheduler.live(), submitted.len() + 1);
        go_on.send(()).unwrap();
        blocking.join().unwrap();
        all_run(submitted);
        // The processes that have run have made room.
        let again = refusing(1 << 10, || scheduler.submit(brief(), "", 7));
        assert_eq!(again.unwrap().join().unwrap(), 7);
    }
}

#[test]
fn a_worker_whose_deque_cannot_grow_uses_the_global_queue() {
    let scheduler = roomy();
    let (tell, told) = mpsc::channel();
    let parent = scripted(move |context, _| {
        let submit = |number| context.submit(brief(), "", number);
        tell.send(until_refused(3 << 10, submit)).unwrap();
        true
    });
    let parent = scheduler.submit(parent, "", 0).unwrap();
    let (refused, submitted) = told.recv().unwrap();
    parent.join().unwrap();
    // 512 tasks would be a ring of 4 KiB.
    assert!(submitted.len() > 256, "only {} found room", submitted.len());
    assert_eq!(refused as usize, submitted.len());
    all_run(submitted);
}
