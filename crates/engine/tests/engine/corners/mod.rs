//! Weak points, and the tests that would show a break.

mod ends;
mod reports;
mod shapes;
mod tasks;

use filch_engine::{Engine, WaitsFor};

#[derive(Clone, Debug, PartialEq)]
struct Ping(u32);

#[derive(Clone, Debug, PartialEq)]
struct Pong(u32);

/// Returns what the worker waits for, from the report.
fn waits_for(engine: &Engine, name: &str) -> Option<WaitsFor> {
    let report = engine.report();
    let mut workers = report
        .schedulers
        .iter()
        .flat_map(|scheduler| &scheduler.workers);
    workers
        .find(|worker| worker.name == name)
        .unwrap()
        .waits_for
}
