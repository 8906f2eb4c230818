//! A program's handlers for a thread's start and exit, and for a panic that nobody waits for.

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
    /// Makes a pool call them. A panic of the other two goes to the panic handler.
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

/// Gives a panic to its handler. If there is none, or it panics, the process is aborted.
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
