//! The groups: one file each, named as on the command line.

pub(crate) mod build_scheduler;
mod data_cell;
mod deque;
pub(crate) mod engine;
mod event_queue;
mod fairness;
pub(crate) mod fork_join;
mod injector;
mod latency;
mod one_pool;
mod parker;
mod processors;
mod rayon;
pub(crate) mod scheduler;
mod timers;

use crate::harness::Scenario;

/// A name, and the scenarios.
pub(crate) type Group = (&'static str, fn() -> Vec<Scenario>);

pub(crate) const ALL: &[Group] = &[
    ("build-scheduler", build_scheduler::scenarios),
    ("data-cell", data_cell::scenarios),
    ("deque", deque::scenarios),
    ("engine", engine::scenarios),
    ("event-queue", event_queue::scenarios),
    ("fairness", fairness::scenarios),
    ("fork-join", fork_join::scenarios),
    ("injector", injector::scenarios),
    ("latency", latency::scenarios),
    ("one-pool", one_pool::scenarios),
    ("parker", parker::scenarios),
    ("processors", processors::scenarios),
    ("rayon", rayon::scenarios),
    ("scheduler", scheduler::scenarios),
    ("timers", timers::scenarios),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ALL;
    use crate::work::ask_for;

    #[test]
    fn scenarios_have_names_of_their_own() {
        for workers in [0, 1, 2, 5] {
            ask_for(workers);
            for (group, scenarios) in ALL {
                let mut names = BTreeSet::new();
                for scenario in scenarios() {
                    let is_new = names.insert(scenario.name().to_owned());
                    assert!(is_new, "{group}: {}", scenario.name());
                }
            }
        }
        ask_for(0);
    }
}
