//! Workers that sleep in the middle of a job, because a branch of theirs was stolen and takes long.

use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

/// The number of sleepers. Each has a flag, which it raises, and which the thread that wakes it for
/// work takes down.
///
/// The count is never less than the number of flags that are up: it is raised before a flag, and
/// lowered after it.
#[derive(Debug, Default)]
pub struct Sleepers(AtomicUsize);

impl Sleepers {
    /// Makes a count of no sleepers.
    pub fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Announces that the thread with that flag is about to sleep. After this it sees all that was
    /// published before a fence and a [`choose`](Self::choose) that did not see it.
    pub fn announce(&self, flag: &AtomicBool) {
        // ORDERING: Relaxed: by the fence.
        self.0.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Release, for the Acquire in `take_down`: the count goes up before it goes down,
        // so that it does not tell of one sleeper less in between. (loom cannot show it: its RMWs
        // take effect in the order of the program.)
        flag.swap(true, Ordering::Release);
        // ORDERING: SeqCst, partner of the fence before `choose`: one of the two sees the other.
        fence(Ordering::SeqCst);
    }

    /// Ends the announced sleep. `false`: it was chosen to look for work meanwhile.
    #[must_use = "one that was chosen is to look for work, or to choose another"]
    pub fn withdraw(&self, flag: &AtomicBool) -> bool {
        self.take_down(flag)
    }

    /// Chooses one of the threads with these flags to look for what was published. The flags are
    /// asked for when that is there to see.
    ///
    /// The caller has passed a `SeqCst` fence since; or each thread that is about to sleep, and
    /// does not see it, has made itself known by asking for it.
    pub fn choose<'flag, Flags>(&self, flags: impl FnOnce() -> Flags) -> Option<usize>
    where
        Flags: Iterator<Item = &'flag AtomicBool>,
    {
        // ORDERING: Relaxed: by the caller's fence, or what stands in its place.
        if self.0.load(Ordering::Relaxed) == 0 {
            return None;
        }
        flags().position(|flag| self.take_down(flag))
    }

    fn take_down(&self, flag: &AtomicBool) -> bool {
        // ORDERING: Relaxed: a look that spares the line. In `choose`, as there.
        if !flag.load(Ordering::Relaxed) {
            return false;
        }
        // ORDERING: Acquire, for the Release in `announce`. (loom cannot show it, as there.) An
        // exchange, so that one thread takes it down.
        let taken = flag.swap(false, Ordering::Acquire);
        if taken {
            // ORDERING: Relaxed: after the addition, by the exchange.
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
        taken
    }
}
