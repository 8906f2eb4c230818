//! Dead processes leave no names and no groups.

use filch_scheduler::{Handle, ProcessHandle, Scheduler, from_fn};

use super::{RegisterError, Registry};
use crate::prelude::*;
use crate::tests::Any;

fn scheduler() -> Scheduler<Any> {
    Scheduler::<Any>::builder().workers(1).build().unwrap()
}

fn idle(scheduler: &Handle<Any>) -> ProcessHandle<Any> {
    let idle = from_fn(|_, _, _| Ok(()));
    scheduler.submit(idle, "run", ()).unwrap()
}

fn end(scheduler: &Handle<Any>, process: ProcessHandle<Any>) {
    process.terminate();
    let pid = process.pid();
    process.join().unwrap_err();
    assert!(!scheduler.lives(pid));
}

fn is_empty(names: &Registry) -> bool {
    let tables = names.read();
    tables.names.is_empty() && tables.groups.is_empty()
}

/// A failure: the remains of ended processes grow without bound.
#[test]
fn little_of_a_name_outlives_its_process() {
    let scheduler = scheduler();
    let names = scheduler.extension::<Registry>();
    for round in 0..100 {
        let process = idle(&scheduler);
        let pid = process.pid();
        for name in ["a", "b", "c", &round.to_string()] {
            assert_eq!(scheduler.register(name, pid), Ok(()));
            assert_eq!(scheduler.join_group(name, pid), Ok(()));
        }
        let taken = scheduler.register("a", pid);
        assert!(matches!(taken, Err(RegisterError::Taken { holder, .. }) if holder == pid));
        assert_eq!(scheduler.unregister("b"), Some(pid));
        assert_eq!(scheduler.whereis("c"), Some(pid));
        assert_eq!(scheduler.names(pid).len(), 3);
        end(&scheduler, process);
        assert_eq!(scheduler.whereis("a"), None);
        assert_eq!(scheduler.unregister("c"), None);
        assert!(scheduler.names(pid).is_empty() && scheduler.group("a").is_empty());
        assert!(!scheduler.leave_group("b", pid));
    }
    let registry = names;
    let tables = registry.read();
    let (names, groups) = (tables.names.capacity(), tables.groups.capacity());
    // A table may have tombstones besides, and the more the fewer bytes it compares at a time: 8 on
    // Arm, 16 on x86. A hundred names would need 112.
    assert!(names < 56 && groups < 56, "{names} names, {groups} groups");
    let members = tables.groups.get("a").map_or(0, Vec::capacity);
    assert!(members < 8, "{members} members");
    drop(tables);
    drop(scheduler.list());
    assert!(is_empty(registry), "a report sweeps");
}

#[test]
fn a_name_that_comes_and_goes_leaves_nothing() {
    let scheduler = scheduler();
    let names = scheduler.extension::<Registry>();
    let process = idle(&scheduler);
    let pid = process.pid();
    for _ in 0..100 {
        assert_eq!(scheduler.register("name", pid), Ok(()));
        assert_eq!(scheduler.unregister("name"), Some(pid));
        assert_eq!(scheduler.join_group("name", pid), Ok(()));
        assert!(scheduler.leave_group("name", pid));
    }
    assert!(is_empty(names));
    end(&scheduler, process);
}

/// A process that has ended, while its handle is kept: it gets no name, and has lost its names.
#[test]
fn an_ended_process_leaves_its_names_to_others() {
    let scheduler = scheduler();
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
}

/// Names are taken from the front, the back and the middle, and swept out when others come. A
/// failure: a name stays, or another one goes with it.
#[test]
fn names_among_many_are_taken_away() {
    const NAMES: usize = 3_000;
    let scheduler = scheduler();
    let names = scheduler.extension::<Registry>();
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
    for number in 0..NAMES {
        let all = format!("all {number}");
        assert_eq!(scheduler.register(&all, pid), Ok(()));
    }
    assert_eq!(scheduler.names(pid).len(), NAMES + 10);
    end(&scheduler, process);
}

/// Nothing was taken from the map, so that its capacity does not depend on where names lie in it. A
/// failure: the memory of the peak stays.
#[test]
fn the_memory_of_dead_names_comes_back() {
    const NAMES: usize = 3_000;
    let scheduler = scheduler();
    let names = scheduler.extension::<Registry>();
    let process = idle(&scheduler);
    for number in 0..NAMES {
        let name = number.to_string();
        assert_eq!(scheduler.register(&name, process.pid()), Ok(()));
    }
    let before = names.read().names.capacity();
    end(&scheduler, process);
    let last = idle(&scheduler);
    let is_kept = |number: &usize| {
        let late = format!("late {number}");
        assert_eq!(scheduler.register(&late, last.pid()), Ok(()));
        names.read().names.capacity() > before / 2
    };
    let given = (0..2 * before).take_while(is_kept).count();
    assert!(given < before, "room for {before} is kept");
    end(&scheduler, last);
}
