//! When the clock of turn-taking is read, and what is due then.

use std::time::{Duration, Instant};

use crate::queues::fairness::{
    Due, LOOK, MAX_INTERVAL, Nanos, ROTATION, TurnClock, turns_per_look,
};

const MICRO: Nanos = 1_000;
const HOUR: Nanos = 3_600_000_000 * MICRO;

/// A clock, and the time that it is shown.
struct Turns {
    clock: TurnClock,
    now: Nanos,
}

impl Turns {
    fn new() -> Self {
        let clock = TurnClock::new(Instant::now());
        Self { clock, now: 0 }
    }

    /// Takes a turn of that length. What was due before.
    fn take(&mut self, turn: Nanos) -> Due {
        let due = match self.clock.tick() {
            true => self.clock.read(self.now),
            false => Due::Nothing,
        };
        self.now += turn;
        due
    }

    /// Takes turns until something is due: how many, and what.
    fn until_due(&mut self, turn: Nanos) -> (u32, Due) {
        let mut turns = 1;
        loop {
            match self.take(turn) {
                Due::Nothing => turns += 1,
                due => return (turns, due),
            }
        }
    }
}

#[test]
fn an_estimate_is_a_number_of_turns() {
    assert_eq!(turns_per_look(4, 40 * MICRO), 10);
    assert_eq!(turns_per_look(10, 400 * MICRO), 2);
    assert_eq!(turns_per_look(7, HOUR), 1);
    assert_eq!(turns_per_look(1, Nanos::MAX), 1);
    assert_eq!(turns_per_look(1, 0), MAX_INTERVAL);
    for turns in 1..=MAX_INTERVAL {
        for micros in [0, 1, 10, 99, 100, 101, 1_000, 1_000_000] {
            let estimate = turns_per_look(turns, micros * MICRO);
            assert!((1..=MAX_INTERVAL).contains(&estimate));
            assert!(
                estimate == 1 || micros * MICRO / u64::from(turns) * u64::from(estimate) <= LOOK
            );
        }
    }
}

/// A failure: it grows by one short turn to as many as may all be long.
#[test]
fn an_interval_grows_twofold_and_falls_at_once() {
    let mut turns = Turns::new();
    let mut seen = vec![turns.clock.interval()];
    while turns.clock.interval() < MAX_INTERVAL {
        turns.take(MICRO / 10);
        seen.push(turns.clock.interval());
    }
    while turns.clock.interval() > 1 {
        turns.take(MICRO * 60);
        seen.push(turns.clock.interval());
    }
    seen.dedup();
    assert_eq!(seen, [1, 2, 4, 8, 16, 32, 64, 122, 1]);
}

#[test]
fn looks_are_as_far_apart_as_they_should_be() {
    for (turn, turns) in [
        (0, 122..=122),
        (MICRO / 10, 122..=122),
        (2 * MICRO, 50..=50),
        (5 * MICRO, 20..=20),
        (30 * MICRO, 3..=3),
        (80 * MICRO, 1..=1),
        (500 * MICRO, 1..=1),
    ] {
        let mut taken = Turns::new();
        (0..4).for_each(|_| _ = taken.until_due(turn));
        for _ in 0..20 {
            let (count, _) = taken.until_due(turn);
            assert!(turns.contains(&count), "{count} turns of {turn:?}");
        }
    }
}

#[test]
fn a_rotation_is_due_until_it_is_made() {
    let mut turns = Turns::new();
    while turns.until_due(10 * MICRO).1 == Due::Look {}
    assert_eq!(turns.until_due(10 * MICRO).1, Due::Rotation);
    turns.clock.rotated(turns.now);
    let made = turns.now;
    while turns.until_due(10 * MICRO).1 == Due::Look {}
    assert!(turns.now - made >= ROTATION);
}

/// From short turns to long ones, unannounced: a whole interval of long ones, once. Announced:
/// two.
#[test]
fn a_doubt_costs_some_readings_and_saves_an_interval() {
    let shift = |doubts: bool| {
        let mut turns = Turns::new();
        while turns.clock.interval() < MAX_INTERVAL || turns.now < turns.clock.doubted.get() + LOOK
        {
            turns.until_due(MICRO / 10);
        }
        if doubts {
            turns.clock.doubt(turns.now);
        }
        let (first, _) = turns.until_due(500 * MICRO);
        let (second, _) = turns.until_due(500 * MICRO);
        (first, second)
    };
    assert_eq!(shift(false), (MAX_INTERVAL, 1));
    assert_eq!(shift(true), (2, 1));
}

#[test]
fn doubts_are_far_between() {
    let turns = Turns::new();
    let reads_next = |clock: &TurnClock| clock.left.get() == 0;
    turns.clock.doubt(turns.now + LOOK);
    assert!(reads_next(&turns.clock));
    turns.clock.read(turns.now + LOOK);
    turns.clock.read(turns.now + LOOK);
    assert!(!reads_next(&turns.clock) && turns.clock.interval() == 2);
    turns.clock.doubt(turns.now + LOOK + LOOK / 2);
    assert_eq!(turns.clock.interval(), 2, "it has just doubted");
    turns.clock.doubt(turns.now + 2 * LOOK);
    assert_eq!(turns.clock.interval(), 1);
}

#[test]
fn the_source_is_due_as_often_as_a_look() {
    let Turns { clock, .. } = Turns::new();
    assert!(!clock.is_source_due(LOOK / 2) && clock.is_source_due(LOOK));
    clock.source_was_asked(LOOK);
    assert!(!clock.is_source_due(LOOK) && !clock.is_source_due(0));
    assert!(!clock.is_source_due(LOOK + LOOK / 2) && clock.is_source_due(2 * LOOK));
}

/// A failure: an hour of sleep counts as a turn, or as no time since the last look.
#[test]
fn a_sleep_is_no_turn() {
    let mut turns = Turns::new();
    (0..50).for_each(|_| _ = turns.until_due(MICRO / 10));
    assert_eq!(turns.clock.interval(), MAX_INTERVAL);
    turns.clock.pause();
    turns.now += HOUR;
    assert_eq!(turns.until_due(MICRO), (2, Due::Rotation));
    assert_eq!(turns.clock.interval(), 1);
    assert_eq!(turns.clock.batch(), 16, "as far as is known");
}

/// A failure: each task blocks, and it is never another one's turn.
#[test]
fn calls_do_not_put_a_look_off() {
    let mut turns = Turns::new();
    (0..50).for_each(|_| _ = turns.until_due(MICRO / 10));
    for _ in 0..3 {
        let mut calls = 0;
        while turns.take(0) == Due::Nothing && calls < 9 {
            turns.clock.pause_in_turn();
            turns.now += LOOK;
            calls += 1;
        }
        assert!(calls <= 2, "{calls}");
    }
}

#[test]
fn a_clock_that_goes_back_stands_still() {
    let began = Instant::now();
    let clock = TurnClock::new(began);
    assert_eq!(clock.since_it_began(began + Duration::from_nanos(7)), 7);
    assert_eq!(clock.since_it_began(began - Duration::from_nanos(7)), 0);
    clock.read(LOOK);
    for _ in 0..20 {
        clock.read(0);
    }
    assert_eq!(clock.interval(), MAX_INTERVAL);
    assert_eq!(clock.read(0), Due::Look);
}

#[test]
fn long_turns_come_one_at_a_time() {
    for (turn, batch) in [
        (500 * MICRO, 0),
        (20 * MICRO, 1),
        (5 * MICRO, 5),
        (MICRO, 16),
        (0, 16),
    ] {
        let mut turns = Turns::new();
        (0..40).for_each(|_| _ = turns.until_due(turn));
        assert_eq!(turns.clock.batch(), batch, "{turn:?}");
    }
}
