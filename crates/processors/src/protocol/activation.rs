//! Activation of processors: an inactive one may not run, and its permit lies under the lock.

use filch_sync::atomic::Ordering;

use crate::protocol::state::coordinator::Coordinator;
use crate::protocol::state::permit::Permit;
use crate::protocol::state::synced::Synced;

impl Coordinator {
    /// Makes an inactive processor one that runs.
    pub(crate) fn activate(&self, processor: usize, synced: &mut Synced) -> Option<Permit> {
        let permit = synced.inactive[processor].take()?;
        // ORDERING: Relaxed: released with the change of the idle word, and by the first time that
        // it goes idle.
        self.activated.fetch_add(1, Ordering::Relaxed);
        // Before anybody can run on it: it is awake without having been popped.
        self.idle.invalidate();
        Some(permit)
    }

    /// Makes a processor inactive. Its deque must be empty.
    pub(crate) fn deactivate(&self, permit: Permit, synced: &mut Synced) {
        let processor = permit.processor();
        synced.inactive[processor] = Some(permit);
        // ORDERING: Release, partner of the Acquire in `quiescent_snapshot`: a thread that does not
        // count it any more sees what it left in the global queue, and that its machine went away.
        self.activated.fetch_sub(1, Ordering::Release);
    }
}
