//! How a process ended, from the worker that ends it to whoever joins it.

use std::fmt;
use std::ptr;
use std::time::{Duration, Instant};

use filch_parker::{Parker, Unparker};
use filch_sync::atomic::{AtomicPtr, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::contain::{contain, dispose};
use crate::{Handle, JoinError, Pid, ProcessError, Protocol};

/// How a process ended, once it has. Without an output if it was a future: that has an output of its own type, and a place of
/// its own for it.
pub(crate) type Exit<P> = Result<Option<<P as Protocol>::Output>, ProcessError<P>>;

/// The exit of a process that is no future.
fn with_output<P: Protocol>(exit: Exit<P>) -> Result<P::Output, ProcessError<P>> {
    exit.map(|output| output.unwrap_or_else(|| unreachable!("a future has another handle")))
}

/// Who is told of the end.
enum Waiter<P: Protocol> {
    /// A thread, which then takes the exit.
    Thread(Unparker),
    /// Nobody waits: this is called with the exit.
    Call(Box<dyn FnOnce(Exit<P>) + Send>),
}

/// Where the worker that ends a process leaves its exit. A part of the process's slot.
///
/// | `word` | `exit` belongs to |
/// |---|---|
/// | null: the process lives, nobody waits | the worker that ends the process |
/// | a [`Waiter`]'s address: it lives, and somebody is to be told of its end | the same |
/// | [`ended`]: it has ended | whoever has the process's handle, or has left a call in its place; after that one, the last to leave the slot |
pub(crate) struct ExitCell<P: Protocol> {
    word: AtomicPtr<Waiter<P>>,
    exit: UnsafeCell<Option<Exit<P>>>,
}

/// The word of a process that has ended: no waiter lies at an odd address.
fn ended<P: Protocol>() -> *mut Waiter<P> {
    ptr::without_provenance_mut(1)
}

impl<P: Protocol> ExitCell<P> {
    pub(crate) fn new() -> Self {
        Self {
            word: AtomicPtr::new(ptr::null_mut()),
            exit: UnsafeCell::new(None),
        }
    }

    /// The process has ended like that. Wakes whoever waits for it, or calls what is to be called.
    ///
    /// # Safety
    /// The caller ends the process, and has not said so before; it has a pin on the slot.
    pub(crate) unsafe fn set(&self, exit: Exit<P>) {
        // SAFETY: the process lives by the word, and it is the caller who ends it (contract).
        self.exit.with_mut(|cell| unsafe { *cell = Some(exit) });
        // ORDERING: Release, partner of the Acquires in `await_end` and `is_set`: whoever sees the end sees the exit. Acquire,
        // partner of the Release in `await_end`: the waiter is all there.
        let waiter = self.word.swap(ended(), Ordering::AcqRel);
        if waiter.is_null() {
            return;
        }
        // SAFETY: the word was not `ended` yet, so this is the box that `await_end` has put there; it is taken out once.
        match *unsafe { Box::from_raw(waiter) } {
            Waiter::Thread(unparker) => {
                let _ = unparker.unpark();
            }
            Waiter::Call(call) => {
                // SAFETY: the process has ended; the handle is used up, and has left the exit to the call.
                let exit = unsafe { self.take() };
                // A panic in it has nobody to be told to: see `ProcessHandle::on_exit`.
                let _ = contain(|| call(exit));
            }
        }
    }

    /// Waits for the end, until `deadline` if there is one. Blocking. `None` if the deadline came first.
    ///
    /// # Safety
    /// The caller has the process's handle, and calls neither this nor `watch` when it has got the exit.
    pub(crate) unsafe fn wait(&self, deadline: Option<Instant>) -> Option<Exit<P>> {
        if !self.is_set() {
            let parker = Parker::new();
            if let Ok(waiter) = self.await_end(Waiter::Thread(parker.unparker())) {
                while !self.is_set() {
                    let woken = match deadline {
                        Some(deadline) => parker.park_deadline(deadline),
                        None => {
                            parker.park();
                            true
                        }
                    };
                    if !woken && self.withdraw(waiter) {
                        return None;
                    }
                }
            }
        }
        // SAFETY: the process has ended, which was acquired; the exit is the handle's, which the caller has.
        Some(unsafe { self.take() })
    }

    /// Has `call` called at the end: on the worker that ends the process, or here, if it has ended.
    ///
    /// # Safety
    /// As for `wait`, and the caller gives the handle up.
    pub(crate) unsafe fn watch(&self, call: Box<dyn FnOnce(Exit<P>) + Send>) {
        if let Err(Waiter::Call(call)) = self.await_end(Waiter::Call(call)) {
            // SAFETY: the process has ended, which was acquired; the exit is the handle's, which the caller has.
            call(unsafe { self.take() });
        }
    }

    /// Leaves word for the end. Where it lies, for `withdraw`.
    ///
    /// # Errors
    /// The waiter, if the process has ended.
    fn await_end(&self, waiter: Waiter<P>) -> Result<*mut Waiter<P>, Waiter<P>> {
        let waiter = Box::into_raw(Box::new(waiter));
        // ORDERING: Release, partner of the swap in `set`, which will read the box. On failure Acquire: as in `is_set`.
        let waits = self.word.compare_exchange(
            ptr::null_mut(),
            waiter,
            Ordering::Release,
            Ordering::Acquire,
        );
        match waits {
            Ok(_) => Ok(waiter),
            // SAFETY: made above, and the word never held it.
            Err(_) => Err(*unsafe { Box::from_raw(waiter) }),
        }
    }

    /// Takes back the word that was left, unless the process has ended.
    fn withdraw(&self, waiter: *mut Waiter<P>) -> bool {
        // ORDERING: Relaxed on success: the box is as this thread has made it. On failure Relaxed: the caller looks again.
        let withdrawn = self.word.compare_exchange(
            waiter,
            ptr::null_mut(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        if withdrawn.is_ok() {
            // SAFETY: it was `await_end`'s box, and now the word does not hold it any more.
            drop(unsafe { Box::from_raw(waiter) });
        }
        withdrawn.is_ok()
    }

    /// Takes the exit out.
    ///
    /// # Safety
    /// The process has ended, which the caller has acquired, and the exit is the caller's.
    unsafe fn take(&self) -> Exit<P> {
        // SAFETY: the caller's.
        let exit = self.exit.with_mut(|cell| unsafe { (*cell).take() });
        exit.unwrap_or_else(|| unreachable!("one handle takes the exit, once"))
    }

    pub(crate) fn is_set(&self) -> bool {
        // ORDERING: Acquire, partner of the Release in `set`.
        self.word.load(Ordering::Acquire) == ended()
    }

    /// Makes the cell ready for the next tenant, and drops what nobody has taken.
    ///
    /// # Safety
    /// The caller is the last one out of the slot.
    pub(crate) unsafe fn clear(&self) {
        // SAFETY: no handle is left, nor the worker that ended the process: theirs were pins, which the caller has acquired.
        if let Some(exit) = self.exit.with_mut(|cell| unsafe { (*cell).take() }) {
            dispose(exit);
        }
        // ORDERING: Relaxed: published with the slot, by the slab.
        self.word.store(ptr::null_mut(), Ordering::Relaxed);
    }
}

/// A submitted process, to whoever wants to know how it ends. Dropping it lets the process go on unwatched.
///
/// It keeps the process's place in the table, where the exit is left, until it is dropped.
#[must_use = "dropping it is fine, but says that nobody will learn how the process ended"]
pub struct ProcessHandle<P: Protocol> {
    /// Of a process on whose slot this holds a pin.
    pid: Pid,
    scheduler: Handle<P>,
}

impl<P: Protocol> ProcessHandle<P> {
    /// Takes over a pin on the process's slot. There is one handle to a process.
    pub(crate) fn new(pid: Pid, scheduler: Handle<P>) -> Self {
        Self { pid, scheduler }
    }

    /// The process's PID.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether the process has ended, so that [`join`](Self::join) would not wait.
    pub fn has_ended(&self) -> bool {
        self.exit().is_set()
    }

    /// Waits until the process has ended, and says how. Blocking.
    ///
    /// What the process did, in whatever thread, happens before the return.
    ///
    /// # Errors
    /// [`JoinError::Process`] if it did not end well; [`JoinError::CalledFromInside`], with the handle, on a worker of the
    /// same scheduler when the process has not [ended](Self::has_ended): the processes behind it would be kept waiting.
    /// A process that wants to know how another one ends has it told by [`on_exit`](Self::on_exit), or yields a command that
    /// is completed by it: see [`Completion::execute`](crate::Completion::execute).
    pub fn join(self) -> Result<P::Output, JoinError<P>> {
        self.join_until(None)
    }

    /// As [`join`](Self::join), if the process has ended. Never waits.
    ///
    /// # Errors
    /// [`JoinError::NotYet`], with the handle, if it has not; [`JoinError::Process`] if it did not end well.
    pub fn try_join(self) -> Result<P::Output, JoinError<P>> {
        if self.has_ended() {
            self.join_until(None)
        } else {
            Err(JoinError::NotYet(self))
        }
    }

    /// As [`join`](Self::join), for at most that long.
    ///
    /// # Errors
    /// [`JoinError::NotYet`], with the handle, if the process had not ended by then; else as [`join`](Self::join).
    pub fn join_timeout(self, timeout: Duration) -> Result<P::Output, JoinError<P>> {
        // What the clock cannot express is for ever.
        self.join_until(Instant::now().checked_add(timeout))
    }

    /// As [`join`](Self::join), until the `deadline` at most.
    ///
    /// # Errors
    /// As [`join_timeout`](Self::join_timeout).
    pub fn join_deadline(self, deadline: Instant) -> Result<P::Output, JoinError<P>> {
        self.join_until(Some(deadline))
    }

    /// Has `call` called with the exit, once, when the process has ended: on the worker that ends it, or here and now, if it
    /// has ended already. Something short: the worker runs no process meanwhile, and a shutdown waits for it. A panic in it on the
    /// worker is contained, and lost; here and now, it is the caller's.
    ///
    /// What the process did happens before the call.
    pub fn on_exit(self, call: impl FnOnce(Result<P::Output, ProcessError<P>>) + Send + 'static) {
        self.watch(|exit| call(with_output(exit)));
    }

    /// [`on_exit`](Self::on_exit), for the process of a future too.
    pub(crate) fn watch(self, watcher: impl FnOnce(Exit<P>) + Send + 'static) {
        // SAFETY: this is the handle, and it is used up.
        unsafe { self.exit().watch(Box::new(watcher)) };
    }

    fn join_until(self, deadline: Option<Instant>) -> Result<P::Output, JoinError<P>> {
        let exit = self.exit_until(deadline)?;
        with_output(exit).map_err(JoinError::Process)
    }

    /// [`join_until`](Self::join_until), for the process of a future too.
    pub(crate) fn exit_until(self, deadline: Option<Instant>) -> Result<Exit<P>, JoinError<P>> {
        if self.scheduler.is_worker() && !self.has_ended() {
            return Err(JoinError::CalledFromInside(self));
        }
        // SAFETY: this is the handle, and unless the exit is not there it is used up.
        unsafe { self.exit().wait(deadline) }.ok_or(JoinError::NotYet(self))
    }

    fn exit(&self) -> &ExitCell<P> {
        &self.scheduler.table().slot(self.pid.slot).exit
    }
}

impl<P: Protocol> Drop for ProcessHandle<P> {
    fn drop(&mut self) {
        self.scheduler.table().unpin(self.pid.slot);
    }
}

impl<P: Protocol> fmt::Debug for ProcessHandle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessHandle")
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}
