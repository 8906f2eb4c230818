//! The deeds of an outside thread, or of a process in its step.

use crate::account::Word;
use crate::plan::{Faults, FutureRole, Role};
use crate::random::Random;

/// A process to act on: the number of processes at that moment decides which one.
pub(crate) type Peer = u64;

/// One thing to do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Deed {
    Submit(Role),
    Crowd {
        role: Role,
        count: u16,
    },
    Spawn(FutureRole),
    Send {
        to: Peer,
        word: Word,
        is_bomb: bool,
    },
    Flood {
        to: Peer,
        count: u16,
    },
    SendAt {
        to: Peer,
        micros: u64,
    },
    Every {
        to: Peer,
        micros: u64,
    },
    Terminate(Peer),
    Monitor {
        by: Peer,
        of: Peer,
    },
    Demonitor(u64),
    Link {
        one: Peer,
        other: Peer,
    },
    Unlink(u64),
    Name {
        of: Peer,
        name: u16,
    },
    Unname {
        name: u16,
    },
    Upgrade {
        of: Peer,
        role: Role,
    },
    /// Answers completions on the shelf.
    Answer {
        count: u8,
        seed: u64,
    },
    Abort(u64),
    Wake,
    TryJoin(u64),
    Look(Peer),
    Block {
        micros: u64,
    },
    Reserve,
    Pause {
        micros: u64,
    },
}

/// The deeds of which a script is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mix {
    pub(crate) faults: Faults,
    /// The number of things that processes do of their own.
    pub(crate) energy: u8,
    /// The largest flood, and the largest crowd.
    pub(crate) flood: u16,
    pub(crate) crowd: u16,
    /// The number of available names.
    pub(crate) names: u16,
    /// True if the scheduler can reserve threads: the resident one cannot.
    pub(crate) reserves: bool,
}

impl Deed {
    /// Draws a deed of an outside thread.
    pub(crate) fn draw(random: &mut Random, mix: &Mix) -> Self {
        let Mix { faults, energy, .. } = *mix;
        match random.below(100) {
            0..=13 => Self::Submit(Role::draw(random, faults, energy)),
            14 | 15 => Self::Crowd {
                role: Role::draw(random, faults, energy / 4),
                count: random.within(2, mix.crowd.into()) as u16,
            },
            16..=19 => Self::Flood {
                to: random.next(),
                count: random.within(2, mix.flood.into()) as u16,
            },
            20 if mix.reserves => Self::Reserve,
            23..=25 => Self::Pause {
                micros: random.below(400),
            },
            26..=31 => Self::Answer {
                count: random.within(1, 20) as u8,
                seed: random.fork(),
            },
            32..=34 => Self::TryJoin(random.next()),
            _ => Self::draw_for_all(random, mix),
        }
    }

    /// Draws a deed of a process in a step: anything that needs no waiting.
    pub(crate) fn draw_inside(random: &mut Random, mix: &Mix, energy: u8) -> Self {
        match random.below(100) {
            0..=9 if energy > 1 => Self::Submit(Role::draw(random, mix.faults, energy / 2)),
            10..=13 => Self::Block {
                micros: random.below(60),
            },
            15..=17 => Self::Answer {
                count: random.within(1, 4) as u8,
                seed: random.fork(),
            },
            _ => Self::draw_for_all(random, mix),
        }
    }

    fn draw_for_all(random: &mut Random, mix: &Mix) -> Self {
        let errors = mix.faults != Faults::None;
        let hostile = mix.faults == Faults::Hostile;
        let name = |random: &mut Random| random.below(mix.names.into()) as u16;
        match random.below(64) {
            0..=23 => Self::Send {
                to: random.next(),
                word: draw_word(random, mix.faults),
                is_bomb: hostile && random.percent(5),
            },
            24..=27 => Self::SendAt {
                to: random.next(),
                micros: random.below(1500),
            },
            28 => Self::Every {
                to: random.next(),
                micros: random.within(50, 1000),
            },
            29..=34 => Self::Monitor {
                by: random.next(),
                of: random.next(),
            },
            35 | 36 => Self::Demonitor(random.next()),
            37..=40 if errors => Self::Link {
                one: random.next(),
                other: random.next(),
            },
            41 => Self::Unlink(random.next()),
            42..=45 => Self::Name {
                of: random.next(),
                name: name(random),
            },
            46 => Self::Unname { name: name(random) },
            47 | 48 if errors => Self::Terminate(random.next()),
            49..=51 => Self::Upgrade {
                of: random.next(),
                role: Role::draw(random, mix.faults, mix.energy / 4),
            },
            52..=56 => Self::Spawn(FutureRole::draw(random, mix.faults)),
            57 if errors => Self::Abort(random.next()),
            58..=60 => Self::Wake,
            _ => Self::Look(random.next()),
        }
    }
}

fn draw_word(random: &mut Random, faults: Faults) -> Word {
    match random.below(40) {
        0 if faults != Faults::None => Word::Fail,
        1 if faults == Faults::Hostile => Word::Panic,
        2 => Word::Finish,
        _ => Word::Note,
    }
}
