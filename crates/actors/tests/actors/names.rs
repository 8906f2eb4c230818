//! Names of processes.

use std::sync::mpsc;

use filch_actors::RegisterError;
use filch_actors::prelude::*;
use filch_scheduler::{Event, InitError};

use crate::common::{Command, beginning, scheduler, start, summing, waiting};

#[test]
fn a_name_leads_to_its_process_until_it_is_taken_away_or_the_process_ends() {
    let scheduler = scheduler(2);
    let process = scheduler.submit(summing(1), "run", 0).unwrap();
    let pid = process.pid();
    assert_eq!(scheduler.whereis("clerk"), None);
    scheduler.register("clerk", pid).unwrap();
    scheduler.register("scribe", pid).unwrap();
    assert_eq!(scheduler.whereis("clerk"), Some(pid));
    assert_eq!(scheduler.unregister("scribe"), Some(pid));
    assert_eq!(scheduler.unregister("scribe"), None);
    assert_eq!(scheduler.whereis("scribe"), None);

    let other = scheduler.submit(waiting(), "run", 0).unwrap();
    let taken = scheduler.register("clerk", other.pid()).unwrap_err();
    let expected = RegisterError::Taken {
        name: "clerk".into(),
        holder: pid,
    };
    assert_eq!(taken, expected);

    let to = scheduler.whereis("clerk").unwrap();
    scheduler.send(to, (0, 6)).unwrap();
    assert_eq!(process.join().unwrap(), 6);
    assert_eq!(scheduler.whereis("clerk"), None);
    let gone = scheduler.register("clerk", pid).unwrap_err();
    assert!(matches!(gone, RegisterError::NoSuchProcess(_)), "{gone}");
    scheduler.register("clerk", other.pid()).unwrap();
    assert_eq!(scheduler.whereis("clerk"), Some(other.pid()));
}

/// A completion keeps the slot of a process that has ended. Its name is free all the same, and
/// stays with its next holder when the slot is cleaned.
#[test]
fn the_name_of_the_dead_is_free_at_once() {
    let scheduler = scheduler(1);
    let (give, completions) = mpsc::channel();
    let process = start(&scheduler, move |context, _, out| {
        context.handle().register("first", context.pid()).unwrap();
        context.handle().register("both", context.pid()).unwrap();
        out.yield_command(0, Command::Give(give.clone()));
        out.done(0);
    });
    let dead = process.pid();
    process.join().unwrap();
    let completion = completions.recv().unwrap();
    assert_eq!(scheduler.whereis("first"), None);
    assert_eq!(scheduler.whereis("both"), None);
    let heir = scheduler.submit(summing(1), "run", 0).unwrap();
    assert_ne!(heir.pid(), dead);
    scheduler.register("both", heir.pid()).unwrap();
    drop(completion); // cleans the slot
    assert_eq!(scheduler.whereis("both"), Some(heir.pid()));
    assert_eq!(scheduler.whereis("first"), None);
    assert!(matches!(
        scheduler.register("first", dead),
        Err(RegisterError::NoSuchProcess(_))
    ));
    // The slot's next occupant has no names.
    let occupant = scheduler.submit(waiting(), "run", 0).unwrap();
    assert_eq!(scheduler.unregister("first"), None);
    scheduler.send(heir.pid(), (0, 1)).unwrap();
    heir.join().unwrap();
    assert_eq!(scheduler.whereis("both"), None);
    drop(occupant);
}

/// Processes take one name in turn, on two threads, and end; a third thread looks it up all the
/// time and sends to its holder. If a message reaches any process but that holder, the holder's or
/// that one's sum shows it.
#[test]
fn one_name_for_many_in_turn() {
    const ROUNDS: u64 = 3_000;
    let scheduler = scheduler(2);
    let (done, over) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (handle, done) = (scheduler.handle(), done.clone());
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let mut me = None;
                    let process = start(&handle, move |context, events, out| {
                        let me = *me.get_or_insert(context.pid());
                        for event in events {
                            match event {
                                Event::Message((0, own)) => out.done(own),
                                Event::Message((1, bits)) => {
                                    assert_eq!(bits, me.to_bits() as u64, "another's message");
                                }
                                other => panic!("{other:?}"),
                            }
                        }
                    });
                    let pid = process.pid();
                    match handle.register("the one", pid) {
                        Ok(()) => assert_eq!(handle.whereis("the one"), Some(pid)),
                        Err(RegisterError::Taken { holder, .. }) => assert_ne!(holder, pid),
                        Err(gone) => panic!("{gone}"),
                    }
                    handle.send(pid, (0, round)).unwrap();
                    assert_eq!(process.join().unwrap(), round, "thread {thread}");
                    assert_ne!(handle.whereis("the one"), Some(pid), "it has ended");
                }
                drop(done);
            });
        }
        drop(done);
        let handle = scheduler.handle();
        scope.spawn(move || {
            while over.try_recv() == Err(mpsc::TryRecvError::Empty) {
                if let Some(pid) = handle.whereis("the one") {
                    // The low half of the number: slot and generation.
                    let _ = handle.send(pid, (1, pid.to_bits() as u64));
                }
            }
        });
    });
    assert_eq!(scheduler.whereis("the one"), None);
}

#[test]
fn a_process_that_refuses_to_start_leaves_no_name() {
    let scheduler = scheduler(1);
    let shy = beginning(|context| {
        context.handle().register("shy", context.pid()).unwrap();
        Err(InitError::Failed("not today".to_owned()))
    });
    assert!(scheduler.submit(shy, "run", 0).is_err());
    assert_eq!(scheduler.whereis("shy"), None);
    let other = scheduler.submit(waiting(), "run", 0).unwrap();
    scheduler.register("shy", other.pid()).unwrap();
}
