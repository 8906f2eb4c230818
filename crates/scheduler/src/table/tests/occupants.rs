//! The view of a slot's occupants, one after another, on one thread.

use std::future::poll_fn;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::task::Context;
use std::time::{Duration, Instant};

use filch_parker::poll_until;
use filch_process_state::{LetGo, Reason, Wake};
use filch_slab::Batch;

use super::{Kept, body};
use crate::process::error::Exit;
use crate::table::body::Item;
use crate::table::{
    CLOSED, ENDS, FUTURE, IDLE_PRIORITY, LIMITED, Pinned, Placement, Slot, Table, URGENT,
};
use crate::{Activity, Event, Node, Outcome, Pid, ProcessInfo, Protocol};

type Occupant = Slot<Model>;
type Processes = Table<Model>;

enum Model {}

impl Protocol for Model {
    type Input = ();
    type Message = Arc<()>;
    type Command = ();
    type Reply = ();
    type Output = Loud;
    type Error = String;
}

/// An exit that panics when it is dropped, if it is armed.
#[derive(Debug, PartialEq)]
struct Loud(bool);

impl Drop for Loud {
    fn drop(&mut self) {
        if self.0 {
            resume_unwind(Box::new("of an exit"));
        }
    }
}

fn message(sent: Arc<()>) -> Item<Model> {
    Item::Event(Event::Message(sent))
}

fn loud(exit: Exit<Model>) -> Loud {
    match exit {
        Ok(Outcome::Output(output)) => output,
        _ => panic!("it has ended well"),
    }
}

fn pin(table: &Processes, pid: Pid) -> Option<Pinned<Model>> {
    // SAFETY: each test drops its pins before the table.
    unsafe { table.pin(pid) }
}

fn live(table: &Processes) -> Vec<Pid> {
    // SAFETY: the pins go in here.
    unsafe { table.iter() }.map(|pin| pin.pid()).collect()
}

fn info(table: &Processes, pid: Pid) -> ProcessInfo {
    let pin = pin(table, pid).unwrap();
    ProcessInfo::of(pid, pin.slot())
}

/// A process that a worker has.
fn running(table: &Processes) -> (Pid, &Occupant) {
    let slot = table.occupy(Placement::default()).unwrap();
    let pid = table.pid_of(slot);
    slot.state.submit().unwrap();
    slot.state.start().unwrap();
    (pid, slot)
}

/// Ends a process that [runs](running).
fn end(table: &Processes, pid: Pid, exit: Loud) {
    let slot = table.slot(pid.slot());
    slot.events.close();
    let mut batch = Batch::default();
    // SAFETY: this thread has made it Running, and ends it once.
    unsafe {
        table.complete(slot, drop);
        table.tell_into(slot, &mut batch, || Ok(Outcome::Output(exit)));
    }
    table.give_back(&mut batch);
}

/// Gives the handle's pin back.
fn drop_handle(table: &Processes, pid: Pid) {
    // SAFETY: each test has one handle of each process, and calls this once.
    let _ = unsafe { table.unpin(table.slot(pid.slot())) };
}

/// A slot goes from an occupant that has changed every field to one that has done nothing.
#[test]
fn nothing_of_an_occupant_is_left_for_the_next() {
    let table = Processes::new(Node::default());
    let placement = || Placement {
        policy: None,
        kind: IDLE_PRIORITY | FUTURE | CLOSED,
        bound_to: 7,
    };
    let slot = table.occupy(placement()).unwrap();
    let first = table.pid_of(slot);
    assert_eq!(slot.bound_to(), 7);
    assert!(slot.has(IDLE_PRIORITY) && slot.has(FUTURE) && slot.has(LIMITED));
    {
        let _pin = pin(&table, first).unwrap();
        assert_eq!(slot.waker_clones(), 0, "the handle is none");
    }
    slot.stats.step(5);
    slot.stats.ask(1);
    slot.stats.set_future(true);
    slot.stats.empty_step();
    slot.raise(ENDS);
    slot.raise(URGENT);
    slot.state.submit().unwrap();
    slot.state.start().unwrap();
    end(&table, first, Loud(false));
    drop_handle(&table, first);

    let slot = table.occupy(Placement::default()).unwrap();
    let second = table.pid_of(slot);
    assert_eq!(second.slot(), first.slot(), "the same slot");
    assert!(second != first && table.find(first).is_none() && table.find(second).is_some());
    assert_eq!(slot.bound_to(), 0);
    assert!(!slot.has(IDLE_PRIORITY) && !slot.has(FUTURE) && !slot.has(LIMITED));
    assert_eq!((slot.stats.steps.get(), slot.stats.messages.get()), (0, 0));
    assert_eq!(slot.stats.commands(), 0);
    assert!(!slot.stats.awaits_waker());
    assert_eq!(slot.stats.empty_steps(), 0);
    assert!(!slot.has(ENDS) && !slot.has(URGENT));
    slot.state.submit().unwrap();
    slot.state.start().unwrap();
    end(&table, second, Loud(false));
    drop_handle(&table, second);

    let slot = table.occupy(placement()).unwrap();
    assert_eq!(table.pid_of(slot).slot(), first.slot());
    assert!(slot.has(CLOSED));
    slot.replace_future();
    assert!(slot.has(IDLE_PRIORITY) && !slot.has(FUTURE));
    assert!(!slot.has(CLOSED) && !slot.has(LIMITED));
}

#[test]
fn a_body_is_there_until_it_is_dropped() {
    let table = Processes::new(Node::default());
    let slot = table.occupy(Placement::default()).unwrap();
    // SAFETY: this thread is the submitter, and then the worker; one reference at a time.
    unsafe {
        assert!(slot.life.body().is_none());
        assert_eq!(slot.life.begin(body(Kept(Arc::new(())))).allowance, 1);
        slot.life.body().unwrap().allowance += 1;
        assert_eq!(slot.life.body().unwrap().allowance, 2);
        slot.life.discard().unwrap();
        assert!(slot.life.body().is_none());
        assert!(slot.life.body().is_none());
    }
}

/// The last thread out drops an exit that nobody takes. Nobody is told of its panic, and the slot
/// is free for the next occupant.
#[test]
fn an_exit_that_panics_when_it_is_dropped_costs_no_slot() {
    let table = Processes::new(Node::default());
    for _ in 0..3 {
        let (pid, slot) = running(&table);
        assert_eq!(pid.slot(), 0);
        end(&table, pid, Loud(true));
        assert!(slot.life.is_set());
        drop_handle(&table, pid);
    }
}

#[test]
fn a_joiner_gets_the_exit_or_the_deadline() {
    let table = Processes::new(Node::default());
    let (pid, slot) = running(&table);
    let join = |deadline| {
        // SAFETY: this thread has the handle, and gets the exit once.
        let poll = |context: &mut Context<'_>| unsafe { slot.life.poll(context.waker(), false) };
        poll_until(deadline, poll_fn(poll)).map(loud)
    };
    assert_eq!(join(Some(Instant::now())), None);
    assert_eq!(
        join(Some(Instant::now() + Duration::from_millis(1))),
        None,
        "it lives"
    );
    end(&table, pid, Loud(false));
    assert_eq!(join(None), Some(Loud(false)));
    drop_handle(&table, pid);
    assert!(table.find(pid).is_none());
}

/// Checks a table's answers in each state of a process, pinned or ended.
#[test]
fn a_table_knows_who_lives() {
    let table = Processes::new(Node::default());
    let other = Processes::new(Node::default());
    other.occupy(Placement::default()).unwrap();
    assert_eq!(live(&table), []);
    let slot = table.occupy(Placement::default()).unwrap();
    let pid = table.pid_of(slot);
    assert!(pin(&table, pid).unwrap().is_live(), "its `init` runs");
    let activity = || info(&table, pid).activity;
    assert!(table.lives(pid) && !other.lives(pid) && pin(&other, pid).is_none());
    assert_eq!(activity(), Activity::Starting);
    slot.state.submit().unwrap();
    assert_eq!(activity(), Activity::Ready);
    assert!(info(&table, pid).can_run());
    slot.state.start().unwrap();
    assert_eq!(activity(), Activity::Running);
    assert_eq!(slot.state.block(), Ok(LetGo::Waits));
    assert_eq!(activity(), Activity::Blocked);
    assert!(!info(&table, pid).can_run());
    assert_eq!(slot.state.wake(Reason::Completion), Wake::Enqueue);
    slot.state.start().unwrap();
    assert_eq!(slot.state.idle(), Ok(LetGo::Waits));
    assert_eq!(activity(), Activity::Idle);
    slot.stats.set_future(true);
    assert_eq!(activity(), Activity::Pending);
    assert_eq!(slot.state.wake(Reason::Message), Wake::Enqueue);
    slot.state.start().unwrap();
    assert_eq!(live(&table), [pid]);
    let kept = pin(&table, pid).unwrap();
    assert!(kept.is_live());
    slot.events.close();
    assert!(!table.lives(pid));
    assert!(kept.is_live(), "it is being closed");
    assert_eq!(info(&table, pid).activity, Activity::Ending);
    // SAFETY: this thread has made it Running, and ends it once.
    unsafe {
        table.complete(slot, drop);
        let _ = table.unpin(slot);
    }
    assert!(!kept.is_live());
    assert_eq!(live(&table), []);
    drop_handle(&table, pid);
    assert!(table.find(pid).is_some(), "it is pinned");
    drop(kept);
    assert!(table.find(pid).is_none() && pin(&table, pid).is_none());
    assert_eq!(table.occupy(Placement::default()).unwrap().index, 0);
}

/// The process's pin, its handle's and one more: the last of them frees the slot.
#[test]
fn a_pin_that_is_shared_keeps_the_slot() {
    let table = Processes::new(Node::default());
    let (pid, slot) = running(&table);
    // SAFETY: this thread has the process.
    unsafe { slot.share_pin() };
    end(&table, pid, Loud(false));
    drop_handle(&table, pid);
    assert!(table.find(pid).is_some());
    // SAFETY: the shared one.
    let _ = unsafe { table.unpin(table.slot(pid.slot())) };
    assert!(table.find(pid).is_none());
}

/// A sender without a pin that wakes a process after its end empties the queue, and leaves the slot
/// to the handle.
#[test]
fn a_late_wake_up_does_not_vacate_the_slot() {
    let table = Processes::new(Node::default());
    let (pid, slot) = running(&table);
    end(&table, pid, Loud(false));
    for _ in 0..2 {
        assert_eq!(table.wake(slot, Reason::Message), Wake::Refused);
        let other = table.pid_of(table.occupy(Placement::default()).unwrap());
        assert_ne!(other.slot(), pid.slot());
    }
    drop_handle(&table, pid);
    let next = table.pid_of(table.occupy(Placement::default()).unwrap());
    assert_eq!(next.slot(), pid.slot());
}

#[test]
fn what_a_process_does_is_counted() {
    let table = Processes::new(Node::default());
    let (pid, slot) = running(&table);
    for messages in [0, 3, 0, 4] {
        slot.stats.step(messages);
    }
    for _ in 0..3 {
        slot.stats.empty_step();
        slot.stats.ask(1);
    }
    slot.stats.answer(0);
    slot.stats.answer(2);
    let info = info(&table, pid);
    assert_eq!((info.steps, info.messages), (4, 7));
    assert_eq!((info.empty_steps, info.outstanding), (3, 1));
    slot.stats.set_future(true);
    assert!(slot.stats.awaits_waker());
    assert_eq!(slot.stats.commands(), 1);
}

/// No wake-up has come, so nobody looks again.
#[test]
fn a_sink_that_panics_gets_the_rest() {
    let table = Processes::new(Node::default());
    let (pid, slot) = running(&table);
    for _ in 0..3 {
        assert!(slot.events.push(message(Arc::new(()))).is_ok());
    }
    slot.events.close();
    let mut left = 0;
    // SAFETY: this thread has the process, and the queue is closed.
    unsafe {
        slot.discard_events(|_| {
            left += 1;
            resume_unwind(Box::new("of the sink"));
        });
    }
    assert_eq!(left, 3);
    end(&table, pid, Loud(false));
    drop_handle(&table, pid);
}

/// Items in the queue at the end go to the sink, even after one that panics; later ones come back.
#[test]
fn what_a_process_leaves_in_its_queue() {
    let table = Processes::new(Node::default());
    let (pid, slot) = running(&table);
    let items = [(); 3].map(|()| Arc::new(()));
    for item in &items {
        let claim = table.claim(pid, slot).unwrap();
        claim.fill(message(Arc::clone(item)));
        let _ = table.wake(slot, Reason::Message);
    }
    slot.events.close();
    let mut left = 0;
    let sink = |_| {
        left += 1;
        if left == 2 {
            resume_unwind(Box::new("of the sink"));
        }
    };
    // SAFETY: this thread has made it Running, and ends it once.
    unsafe { table.complete(slot, sink) };
    assert_eq!(left, 3);
    let exit = || Ok(Outcome::Output(Loud(false)));
    // SAFETY: it has ended above.
    unsafe { table.tell_into(slot, &mut Batch::default(), exit) };
    assert!(table.claim(pid, slot).is_none());
    assert!(items.iter().all(|item| Arc::strong_count(item) == 1));
    drop_handle(&table, pid);
}

/// A failure: the user's values in the body stay for ever.
#[test]
fn a_body_that_nobody_dropped_goes_at_the_end() {
    let table = Processes::new(Node::default());
    let held = Arc::new(());
    let (pid, slot) = running(&table);
    // SAFETY: this thread is the submitter, and then the worker.
    unsafe { slot.life.begin(body(Kept(Arc::clone(&held)))) };
    end(&table, pid, Loud(false));
    assert_eq!(Arc::strong_count(&held), 1);
    drop_handle(&table, pid);
}

/// A failure: slots are lost with a batch, or come back one by one, or while a handle keeps them.
#[test]
fn slots_come_back_by_batches() {
    let table = Processes::new(Node::default());
    let mut batch = Batch::default();
    let [first, kept, third] = [(); 3].map(|()| running(&table));
    for (pid, _) in [first, third] {
        drop_handle(&table, pid);
    }
    for (_, slot) in [first, kept, third] {
        slot.events.close();
        // SAFETY: this thread has made it Running, and ends it once.
        unsafe {
            table.complete(slot, drop);
            table.tell_into(slot, &mut batch, || Ok(Outcome::Output(Loud(false))));
        }
    }
    assert!(kept.1.life.is_set(), "its handle is told");
    assert_eq!(running(&table).0.slot(), 3, "the others are kept back");
    table.give_back(&mut batch);
    let again = [(); 3].map(|()| running(&table).0.slot());
    assert_eq!(again, [2, 0, 4], "one has a handle");
    drop_handle(&table, kept.0);
    assert_eq!(running(&table).0.slot(), 1);
}
