//! The plan of one phase.

use std::time::Duration;

use crate::plan::{Deed, Faults, Mix};
use crate::random::Random;

/// The plan of one phase.
#[derive(Debug, Clone)]
pub(crate) enum Phase {
    /// A scheduler of its own, built for the phase and ended with it.
    Own(OwnScheduler),
    /// A burst on the scheduler that stays from phase to phase.
    Resident(Burst),
    /// A crowd on that scheduler, each member of which is flooded.
    Flood(Flood),
}

/// The plan of the outside threads.
#[derive(Debug, Clone)]
pub(crate) struct Burst {
    pub(crate) mix: Mix,
    /// The deeds of each thread.
    pub(crate) scripts: Vec<Vec<Deed>>,
    pub(crate) seed: u64,
}

/// A scheduler, its burst and its end.
#[derive(Debug, Clone)]
pub(crate) struct OwnScheduler {
    pub(crate) workers: usize,
    pub(crate) limit: Option<usize>,
    pub(crate) events_per_step: usize,
    pub(crate) slice: Duration,
    pub(crate) watch_interval: Duration,
    pub(crate) blocking_threads: usize,
    pub(crate) has_handler: bool,
    pub(crate) burst: Burst,
    pub(crate) ending: Ending,
}

/// The end of a scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Ends when all processes have ended.
    Empty,
    /// Ends at rest, with processes that then are asked to end.
    AtRest(Duration),
    /// Ends at rest, by being dropped.
    Dropped,
    /// Ends that long after the burst has begun.
    InTheMidst { after: Duration, patience: Duration },
    /// The same, by being dropped.
    DroppedInTheMidst { after: Duration },
    /// Ends on one of its own workers.
    FromInside,
}

/// The number of processes, and of messages for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flood {
    pub(crate) processes: u32,
    pub(crate) messages: u32,
    /// The number of names for each.
    pub(crate) names: u32,
    /// The number of commands that each yields in one step.
    pub(crate) commands: u32,
    /// True if each is terminated with unread messages, instead of being told to finish.
    pub(crate) is_killed: bool,
    pub(crate) seed: u64,
}

/// The most processes of a flood; the resident scheduler is warmed up to as many.
pub(crate) const MOST_FLOODED: u32 = 3000;

impl Phase {
    /// Draws the plan of phase `number` of a soak with that seed.
    pub(crate) fn draw(seed: u64, number: u64) -> Self {
        let mut random = Random::new(seed ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93));
        match random.below(17) {
            0..=9 => Self::Own(OwnScheduler::draw(&mut random)),
            10..=14 => Self::Resident(Burst::draw(&mut random, false)),
            _ => Self::Flood(Flood::draw(&mut random)),
        }
    }

    /// Returns a title for people.
    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::Own(_) => "a scheduler of its own",
            Self::Resident(_) => "a burst on the resident scheduler",
            Self::Flood(_) => "a flood on the resident scheduler",
        }
    }
}

impl Burst {
    fn draw(random: &mut Random, is_own: bool) -> Self {
        let mix = Mix {
            faults: random.pick(&[
                Faults::None,
                Faults::Errors,
                Faults::Hostile,
                Faults::Hostile,
            ]),
            energy: random.within(2, 12) as u8,
            flood: random.pick(&[10, 200, 3000]),
            crowd: random.pick(&[5, 40, 300]),
            names: random.pick(&[4, 100]),
            reserves: is_own,
        };
        let scripts = (0..random.within(1, 4)).map(|_| {
            let deeds = random.within(10, 250);
            (0..deeds).map(|_| Deed::draw(random, &mix)).collect()
        });
        Self {
            scripts: scripts.collect(),
            mix,
            seed: random.fork(),
        }
    }
}

impl OwnScheduler {
    fn draw(random: &mut Random) -> Self {
        let micros = |random: &mut Random, most| Duration::from_micros(random.below(most));
        Self {
            workers: random.pick(&[1, 2, 2, 3, 4, 8]),
            limit: random.percent(25).then(|| random.within(1, 150) as usize),
            events_per_step: random.pick(&[1, 3, 64, 1024]),
            slice: micros(random, 4000),
            watch_interval: random.pick(&[Duration::ZERO, Duration::from_micros(50)]),
            blocking_threads: random.within(1, 4) as usize,
            has_handler: random.percent(92),
            burst: Burst::draw(random, true),
            ending: match random.below(10) {
                0..=2 => Ending::Empty,
                3 | 4 => Ending::AtRest(micros(random, 20_000)),
                5 => Ending::Dropped,
                6 | 7 => Ending::InTheMidst {
                    after: micros(random, 5000),
                    patience: micros(random, 20_000),
                },
                8 => Ending::DroppedInTheMidst {
                    after: micros(random, 5000),
                },
                _ => Ending::FromInside,
            },
        }
    }
}

impl Flood {
    fn draw(random: &mut Random) -> Self {
        let processes = random.pick(&[1, 20, 500, MOST_FLOODED.into()]);
        // About the same work for each phase.
        let messages = random.below(1 + 150_000 / processes).min(20_000);
        Self {
            processes: processes as u32,
            messages: messages as u32,
            names: random.pick(&[0, 1, 3]),
            commands: if random.percent(30) {
                (30_000 / processes) as u32
            } else {
                0
            },
            is_killed: random.percent(40),
            seed: random.fork(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Phase;

    #[test]
    fn the_same_seed_makes_the_same_plan_and_another_phase_another_one() {
        let plan = |seed, number| format!("{:?}", Phase::draw(seed, number));
        for number in 0..50 {
            assert_eq!(plan(3, number), plan(3, number));
        }
        assert_ne!(plan(3, 0), plan(3, 1));
        assert_ne!(plan(3, 0), plan(4, 0));
    }

    #[test]
    fn a_hundred_phases_have_every_kind() {
        let titles = (0..100).map(|number| Phase::draw(1, number).title());
        let kinds: std::collections::BTreeSet<_> = titles.collect();
        assert_eq!(kinds.len(), 3);
    }
}
