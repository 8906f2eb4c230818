//! The script of a world: settings, children, and all events that happen by themselves.

use std::time::Duration;

use filch_scheduler::ExitReason;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy as Generator, any, prop_oneof};

use crate::plan::child::{ChildId, ChildRef, Spec};
use crate::plan::event::{ChildError, Failure, Request};
use crate::plan::machine::Rules;
use crate::settings::{Backoff, Intensity, Restart, Shutdown, Strategy};

/// Nanoseconds since the supervisor began.
pub(super) type Time = u64;

/// Durations are multiples of this.
pub(super) const UNIT: Time = 1_000_000_000_000;

/// All events of a world except those of the supervisor.
#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(super) rules: Rules,
    /// The first children.
    pub(super) children: Vec<Spec<()>>,
    /// Sorted by time.
    pub(super) requests: Vec<(Time, Request<()>)>,
    pub(super) stop_at: Time,
    lives: Vec<LifeScript>,
}

/// The script of one life of a child.
#[derive(Debug, Clone, Copy)]
pub(super) struct LifeScript {
    pub(super) start_takes: Time,
    pub(super) starts: bool,
    /// Its length if nobody ends it.
    pub(super) lasts: Option<Time>,
    pub(super) ends_normally: bool,
    /// The time from a request to end until it ends.
    pub(super) heeds_after: Time,
    /// The time from its termination until it ends.
    pub(super) dies_after: Time,
}

impl LifeScript {
    /// Returns the reason of its end if nobody ends it.
    pub(super) fn reason(&self) -> ExitReason {
        if !self.starts {
            ExitReason::NotStarted("no".into())
        } else if self.ends_normally {
            ExitReason::Done
        } else {
            ExitReason::Failed("yes".into())
        }
    }
}

/// An act of a supervisor that others see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fact {
    Start(ChildId),
    AskToEnd(ChildId),
    Terminate(ChildId),
    Begun,
    Answer(usize, Result<ChildId, ChildError>),
    End(Result<(), Failure>),
}

impl Script {
    /// Returns the script of that life of that child. No two events happen at one time.
    pub(super) fn life(&self, child: ChildId, nth: usize) -> LifeScript {
        let number = child.0 * 1_000 + nth as u64;
        let life = self.lives[(child.0 as usize * 5 + nth) % self.lives.len()];
        let apart = |duration: Time, kind: u64| duration + jitter(number * 4 + kind);
        LifeScript {
            start_takes: match life.start_takes {
                0 => 0,
                takes => apart(takes, 0),
            },
            lasts: life.lasts.map(|lasts| apart(lasts, 1)),
            heeds_after: apart(life.heeds_after, 2),
            dies_after: apart(life.dies_after, 3),
            ..life
        }
    }
}

/// Scatters numbers over a tenth of the unit, as the generator `SplitMix64` does: no sum of two is
/// a third one, so no two events happen at one time.
fn jitter(number: u64) -> Time {
    let mut bits = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    1 + (bits ^ (bits >> 31)) % (UNIT / 10)
}

fn units(most: u64) -> impl Generator<Value = Time> {
    (0..=most).prop_map(|units| units * UNIT)
}

fn duration(most: u64) -> impl Generator<Value = Duration> {
    units(most).prop_map(Duration::from_nanos)
}

fn rules() -> impl Generator<Value = Rules> {
    let strategy = prop_oneof![
        Just(Strategy::OneForOne),
        Just(Strategy::OneForAll),
        Just(Strategy::RestForOne),
        Just(Strategy::Dynamic),
    ];
    let backoff = prop_oneof![
        Just(Backoff::NONE),
        (duration(6), duration(9)).prop_map(|(first, cap)| Backoff::exponential(first, cap)),
    ];
    let restarts = prop_oneof![0..6_usize, 6..40_usize];
    (strategy, restarts, duration(9), backoff).prop_map(|(strategy, restarts, period, backoff)| {
        Rules {
            strategy,
            intensity: Intensity { restarts, period },
            backoff,
        }
    })
}

fn spec() -> impl Generator<Value = Spec<()>> {
    let restart = prop_oneof![
        2 => Just(Restart::Permanent),
        1 => Just(Restart::Transient),
        1 => Just(Restart::Temporary),
    ];
    let shutdown = prop_oneof![
        2 => duration(3).prop_map(Shutdown::After),
        1 => Just(Shutdown::AtOnce),
        1 => Just(Shutdown::Unlimited),
    ];
    (option::of(0..5_u8), restart, shutdown).prop_map(|(name, restart, shutdown)| Spec {
        name: name.map(|name| name.to_string().into()),
        restart,
        shutdown,
        start: None,
        make: (),
    })
}

fn request() -> impl Generator<Value = Request<()>> {
    let which = || {
        prop_oneof![
            (0..5_u8).prop_map(|name| ChildRef::Name(name.to_string().into())),
            (0..5_u64).prop_map(|id| ChildRef::Id(ChildId(id))),
        ]
    };
    prop_oneof![
        spec().prop_map(Request::Start),
        which().prop_map(Request::End),
        which().prop_map(Request::Restart),
        which().prop_map(Request::Delete),
    ]
}

fn life() -> impl Generator<Value = LifeScript> {
    (
        prop_oneof![3 => Just(0), 1 => units(3)],
        prop_oneof![6 => Just(true), 1 => Just(false)],
        option::of(units(9)),
        any::<bool>(),
        units(4),
        units(2),
    )
        .prop_map(
            |(start_takes, starts, lasts, ends_normally, heeds_after, dies_after)| LifeScript {
                start_takes,
                starts,
                lasts,
                ends_normally,
                heeds_after,
                dies_after,
            },
        )
}

pub(super) fn script() -> impl Generator<Value = Script> {
    (
        rules(),
        vec(spec(), 0..5),
        vec((units(40), request()), 0..24),
        units(50),
        vec(life(), 1..12),
    )
        .prop_map(|(rules, mut children, mut requests, stop_at, lives)| {
            let mut names = std::collections::BTreeSet::new();
            children.retain(|spec| spec.name.is_none() || names.insert(spec.name.clone()));
            for (number, (time, _)) in requests.iter_mut().enumerate() {
                *time += jitter(900_000 + number as u64);
            }
            requests.sort_by_key(|(time, _)| *time);
            Script {
                rules,
                children,
                requests,
                stop_at: stop_at + jitter(990_000),
                lives,
            }
        })
}
