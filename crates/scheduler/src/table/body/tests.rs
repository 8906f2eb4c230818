//! The memory of an event, a signal and a slot; the order of a backlog.

use std::iter;

use super::{Backlog, Item, Signal};
use crate::process::event::{Cancel, Event};
use crate::protocol::Protocol;
use crate::table::slot::Slot;

enum Small {}

impl Protocol for Small {
    type Input = ();
    type Message = u64;
    type Command = u64;
    type Reply = u64;
    type Output = u64;
    type Error = String;
}

/// Signals add no byte to an event. A slot holds a small process, its exit, its queue, its limit
/// and its stats, beside the queue's first block.
#[test]
fn sizes() {
    assert_eq!(size_of::<Event<Small>>(), 32);
    assert_eq!(size_of::<Item<Small>>(), size_of::<Event<Small>>());
    assert_eq!(size_of::<Signal<Small>>(), 16);
    assert_eq!(size_of::<Slot<Small>>(), 160);
}

fn completed(tag: u64) -> Event<Small> {
    Event::Completed { tag, result: Ok(0) }
}

fn names(mut backlog: Backlog<Small>) -> Vec<String> {
    let name = |event| match event {
        Event::Completed { tag, .. } => format!("completion {tag}"),
        Event::Message(message) => format!("message {message}"),
        Event::Cancel(_) => "cancel".to_owned(),
        Event::Down(_) | Event::Exited(_) => unreachable!("nobody is watched"),
    };
    iter::from_fn(|| backlog.pop()).map(name).collect()
}

#[test]
fn an_event_that_is_put_back_is_the_first_of_its_kind() {
    let mut backlog = Backlog::new();
    backlog.push(completed(2));
    backlog.push(Event::Message(2));
    backlog.put_back(completed(1));
    backlog.put_back(Event::Message(1));
    let order = ["completion 1", "completion 2", "message 1", "message 2"];
    assert_eq!(names(backlog), order);
}

/// Completions first, then cancels from between the messages; and none that was taken already.
#[test]
fn what_ends_a_wait_is_counted() {
    let mut backlog = Backlog::new();
    backlog.push(Event::Message(1));
    assert!(!backlog.has_wait_end());
    backlog.push(Event::Cancel(Cancel::shutdown()));
    backlog.put_back(Event::Cancel(Cancel::shutdown()));
    backlog.push(completed(1));
    for is_completion in [true, false, false] {
        assert!(backlog.has_wait_end());
        let event = backlog.pop_wait_end();
        assert_eq!(
            matches!(event, Some(Event::Completed { .. })),
            is_completion
        );
    }
    assert!(!backlog.has_wait_end() && backlog.pop_wait_end().is_none());
    backlog.put_back(Event::Cancel(Cancel::shutdown()));
    assert!(backlog.has_wait_end(), "one that was put back counts again");
    assert!(matches!(backlog.pop(), Some(Event::Cancel(_))));
    assert!(!backlog.has_wait_end() && !backlog.is_empty());
    assert_eq!(names(backlog), ["message 1"]);
}
