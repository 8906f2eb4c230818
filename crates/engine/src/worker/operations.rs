//! The operations of a worker for its own code, without that code's types.

use std::any::TypeId;
use std::fmt;
use std::ptr::NonNull;
use std::rc::Rc;
use std::time::Instant;

use filch_parker::Unparker;

use crate::envelope::Envelope;
use crate::error::ReceiveError;
use crate::request::Request;
use crate::route::{Route, TaskKind};
use crate::routes::Routes;
use crate::worker::bound::{Bound, Denied};
use crate::worker::inbox::Queued;
use crate::worker::public::WaitsFor;

/// The operations of a worker for its own code. [`Context`](crate::Context) adds the types.
pub(crate) trait Operations {
    fn name(&self) -> &str;

    /// Returns whether it must end.
    fn is_ending(&self) -> bool;

    /// Lets others run once. Its turn comes again soon if it `is_polled`, and otherwise when its
    /// scheduler is woken.
    fn give_way(&self, is_polled: bool);

    /// Shows the thing that it waits for.
    fn wait_for(&self, what: Option<WaitsFor>);

    /// Asks to be woken at that moment.
    fn be_awaited_at(&self, moment: Instant);

    /// Returns the unparker of its thread.
    fn unparker(&self) -> Unparker;

    /// Returns the route of a type; `ask` looks it up the first time.
    fn route(&self, id: TypeId, ask: fn(&Routes) -> Route) -> Rc<Route>;

    /// Sends it, and returns the number of schedulers reached.
    fn broadcast(&self, route: &Route, envelope: Envelope) -> usize;

    /// Returns whether it lists that kind of task.
    fn lists_task(&self, kind: TaskKind) -> bool;

    /// Runs its functions for a task of that kind, inside of another one or of its own `run`.
    fn run_nested(&self, kind: TaskKind, task: NonNull<()>) -> Result<(), Stopped>;

    /// Runs the tasks that wait for it. Returns their number.
    fn run_queued(&self) -> usize;

    /// Takes the oldest task of a kind that it receives, if there is one.
    ///
    /// # Errors
    /// [`ReceiveError::Unlisted`].
    fn receive(&self, kind: TaskKind) -> Result<Option<Queued>, ReceiveError>;

    /// Ends a received task.
    fn received(&self, queued: Queued, has_run: bool);

    /// Returns whether that would change data that it must only read.
    fn is_read_only(&self, request: &Request) -> bool;

    /// Returns the data that a function takes.
    fn bound(&self, id: TypeId, requests: Vec<Option<Request>>) -> Result<Rc<Bound>, Denied>;

    /// Calls `call` once, with pointers to the locked data; gives way until it gets the locks.
    fn lock(
        &self,
        bound: &Rc<Bound>,
        call: &mut dyn FnMut(&[*mut ()]),
    ) -> Result<Result<(), String>, Stopped>;
}

/// The worker that calls a function, for the function's parameters. Opaque.
#[derive(Clone, Copy)]
pub struct Call<'a>(pub(crate) &'a dyn Operations);

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&self.0.name()).finish()
    }
}

/// The reason why a worker's code cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The worker has no function for such tasks.
    Unlisted,
    /// The worker must end.
    Ending,
    /// Code around it has locked this data.
    Conflict(Request),
    /// The task panicked.
    Panicked,
    /// The worker is not bound to its data yet.
    Early,
}
