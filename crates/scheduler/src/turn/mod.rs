//! The turn of a process, from a run queue back to one: how the primitives work together.
//!
//! A worker pops the process from its deque, takes it from the injector, or steals it from another
//! worker's deque; one that finds none parks. All that is the processors', which call
//! `Driver::run`. `driver` is the rest, from top to bottom:
//!
//! | | with |
//! |---|---|
//! | `start`: the process is Running, and this worker's | the state word |
//! | `end_asked`; `fill` the inbox, up to its allowance; carry out signals | the event queue |
//! | `take_step`, the user's; `settle`: hand its commands to the handler | |
//! | `let_go`: it waits, unless an event has come meanwhile; or `end` | the state word |
//! | if it is Ready again, `enqueue`, to be run next, or `requeue`, behind the others | the deque, the injector |
//!
//! The end of all turns is in `shutdown`; a test takes a step by `testing`, without a worker.
//!
//! A sender does its half in `Handle::send`: it pushes into the event queue, wakes by the state
//! word, and enqueues a process that has become Ready, which unparks a worker if one is idle.

#[expect(unsafe_code, reason = "shrinks the queue of the process that it has")]
pub(crate) mod budget;
#[expect(unsafe_code, reason = "touches the body of the process that it has")]
pub(crate) mod driver;
#[expect(unsafe_code, reason = "ends the process that it has")]
pub(crate) mod end;
#[expect(unsafe_code, reason = "uses the mailbox of the process that it has")]
pub(crate) mod inbox;
pub(crate) mod shutdown;
pub mod testing;
