//! What a scheduler with one worker does: processes that come and go, and a message that goes
//! round.

use std::sync::{Arc, OnceLock};

use filch_scheduler::{
    Context, Event, Events, InitError, Pid, Process, ProcessHandle, Protocol, Scheduler, StepOutput,
};

/// Processes that one step of the parent submits.
const BROOD: u64 = 64;

/// Processes in the ring.
const RING: usize = 16;

/// Numbers, nothing but numbers.
#[derive(Debug)]
enum Numbers {}

impl Protocol for Numbers {
    type Input = ();
    type Message = u64;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// What is done many times by processes on one worker.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// What it is called in the table.
    pub name: &'static str,
    run: fn(&Scheduler<Numbers>, u64),
}

impl Job {
    /// All jobs, in the order of the table.
    pub const ALL: [Self; 2] = [
        Self {
            name: "scheduler: spawn, run and end a process",
            run: spawn,
        },
        Self {
            name: "scheduler: hop of a message",
            run: hop,
        },
    ];

    /// Starts a scheduler, does the job `times` times, and shuts the scheduler down.
    pub fn run(&self, times: u64) {
        let scheduler = Scheduler::builder().workers(1).build();
        let scheduler = scheduler.expect("the system gives threads");
        (self.run)(&scheduler, times);
    }
}

fn submit(
    scheduler: &Scheduler<Numbers>,
    process: impl Process<Numbers> + 'static,
) -> ProcessHandle<Numbers> {
    let submitted = scheduler.submit(process, "run", ());
    submitted.unwrap_or_else(|error| panic!("{error}"))
}

fn spawn(scheduler: &Scheduler<Numbers>, times: u64) {
    let parent = submit(scheduler, Parent { left: times });
    assert!(parent.join().is_ok());
}

/// Submits its children from its steps, and gives way so that they run.
struct Parent {
    left: u64,
}

impl Process<Numbers> for Parent {
    fn init(
        &mut self,
        _context: &Context<'_, Numbers>,
        _method: &str,
        _input: (),
    ) -> Result<(), InitError<Numbers>> {
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Numbers>,
        _events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        for _ in 0..self.left.min(BROOD) {
            let child = context.submit(Child, "run", ());
            drop(child.map_err(|error| error.to_string())?);
        }
        self.left = self.left.saturating_sub(BROOD);
        if self.left == 0 {
            out.done(());
        } else {
            out.go_on();
        }
        Ok(())
    }
}

/// Ends with its first step.
struct Child;

impl Process<Numbers> for Child {
    fn init(
        &mut self,
        _context: &Context<'_, Numbers>,
        _method: &str,
        _input: (),
    ) -> Result<(), InitError<Numbers>> {
        Ok(())
    }

    fn step(
        &mut self,
        _context: &Context<'_, Numbers>,
        _events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        out.done(());
        Ok(())
    }
}

fn hop(scheduler: &Scheduler<Numbers>, times: u64) {
    let ring = Arc::new(OnceLock::new());
    let member = |place| {
        let next = (place + 1) % RING;
        let ring = Arc::clone(&ring);
        submit(scheduler, Member { ring, next })
    };
    let mut members: Vec<ProcessHandle<Numbers>> = (0..RING).map(member).collect();
    let pids: Vec<Pid> = members.iter().map(ProcessHandle::pid).collect();
    assert!(ring.set(pids.clone()).is_ok());
    // The message goes round: the member that has it last is the one to wait for.
    let last = members.swap_remove(times as usize % RING);
    assert!(scheduler.send(pids[0], times).is_ok());
    assert!(last.join().is_ok());
}

/// Passes the message on, which says how many hops are left.
struct Member {
    ring: Arc<OnceLock<Vec<Pid>>>,
    next: usize,
}

impl Process<Numbers> for Member {
    fn init(
        &mut self,
        _context: &Context<'_, Numbers>,
        _method: &str,
        _input: (),
    ) -> Result<(), InitError<Numbers>> {
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Numbers>,
        events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        for event in events {
            match event {
                Event::Message(0) | Event::Cancel => out.done(()),
                Event::Message(left) => {
                    let ring = self
                        .ring
                        .get()
                        .expect("it is closed before the first message");
                    let sent = context.send(ring[self.next], left - 1);
                    sent.map_err(|error| error.to_string())?;
                }
                _ => unreachable!("nothing else is sent"),
            }
        }
        Ok(())
    }
}
