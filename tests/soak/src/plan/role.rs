//! The behaviour of one process or future.

use crate::random::Random;

/// The result of its `init`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Begin {
    #[default]
    Well,
    Fails,
    Panics,
    /// It is submitted with a method that it does not have.
    UnknownMethod,
}

/// The behaviour of the hooks at its start and its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Hook {
    #[default]
    Quiet,
    Refuses,
    PanicsAtStart,
    PanicsAtEnd,
}

/// The fate of its handle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Joined at the end of the phase, after some tries before.
    #[default]
    Join,
    OnExit,
    OnExitPanics,
    /// Dropped at once.
    Forget,
}

/// The form in which it is handed over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Size {
    /// One word, in its slot.
    Small,
    /// A box that the scheduler allocates.
    #[default]
    Large,
    /// A box that the caller allocates.
    Boxed,
}

/// The faults of a phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Faults {
    /// None: no panic can be the cause of a finding.
    #[default]
    None,
    Errors,
    /// Panics everywhere, in destructors too.
    Hostile,
}

/// The behaviour of one process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Role {
    /// The seed of its own deeds, step by step.
    pub(crate) seed: u64,
    /// The number of its own deeds, before it only reads.
    pub(crate) energy: u8,
    pub(crate) faults: Faults,
    pub(crate) begin: Begin,
    pub(crate) hook: Hook,
    pub(crate) keep: Keep,
    pub(crate) size: Size,
    pub(crate) close_panics: bool,
    /// True if its destructor panics.
    pub(crate) process_bomb: bool,
    pub(crate) output_bomb: bool,
    pub(crate) traps_exits: bool,
    pub(crate) mailbox: Option<usize>,
    pub(crate) idle_priority: bool,
    pub(crate) is_bound: bool,
    /// True if it does not end when it is cancelled.
    pub(crate) is_stubborn: bool,
    /// True if it is done in its first step.
    pub(crate) is_brief: bool,
    /// The number of commands that its first step yields.
    pub(crate) asks: u32,
}

impl Role {
    pub(crate) fn draw(random: &mut Random, faults: Faults, most_energy: u8) -> Self {
        let hostile = faults == Faults::Hostile;
        let errors = faults != Faults::None;
        let mut rarely = |percent, wanted: bool| wanted && random.percent(percent);
        let (close_panics, process_bomb) = (rarely(4, hostile), rarely(3, hostile));
        let output_bomb = rarely(5, hostile);
        let (fails, panics) = (rarely(3, errors), rarely(2, hostile));
        let (unknown, refuses) = (rarely(2, errors), rarely(3, errors));
        let (hook_start, hook_end) = (rarely(2, hostile), rarely(4, hostile));
        let is_stubborn = rarely(20, errors);
        Self {
            seed: random.fork(),
            energy: random.below(u64::from(most_energy) + 1) as u8,
            faults,
            begin: match (fails, panics, unknown) {
                (true, ..) => Begin::Fails,
                (_, true, _) => Begin::Panics,
                (.., true) => Begin::UnknownMethod,
                _ => Begin::Well,
            },
            hook: match (refuses, hook_start, hook_end) {
                (true, ..) => Hook::Refuses,
                (_, true, _) => Hook::PanicsAtStart,
                (.., true) => Hook::PanicsAtEnd,
                _ => Hook::Quiet,
            },
            keep: match random.below(8) {
                0..=3 => Keep::Join,
                4 | 5 => Keep::OnExit,
                6 if hostile => Keep::OnExitPanics,
                _ => Keep::Forget,
            },
            size: random.pick(&[Size::Small, Size::Small, Size::Large, Size::Boxed]),
            close_panics,
            process_bomb,
            output_bomb,
            traps_exits: random.percent(30),
            mailbox: random.percent(15).then(|| random.within(1, 20) as usize),
            idle_priority: random.percent(8),
            is_bound: random.percent(6),
            is_stubborn,
            is_brief: random.percent(5),
            ..Self::default()
        }
    }

    /// Makes a role that only reads, and ends when it is told to.
    pub(crate) fn plain(seed: u64) -> Self {
        Self {
            seed,
            traps_exits: true,
            ..Self::default()
        }
    }

    /// Returns the method of its submission.
    pub(crate) fn method(&self) -> &'static str {
        match self.begin {
            Begin::UnknownMethod => "walk",
            _ => "run",
        }
    }

    /// Returns true if it can be accepted.
    pub(crate) fn starts(&self) -> bool {
        self.begin == Begin::Well && !matches!(self.hook, Hook::Refuses | Hook::PanicsAtStart)
    }
}

/// The end of a future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FutureEnd {
    Ready,
    Panics,
    /// It is ready, and its destructor panics.
    DestructorPanics,
}

/// The fate of a future's handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeepFuture {
    Join,
    /// Another future awaits it.
    Await,
    Forget,
}

/// The behaviour of a future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FutureRole {
    pub(crate) seed: u64,
    pub(crate) waits: u8,
    pub(crate) end: FutureEnd,
    pub(crate) output_bomb: bool,
    pub(crate) keep: KeepFuture,
}

impl FutureRole {
    pub(crate) fn draw(random: &mut Random, faults: Faults) -> Self {
        let hostile = faults == Faults::Hostile;
        Self {
            seed: random.fork(),
            waits: random.below(6) as u8,
            end: match random.below(10) {
                0 if hostile => FutureEnd::Panics,
                1 if hostile => FutureEnd::DestructorPanics,
                _ => FutureEnd::Ready,
            },
            output_bomb: hostile && random.percent(5),
            keep: random.pick(&[KeepFuture::Join, KeepFuture::Await, KeepFuture::Forget]),
        }
    }
}
