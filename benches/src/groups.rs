//! The groups: one file each, named as on the command line.

mod build_scheduler;
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
mod process_state;
mod processors;
pub(crate) mod scheduler;

use clap::ValueEnum;

use crate::harness::{Effort, Scenario};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Group {
    BuildScheduler,
    DataCell,
    Deque,
    Engine,
    EventQueue,
    Fairness,
    ForkJoin,
    Injector,
    Latency,
    OnePool,
    Parker,
    ProcessState,
    Processors,
    Scheduler,
}

impl Group {
    pub(crate) const ALL: &[Self] = &[
        Self::BuildScheduler,
        Self::DataCell,
        Self::Deque,
        Self::Engine,
        Self::EventQueue,
        Self::Fairness,
        Self::ForkJoin,
        Self::Injector,
        Self::Latency,
        Self::OnePool,
        Self::Parker,
        Self::ProcessState,
        Self::Processors,
        Self::Scheduler,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BuildScheduler => "build-scheduler",
            Self::DataCell => "data-cell",
            Self::Deque => "deque",
            Self::Engine => "engine",
            Self::EventQueue => "event-queue",
            Self::Fairness => "fairness",
            Self::ForkJoin => "fork-join",
            Self::Injector => "injector",
            Self::Latency => "latency",
            Self::OnePool => "one-pool",
            Self::Parker => "parker",
            Self::ProcessState => "process-state",
            Self::Processors => "processors",
            Self::Scheduler => "scheduler",
        }
    }

    pub(crate) fn scenarios(self, effort: Effort) -> Vec<Scenario> {
        match self {
            Self::BuildScheduler => build_scheduler::scenarios(effort),
            Self::DataCell => data_cell::scenarios(effort),
            Self::Deque => deque::scenarios(effort),
            Self::Engine => engine::scenarios(effort),
            Self::EventQueue => event_queue::scenarios(effort),
            Self::Fairness => fairness::scenarios(effort),
            Self::ForkJoin => fork_join::scenarios(effort),
            Self::Injector => injector::scenarios(effort),
            Self::Latency => latency::scenarios(effort),
            Self::OnePool => one_pool::scenarios(effort),
            Self::Parker => parker::scenarios(effort),
            Self::ProcessState => process_state::scenarios(effort),
            Self::Processors => processors::scenarios(effort),
            Self::Scheduler => scheduler::scenarios(effort),
        }
    }

    /// The scenarios that are measured over a number of workers, for so many of them, and the name
    /// of the curve that each belongs to. None, where nothing depends on such a number: on one
    /// thread, or between two.
    pub(crate) fn curve(self, workers: usize, effort: Effort) -> Vec<(String, Scenario)> {
        match self {
            Self::BuildScheduler => named(build_scheduler::curve(workers, effort)).collect(),
            Self::Deque => named(deque::curve(workers, effort)).collect(),
            Self::Engine => named(engine::curve(workers, effort)).collect(),
            Self::EventQueue => named(event_queue::curve(workers, effort)).collect(),
            Self::Fairness => fairness::curve(workers, effort),
            Self::ForkJoin => named(fork_join::curve(workers, effort)).collect(),
            Self::Injector => named(injector::curve(workers, effort)).collect(),
            Self::Latency => latency::curve(workers, effort),
            Self::OnePool => named(one_pool::curve(workers, effort)).collect(),
            Self::Processors => named(processors::curve(workers)).collect(),
            Self::Scheduler => named(scheduler::curve(workers, effort)).collect(),
            Self::DataCell | Self::Parker | Self::ProcessState => Vec::new(),
        }
    }
}

/// Scenarios that are each of a curve of a fixed name.
fn named(
    curves: impl IntoIterator<Item = (&'static str, Scenario)>,
) -> impl Iterator<Item = (String, Scenario)> {
    let curves = curves.into_iter();
    curves.map(|(curve, scenario)| (curve.to_owned(), scenario))
}

#[cfg(test)]
mod tests {
    use super::Group;
    use crate::harness::Effort;

    #[test]
    fn a_curve_has_the_same_contenders_at_each_point() {
        for &group in Group::ALL {
            let points = [1, 2, 5].map(|workers| group.curve(workers, Effort::QUICK));
            let rows = points.each_ref().map(|scenarios| {
                let rows = scenarios.iter();
                let rows = rows.map(|(kind, scenario)| (kind.as_str(), scenario.contenders()));
                rows.collect::<Vec<_>>()
            });
            assert!(rows.iter().all(|row| *row == rows[0]), "{}", group.name());
        }
    }

    #[test]
    fn the_scenarios_of_a_curve_have_names_of_their_own() {
        for &group in Group::ALL {
            let points = [1, 2, 5].map(|workers| group.curve(workers, Effort::QUICK));
            let kinds: Vec<_> = points[0].iter().map(|(kind, _)| kind.as_str()).collect();
            let names = points.iter().flatten().map(|(_, one)| one.name());
            assert_unique(kinds);
            assert_unique(names.collect());
        }
    }

    fn assert_unique(mut names: Vec<&str>) {
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None);
    }
}
