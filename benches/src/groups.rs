//! The groups: one file each, named as on the command line.

mod build_scheduler;
mod data_cell;
mod deque;
mod engine;
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

    /// The scenarios that are measured over the number of workers, for pools with `workers`.
    pub(crate) fn curve(self, workers: usize, effort: Effort) -> Vec<(&'static str, Scenario)> {
        match self {
            Self::Fairness => fairness::curve(workers, effort),
            Self::ForkJoin => fork_join::curve(workers, effort),
            Self::Injector => injector::curve(workers, effort).into(),
            Self::Latency => latency::curve(workers, effort),
            Self::Processors => processors::curve(workers).into(),
            Self::Scheduler => scheduler::curve(workers, effort),
            _ => Vec::new(),
        }
    }
}
