//! The memory that a burst leaves, place by place, counted. One test, as the counter is the
//! program's.

mod counting;

use std::mem;
use std::sync::atomic::Ordering;
use std::sync::{Arc, RwLock, mpsc};

use filch_actors::prelude::*;
use filch_scheduler::{
    Completion, Context, Event, Events, ProcessHandle, Scheduler, StepOutput, from_fn,
};

use counting::{BYTES, Words};

fn submit<F>(scheduler: &Scheduler<Words>, step: F) -> ProcessHandle<Words>
where
    F: FnMut(&Context<'_, Words>, Events<'_, Words>, &mut StepOutput<Words>) -> Result<(), String>
        + Send
        + 'static,
{
    scheduler.submit(from_fn(step), "run", ()).unwrap()
}

/// Makes a step that is done.
fn done(
    _: &Context<'_, Words>,
    _: Events<'_, Words>,
    out: &mut StepOutput<Words>,
) -> Result<(), String> {
    out.done(0);
    Ok(())
}

const MANY: u64 = 100_000;

/// The memory that two workers may keep after a burst: for some events, commands, and tasks.
const FIXED: i64 = 192 * 1024;

/// Asserts that `burst` leaves no more than `most` bytes, once all that it began has ended.
fn leaves(scheduler: &Scheduler<Words>, what: &str, most: i64, burst: impl FnOnce()) {
    let before = BYTES.load(Ordering::Relaxed);
    burst();
    drop(scheduler.wait_for_standstill().unwrap());
    let left = BYTES.load(Ordering::Relaxed) - before;
    println!("{what}: {left} bytes stay");
    assert!(left <= most, "{what}: {left} bytes stay");
}

#[test]
fn little_stays_of_a_burst() {
    let (give, completions) = mpsc::channel::<Completion<Words>>();
    let handler = move |(), completion: Completion<Words>| match completion.tag() {
        0 => give.send(completion).unwrap(),
        _ => completion.complete(0),
    };
    let scheduler = Scheduler::<Words>::builder();
    let scheduler = scheduler.workers(2).handler(handler).build().unwrap();
    let this = &scheduler;

    // Slots for as many processes as the bursts below have at a time; and what the global queue
    // keeps for as many tasks: some 20 bytes for each at most.
    let slots = 192 * MANY as i64 + FIXED;
    leaves(this, "processes from outside", slots, || {
        let gate = Arc::new(RwLock::new(()));
        let closed = gate.write();
        for _ in 0..MANY {
            let gate = Arc::clone(&gate);
            drop(submit(this, move |_, _, out| {
                drop(gate.read());
                out.done(0);
                Ok(())
            }));
        }
        drop(closed);
    });

    leaves(this, "processes from one step", FIXED, || {
        drop(submit(this, |context, _, out| {
            for _ in 0..MANY / 2 {
                drop(context.submit(from_fn(done), "run", ()).unwrap());
            }
            out.done(0);
            Ok(())
        }));
    });

    for fails in [false, true] {
        leaves(this, "commands of one step", FIXED, || {
            drop(submit(this, move |_, _, out| {
                (1..=MANY).for_each(|tag| out.yield_command(tag, ()));
                out.done(0);
                if fails {
                    Err("wanted".to_owned())
                } else {
                    Ok(())
                }
            }));
        });
    }

    leaves(this, "completions of one process", FIXED, || {
        let (mut left, mut asked) = (MANY, false);
        drop(submit(this, move |_, events, out| {
            if !mem::replace(&mut asked, true) {
                (1..=MANY).for_each(|tag| out.yield_command(tag, ()));
            }
            left -= events.count() as u64;
            match left {
                0 => out.done(0),
                _ => out.wait(),
            }
            Ok(())
        }));
    });

    leaves(this, "messages behind a command", FIXED, || {
        let mut left = None;
        let process = submit(this, move |_, events, out| {
            match &mut left {
                None => out.yield_command(0, ()),
                Some(left) => *left -= events.count() as u64,
            }
            match left.get_or_insert(MANY + 1) {
                0 => out.done(0),
                left if *left == MANY + 1 => out.wait(),
                _ => out.idle(),
            }
            Ok(())
        });
        let completion = completions.recv().unwrap();
        for number in 0..MANY {
            scheduler.send(process.pid(), number).unwrap();
        }
        completion.complete(0);
        process.join().unwrap();
    });

    leaves(this, "messages to one process", FIXED, || {
        let process = submit(this, |_, events, out| {
            for event in events {
                if let Event::Message(number) = event
                    && number + 1 == MANY
                {
                    out.done(0);
                }
            }
            Ok(())
        });
        for number in 0..MANY {
            scheduler.send(process.pid(), number).unwrap();
        }
        process.join().unwrap();
    });

    leaves(this, "names", FIXED, || {
        let process = submit(this, |_, events, out| {
            if events.count() > 0 {
                out.done(0);
            }
            Ok(())
        });
        for number in 0..MANY {
            let name = format!("name {number}");
            scheduler.register(&name, process.pid()).unwrap();
        }
        for number in 0..MANY / 2 {
            scheduler.unregister(&format!("name {number}")).unwrap();
        }
        scheduler.send(process.pid(), 0).unwrap();
        process.join().unwrap();
    });

    leaves(this, "ends that one process watches", FIXED, || {
        let mut left = None;
        let process = submit(this, move |context, events, out| {
            let left = left.get_or_insert_with(|| {
                for _ in 0..MANY / 2 {
                    let child = context.submit(from_fn(done), "run", ()).unwrap();
                    let _ = context.monitor(child.pid());
                }
                MANY / 2
            });
            *left -= events.count() as u64;
            if *left == 0 {
                out.done(0);
            }
            Ok(())
        });
        process.join().unwrap();
    });
}
