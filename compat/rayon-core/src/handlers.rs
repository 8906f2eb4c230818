//! What a program has to say when a thread starts, exits, or carries a panic that nobody waits for.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;

use filch_fork_join::Config;

type Payload = Box<dyn Any + Send>;
type PanicHandler = Box<dyn Fn(Payload) + Send + Sync>;
type ThreadHandler = Box<dyn Fn(usize) + Send + Sync>;

/// The handlers of a pool.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) panic: Option<PanicHandler>,
    pub(crate) start: Option<ThreadHandler>,
    pub(crate) exit: Option<ThreadHandler>,
}

impl Handlers {
    /// Has a pool call them. What the other two say in a panic goes to the one for panics.
    pub(crate) fn install(self, mut config: Config) -> Config {
        if let Some(start) = self.start {
            config = config.on_start(start);
        }
        if let Some(exit) = self.exit {
            config = config.on_exit(exit);
        }
        config.on_panic(move |payload| panicked(self.panic.as_ref(), payload))
    }
}

/// Gives a panic to its handler. The process is aborted if there is none, or it panics.
fn panicked(handler: Option<&PanicHandler>, payload: Payload) {
    let is_told = handler.is_some_and(|handler| {
        let told = catch_unwind(AssertUnwindSafe(|| handler(payload)));
        told.is_ok()
    });
    if !is_told {
        eprintln!("rayon: a panic that nobody waits for and no handler takes; aborting");
        process::abort();
    }
}
