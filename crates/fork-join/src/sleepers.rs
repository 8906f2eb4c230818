//! Workers that sleep in the middle of a job, because a branch of theirs was stolen and takes long.

use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

/// How many there are. Each has a flag, which it raises, and which whoever wakes it for work takes
/// down.
pub(crate) struct Sleepers(AtomicUsize);

impl Sleepers {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// The thread with that flag is about to sleep. What was published before a
    /// [`choose`](Self::choose) that does not see it, it sees after this.
    pub(crate) fn announce(&self, flag: &AtomicBool) {
        // ORDERING: Relaxed, both: by the fence. (An RMW, so that it is the newest value.)
        flag.swap(true, Ordering::Relaxed);
        self.0.fetch_add(1, Ordering::Relaxed);
        // ORDERING: SeqCst, partner of the fence in `choose`: one of the two sees the other.
        fence(Ordering::SeqCst);
    }

    /// It does not sleep any more. `false`: it was chosen to look for work meanwhile.
    pub(crate) fn withdraw(&self, flag: &AtomicBool) -> bool {
        self.take_down(flag)
    }

    /// Something was published: chooses one of the threads with these flags to look for it.
    pub(crate) fn choose<'flag>(
        &self,
        mut flags: impl Iterator<Item = &'flag AtomicBool>,
    ) -> Option<usize> {
        // ORDERING: SeqCst, partner of the fence in `announce`.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed: by the fence.
        if self.0.load(Ordering::Relaxed) == 0 {
            return None;
        }
        flags.position(|flag| self.take_down(flag))
    }

    fn take_down(&self, flag: &AtomicBool) -> bool {
        // ORDERING: Relaxed: a look that spares the line.
        if !flag.load(Ordering::Relaxed) {
            return false;
        }
        // ORDERING: Relaxed: it carries no data; an exchange, so that one thread takes it down.
        let taken = flag.swap(false, Ordering::Relaxed);
        if taken {
            // ORDERING: Relaxed: as above.
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
        taken
    }
}
