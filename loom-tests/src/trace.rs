//! One execution of a model, with everything that loom can log about it.
//!
//! loom logs through `tracing`, and only `loom::model`, which the harness does not call, installs a
//! subscriber. A log of a whole search would be millions of lines. So the search runs silently, and
//! the failed execution then runs once more with the log on. Searches are deterministic, so the
//! number of the execution finds it.

use std::cell::Cell;
use std::io::{self, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Once};

use loom::model::Builder;
use tracing_subscriber::filter::{EnvFilter, FilterExt, dynamic_filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::{fmt, registry};

/// loom's variable, which selects its messages: `trace` or `loom::rt::atomic=trace`.
const LOG: &str = "LOOM_LOG";

/// Returns true if executions should be shown.
pub(super) fn is_wanted() -> bool {
    std::env::var_os(LOG).is_some()
}

/// Returns the execution that `cargo xtask loom --execution N` asks for.
pub(super) fn asked_for() -> Option<u64> {
    let number = std::env::var("FILCH_LOOM_EXECUTION").ok()?;
    Some(number.parse().expect("FILCH_LOOM_EXECUTION is a number"))
}

/// Repeats the search of `model` up to its execution `number`, counted from 1, and shows that one.
pub(super) fn show(number: u64, mut builder: Builder, model: Arc<dyn Fn() + Send + Sync>) {
    // This is no search: it ends behind the wanted execution.
    builder.checkpoint_interval = 1;
    builder.max_permutations = usize::try_from(number + 1).ok();
    builder.log = true;
    let is_on = Arc::new(AtomicBool::new(false));
    let gate = dynamic_filter_fn({
        let is_on = Arc::clone(&is_on);
        // Spans belong to threads and begin before their execution does. The messages of
        // `loom::model` are about the search.
        move |what, _| {
            what.is_span() || is_on.load(Ordering::Relaxed) && what.target() != "loom::model"
        }
    });
    let lines = fmt::layer()
        .with_ansi(false)
        .without_time()
        .with_test_writer()
        .with_filter(EnvFilter::from_env(LOG).and(gate));
    println!("---- execution {number}:");
    let executions = AtomicU64::new(0);
    let run = panic::AssertUnwindSafe(|| {
        builder.check(move || {
            let current = executions.fetch_add(1, Ordering::Relaxed) + 1;
            is_on.store(current == number, Ordering::Relaxed);
            model();
        });
    });
    let shown =
        tracing::subscriber::with_default(registry().with(lines), || panic::catch_unwind(run));
    let end = if shown.is_err() { "failed" } else { "ended" };
    println!("---- execution {number} has {end}");
}

thread_local! {
    /// The current execution of this thread; 0 outside of a search. A search and all threads of its
    /// model run on one system thread.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
}

/// Notes that execution `number` begins, so that its first panic can name it: a process that aborts
/// has no later chance.
pub(super) fn begin(number: u64) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let payload = panic.payload();
            // loom also unwinds a finished thread, by a payload that is no message.
            let has_failed = payload.is::<&str>() || payload.is::<String>();
            let number = if has_failed { CURRENT.take() } else { 0 };
            if number > 0 {
                // Not `eprintln!`, which panics if it cannot write.
                let _ = writeln!(io::stderr(), "execution {number} fails:");
            }
            usual(panic);
        }));
    });
    CURRENT.set(number);
}

/// Notes that the search is over.
pub(super) fn end() {
    CURRENT.set(0);
}
