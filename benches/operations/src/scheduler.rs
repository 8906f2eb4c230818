//! Jobs of a scheduler with one worker: processes that come and go, and a message that goes round.

use std::sync::{Arc, OnceLock};

use filch_scheduler::{
    Context, Event, Events, Handle, Pid, ProcessHandle, Protocol, Scheduler, StepOutput, from_fn,
};

use crate::job::standing_still;

/// Processes that one step of the parent submits.
const BROOD: u64 = 64;

/// Messages in a burst.
const BURST: usize = 32;

/// Processes in the ring.
const RING: usize = 16;

/// Numbers, nothing but numbers.
#[derive(Debug)]
pub(crate) enum Numbers {}

impl Protocol for Numbers {
    type Input = ();
    type Message = u64;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// A scheduler with one worker.
pub(crate) fn start<P: Protocol<Command = ()>>() -> Scheduler<P> {
    let scheduler = Scheduler::builder()
        .workers(1)
        .clock(standing_still)
        .build();
    scheduler.expect("the system gives threads")
}

/// Submits a process whose step is `step`.
fn submit<F>(scheduler: &Handle<Numbers>, mut step: F) -> ProcessHandle<Numbers>
where
    F: FnMut(&Context<'_, Numbers>, Events<'_, Numbers>, &mut StepOutput<Numbers>) + Send + 'static,
{
    let process = from_fn(
        move |context: &Context<'_, _>, events: Events<'_, _>, out: &mut StepOutput<_>| {
            step(context, events, out);
            Ok(())
        },
    );
    let submitted = scheduler.submit(process, "run", ());
    submitted.unwrap_or_else(|error| panic!("{error}"))
}

/// A process that only ends.
pub(crate) fn spawn(times: u64) {
    brood(times, |context| {
        drop(submit(context.handle(), |_, _, out| out.done(())));
    });
}

/// Each child has a message when it runs.
pub(crate) fn spawn_and_send(times: u64) {
    brood(times, |context| {
        let child = submit(context.handle(), |_, events, out| {
            // The last ones may also get a cancel.
            assert!(events.count() > 0);
            out.done(());
        });
        assert!(context.send(child.pid(), 7).is_ok());
    });
}

/// Each child has more messages when it runs than are given to one without a look at the time.
pub(crate) fn spawn_and_burst(times: u64) {
    brood(times, |context| {
        let mut left = BURST;
        let child = submit(context.handle(), move |_, events, out| {
            left = left.saturating_sub(events.count());
            if left == 0 {
                out.done(());
            } else {
                out.idle();
            }
        });
        for message in 0..BURST {
            assert!(context.send(child.pid(), message as u64).is_ok());
        }
    });
}

/// One parent submits all children from its steps, and gives way after each so that they run.
fn brood(times: u64, submit_child: impl Fn(&Context<'_, Numbers>) + Send + 'static) {
    let scheduler = start();
    let mut left = times;
    let parent = submit(&scheduler, move |context, _, out| {
        for _ in 0..left.min(BROOD) {
            submit_child(context);
        }
        left = left.saturating_sub(BROOD);
        if left == 0 {
            out.done(());
        } else {
            out.go_on();
        }
    });
    assert!(parent.join().is_ok());
}

/// The message goes round a ring of processes. It says how many hops are left.
pub(crate) fn hop(times: u64) {
    let scheduler = start();
    let ring: Arc<OnceLock<Vec<Pid>>> = Arc::default();
    let member = |place: usize| {
        let ring = Arc::clone(&ring);
        submit(&scheduler, move |context, events, out| {
            for event in events {
                match event {
                    Event::Message(0) | Event::Cancel(_) => out.done(()),
                    Event::Message(left) => {
                        let ring = ring.get().expect("it is closed before the first message");
                        // The road of a hop begins.
                        let sent = context.send(ring[(place + 1) % RING], left - 1);
                        assert!(sent.is_ok(), "the next one waits for the message");
                    }
                    _ => unreachable!("nothing else is sent"),
                }
            }
        })
    };
    let mut members: Vec<ProcessHandle<Numbers>> = (0..RING).map(member).collect();
    let pids: Vec<Pid> = members.iter().map(ProcessHandle::pid).collect();
    let first = pids[0];
    assert!(ring.set(pids).is_ok());
    // The process that has the message last is the one that ends.
    let last = members.swap_remove(times as usize % RING);
    assert!(scheduler.send(first, times).is_ok());
    assert!(last.join().is_ok());
}
