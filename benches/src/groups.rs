//! The groups: one file each, named as on the command line.

mod deque;
mod event_queue;
mod injector;

use clap::ValueEnum;

use crate::harness::{Effort, Scenario};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Group {
    Deque,
    EventQueue,
    Injector,
}

impl Group {
    pub(crate) const ALL: &[Self] = &[Self::Deque, Self::EventQueue, Self::Injector];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Deque => "deque",
            Self::EventQueue => "event-queue",
            Self::Injector => "injector",
        }
    }

    pub(crate) fn scenarios(self, effort: Effort) -> Vec<Scenario> {
        match self {
            Self::Deque => deque::scenarios(effort),
            Self::EventQueue => event_queue::scenarios(effort),
            Self::Injector => injector::scenarios(effort),
        }
    }
}
