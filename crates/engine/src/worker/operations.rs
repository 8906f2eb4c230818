//! What a worker offers to its own code, whatever types that has.

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

/// What a worker offers to its own code. [`Context`](crate::Context) adds the types.
pub(crate) trait Operations {
    fn name(&self) -> &str;

    /// Whether it is to end.
    fn is_ending(&self) -> bool;

    /// Lets others run once. It is asked again soon if it `is_polled`, and otherwise when its
    /// scheduler is woken.
    fn give_way(&self, is_polled: bool);

    /// Shows what it waits for.
    fn wait_for(&self, what: Option<WaitsFor>);

    /// Is to be woken at that moment.
    fn be_awaited_at(&self, moment: Instant);

    /// Wakes the thread that it runs on.
    fn unparker(&self) -> Unparker;

    /// The route of a type, which `ask` finds if it was not asked for before.
    fn route(&self, id: TypeId, ask: fn(&Routes) -> Route) -> Rc<Route>;

    /// To how many schedulers it went.
    fn broadcast(&self, route: &Route, envelope: Envelope) -> usize;

    /// Whether it lists that kind of task.
    fn lists_task(&self, kind: TaskKind) -> bool;

    /// Runs its functions for a task of that kind, inside of another one or of its own `run`.
    fn run_nested(&self, kind: TaskKind, task: NonNull<()>) -> Result<(), Stopped>;

    /// Runs the tasks that wait for it. How many.
    fn run_queued(&self) -> usize;

    /// The oldest task of a kind that it receives, if there is one.
    ///
    /// # Errors
    /// [`ReceiveError::Unlisted`].
    fn receive(&self, kind: TaskKind) -> Result<Option<Queued>, ReceiveError>;

    /// It is done with that.
    fn received(&self, queued: Queued, has_run: bool);

    /// Whether it lists that, and may not change it.
    fn is_read_only(&self, request: &Request) -> bool;

    /// Where what a function takes lies.
    fn bound(&self, id: TypeId, requests: Vec<Option<Request>>) -> Result<Rc<Bound>, Denied>;

    /// Calls `call` once, with where it lies, locked; gives way until it can be.
    fn lock(
        &self,
        bound: &Rc<Bound>,
        call: &mut dyn FnMut(&[*mut ()]),
    ) -> Result<Result<(), String>, Stopped>;
}

/// The worker that calls a function, as the function's parameters find it. Opaque.
#[derive(Clone, Copy)]
pub struct Call<'a>(pub(crate) &'a dyn Operations);

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&self.0.name()).finish()
    }
}

/// Why a worker's code cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The worker has no function for such tasks.
    Unlisted,
    /// The worker is to end.
    Ending,
    /// Code around it has locked that.
    Conflict(Request),
    /// The task panicked.
    Panicked,
    /// The worker is not bound to its data yet.
    Early,
}
