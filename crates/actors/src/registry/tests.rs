//! What is left of names, and how many look-ups they take.

use std::sync::Arc;

use filch_scheduler::{Handle, Pid, ProcessHandle, Protocol, Scheduler, from_fn};

use super::{Kind, RegisterError, Registry};
use crate::prelude::*;

enum Any {}

impl Protocol for Any {
    type Input = ();
    type Message = ();
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

fn scheduler() -> (Scheduler<Any>, Arc<Registry>) {
    let scheduler = Scheduler::<Any>::builder().workers(1).build().unwrap();
    let names = scheduler.extension::<Registry>();
    (scheduler, names)
}

fn idle(scheduler: &Handle<Any>) -> ProcessHandle<Any> {
    let idle = from_fn(|_, _, _| Ok(()));
    scheduler.submit(idle, "run", ()).unwrap()
}

fn end(scheduler: &Handle<Any>, process: ProcessHandle<Any>) {
    process.terminate();
    process.join().unwrap_err();
    scheduler.wait_for_standstill().unwrap();
}

fn is_empty(names: &Registry) -> bool {
    let tables = names.read();
    tables.names.is_empty() && tables.groups.is_empty() && tables.own.is_empty()
}

#[test]
fn nothing_of_a_name_outlives_its_process() {
    let (scheduler, names) = scheduler();
    for round in 0..100 {
        let process = idle(&scheduler);
        let pid = process.pid();
        for name in ["a", "b", "c", &round.to_string()] {
            assert_eq!(scheduler.register(name, pid), Ok(()));
        }
        let taken = scheduler.register("a", pid);
        assert!(matches!(taken, Err(RegisterError::Taken { holder, .. }) if holder == pid));
        assert_eq!(scheduler.unregister("b"), Some(pid));
        assert_eq!(scheduler.whereis("c"), Some(pid));
        assert_eq!(scheduler.info(pid).unwrap().names.len(), 3);
        end(&scheduler, process);
        assert_eq!(scheduler.whereis("a"), None);
    }
    assert!(is_empty(&names));
}

/// A failure: each name that comes and goes leaves a call with the process.
#[test]
fn a_name_that_comes_and_goes_leaves_nothing() {
    let (scheduler, names) = scheduler();
    let process = idle(&scheduler);
    let pid = process.pid();
    for _ in 0..100 {
        assert_eq!(scheduler.register("name", pid), Ok(()));
        assert_eq!(scheduler.unregister("name"), Some(pid));
    }
    assert!(is_empty(&names));
    assert_eq!(Arc::strong_count(&names), 2, "the scheduler's and this one");
    end(&scheduler, process);
}

/// A process that has ended, and whose handle is kept: it gets no name, and has lost those it had.
#[test]
fn an_ended_process_leaves_its_names_to_others() {
    let (scheduler, names) = scheduler();
    let (dead, heir) = (idle(&scheduler), idle(&scheduler));
    let (gone, heirs) = (dead.pid(), heir.pid());
    for (name, pid) in [("first", gone), ("name", gone), ("own", heirs)] {
        assert_eq!(scheduler.register(name, pid), Ok(()));
    }
    dead.terminate();
    while !dead.has_ended() {
        std::thread::yield_now();
    }
    let refused = scheduler.register("late", gone);
    assert!(matches!(refused, Err(RegisterError::NoSuchProcess(error)) if error.pid == gone));
    assert_eq!(scheduler.register("name", heirs), Ok(()));
    assert_eq!(scheduler.unregister("first"), None);
    assert_eq!(scheduler.unregister("name"), Some(heirs));
    assert_eq!(scheduler.whereis("own"), Some(heirs));
    end(&scheduler, dead);
    end(&scheduler, heir);
    assert!(is_empty(&names));
}

/// Taken away from the front, from the back and from the middle. A failure: a name is left, or
/// another one goes with it.
#[test]
fn a_name_among_many_is_taken_away() {
    const NAMES: usize = 3_000;
    let (scheduler, names) = scheduler();
    let process = idle(&scheduler);
    let pid = process.pid();
    let name = |number: usize| number.to_string();
    for number in 0..NAMES {
        assert_eq!(scheduler.register(&name(number), pid), Ok(()));
    }
    let middle_first = (0..NAMES).map(|index| (index * 1_009 + NAMES / 2) % NAMES);
    for (taken, number) in middle_first.take(NAMES - 10).enumerate() {
        assert_eq!(scheduler.unregister(&name(number)), Some(pid));
        assert_eq!(scheduler.unregister(&name(number)), None);
        assert_eq!(names.read().names.len(), NAMES - 1 - taken);
    }
    assert_eq!(scheduler.names(pid).len(), 10);
    assert!(names.read().names.capacity() < NAMES, "its memory is kept");
    end(&scheduler, process);
    assert!(is_empty(&names));
}

/// The lock comes free between the batches: what another thread does with a name meanwhile.
#[test]
fn a_name_that_finds_a_new_holder_meanwhile_is_kept() {
    let (scheduler, names) = scheduler();
    let (dead, heir) = (idle(&scheduler), idle(&scheduler));
    let (gone, heirs): (Pid, Pid) = (dead.pid(), heir.pid());
    for name in ["inherited", "taken away", "left"] {
        assert_eq!(scheduler.register(name, gone), Ok(()));
    }
    let own = names.write().own.remove(&gone).unwrap();
    let stale = Some(gone);
    assert_eq!(
        names.write().give(&"inherited".into(), heirs, stale),
        Ok(())
    );
    assert!(names.write().take(Kind::Name, "taken away", gone).is_none());
    for (kind, name) in &own.tags {
        names.write().untie(*kind, name, gone);
    }
    assert_eq!(scheduler.whereis("inherited"), Some(heirs));
    assert_eq!(scheduler.whereis("left"), None);
    assert_eq!(scheduler.unregister("inherited"), Some(heirs));
    assert!(is_empty(&names));
    end(&scheduler, dead);
    end(&scheduler, heir);
}

/// One call at the end takes the process out of all. A failure: it is left in a group, or its name
/// goes when it leaves its last group.
#[test]
fn a_process_has_one_call_for_its_names_and_groups() {
    let (scheduler, names) = scheduler();
    let process = idle(&scheduler);
    let pid = process.pid();
    assert_eq!(scheduler.register("both", pid), Ok(()));
    for group in ["both", "other"] {
        assert_eq!(scheduler.join_group(group, pid), Ok(()));
    }
    assert!(scheduler.leave_group("both", pid) && !scheduler.leave_group("both", pid));
    assert_eq!(scheduler.whereis("both"), Some(pid));
    assert_eq!(Arc::strong_count(&names), 3, "one call has it, too");
    end(&scheduler, process);
    assert!(is_empty(&names));
}
