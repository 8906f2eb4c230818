use filch_sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// What one process has done, for whoever looks. Written by the worker that has it alone: loads and stores, no RMW.
pub(crate) struct Figures {
    steps: AtomicU64,
    messages: AtomicU64,
    /// Commands yielded whose completion no step has seen yet.
    outstanding: AtomicU32,
    /// Whether it is a future that has been polled: when it waits, it waits for its waker.
    future: AtomicBool,
}

impl Figures {
    pub(crate) fn new() -> Self {
        Self {
            steps: AtomicU64::new(0),
            messages: AtomicU64::new(0),
            outstanding: AtomicU32::new(0),
            future: AtomicBool::new(false),
        }
    }

    /// For a new tenant. The caller is the submitter, before `move_in`.
    pub(crate) fn reset(&self) {
        // ORDERING: Relaxed: `move_in` releases it to whoever gets a pin. So for all four.
        self.steps.store(0, Ordering::Relaxed);
        // ORDERING: see above.
        self.messages.store(0, Ordering::Relaxed);
        // ORDERING: see above.
        self.outstanding.store(0, Ordering::Relaxed);
        // ORDERING: see above.
        self.future.store(false, Ordering::Relaxed);
    }

    /// One more step, which is given so much.
    pub(crate) fn step(&self, messages: u64, completions: u32) {
        // ORDERING: Relaxed: a figure for people, with one writer at a time, whom the state's edges order.
        let steps = self.steps.load(Ordering::Relaxed);
        // ORDERING: see above.
        self.steps.store(steps.wrapping_add(1), Ordering::Relaxed);
        if messages > 0 {
            // ORDERING: see above.
            let before = self.messages.load(Ordering::Relaxed);
            // ORDERING: see above.
            self.messages
                .store(before.wrapping_add(messages), Ordering::Relaxed);
        }
        if completions > 0 {
            let outstanding = self.outstanding() - completions;
            // ORDERING: see above.
            self.outstanding.store(outstanding, Ordering::Relaxed);
        }
    }

    /// One more command is under way.
    pub(crate) fn ask(&self) {
        let outstanding = self.outstanding() + 1;
        // ORDERING: Relaxed: see `step`.
        self.outstanding.store(outstanding, Ordering::Relaxed);
    }

    /// It is a future, or was one and has been replaced.
    pub(crate) fn set_future(&self, future: bool) {
        // ORDERING: Relaxed: see `step`.
        self.future.store(future, Ordering::Relaxed);
    }

    pub(crate) fn is_future(&self) -> bool {
        // ORDERING: Relaxed: see `step`.
        self.future.load(Ordering::Relaxed)
    }

    pub(crate) fn steps(&self) -> u64 {
        // ORDERING: Relaxed: see `step`.
        self.steps.load(Ordering::Relaxed)
    }

    pub(crate) fn messages(&self) -> u64 {
        // ORDERING: Relaxed: see `step`.
        self.messages.load(Ordering::Relaxed)
    }

    /// Exact for the worker that has the process.
    pub(crate) fn outstanding(&self) -> u32 {
        // ORDERING: Relaxed: see `step`.
        self.outstanding.load(Ordering::Relaxed)
    }
}
