//! A look at a future that is pending.

use filch_process_state::LetGo;

use crate::api::joins::WakerId;
use crate::{Handle, Pid, Protocol};

/// What a pending future can be woken by.
pub(crate) struct Wakers {
    pub(crate) id: WakerId,
    /// Clones of its waker, wherever they are.
    pub(crate) clones: usize,
}

impl<P: Protocol> Handle<P> {
    /// The wakers of the future `pid`, if it is pending; none if it has been woken, or is being
    /// looked at by another thread.
    pub(crate) fn look_at_future(&self, pid: Pid) -> Option<Wakers> {
        let process = self.table().pin(pid)?;
        let slot = process.slot();
        slot.state.seize().ok()?;
        // Seized: as a worker's `start` would, this has made the process Running, so this thread
        // has it until it lets go.
        let wakers = Wakers {
            id: WakerId::of_future_in(slot),
            clones: slot.waker_clones(),
        };
        // A wake-up by a clone that is not counted any more is seen here: `waker_clones`.
        match slot.state.idle() {
            Ok(LetGo::Waits) => Some(wakers),
            Ok(LetGo::Enqueue) => {
                self.enqueue(slot);
                None
            }
            Err(error) => unreachable!("only the thread that has it lets go of it: {error}"),
        }
    }
}
