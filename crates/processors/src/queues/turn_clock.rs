//! The clock of a processor's turn-taking: counts turns, which costs nothing, and corrects itself
//! by the time, which costs as much to read as a short task.

use std::cell::Cell;
use std::time::Instant;

/// Nanoseconds since the clock began: to be compared at less cost than two [`Instant`]s.
pub(crate) type Nanos = u64;

/// The time of the turns between two looks, where a turn takes no longer itself.
const LOOK: Nanos = 100_000;

/// The time that the newest tasks of a deque go on before it is another one's turn.
const ROTATION: Nanos = 200_000;

/// The largest number of turns between two readings.
const MAX_INTERVAL: u32 = 122;

/// The largest number of tasks that come along with one from a global queue.
const MAX_BATCH: u32 = 16;

/// The actions that are due after a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    /// A look at the global queue.
    Look,
    /// The same, and then it is another task's turn.
    Rotation,
}

/// Counts the turns of a processor, and reads the time in one of `interval` turns only.
///
/// The turns to come are taken to be as long as the last ones. That is wrong when other tasks run
/// than before, so then it forgets, and reads the time after one turn, two, four and so on.
#[derive(Debug)]
pub(crate) struct TurnClock {
    began: Instant,
    /// Turns before the next reading.
    left: Cell<u32>,
    /// Turns from one reading to the next.
    interval: Cell<u32>,
    /// Turns that would take as long as a look is away, going by the last that were measured.
    estimate: Cell<u32>,
    /// The last reading, if all that has passed since was turns.
    read: Cell<Option<Nanos>>,
    looked: Cell<Nanos>,
    rotated: Cell<Nanos>,
    doubted: Cell<Nanos>,
    /// The time of the source's last turn.
    asked: Cell<Nanos>,
}

impl TurnClock {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            began: now,
            left: Cell::new(1),
            interval: Cell::new(1),
            estimate: Cell::new(1),
            read: Cell::new(None),
            looked: Cell::new(0),
            rotated: Cell::new(0),
            doubted: Cell::new(0),
            asked: Cell::new(0),
        }
    }

    /// Returns how long after its beginning `now` is. 584 years fit.
    pub(crate) fn since_it_began(&self, now: Instant) -> Nanos {
        now.saturating_duration_since(self.began).as_nanos() as Nanos
    }

    /// Counts a turn that begins; returns whether the time is to be read before.
    #[inline]
    pub(crate) fn tick(&self) -> bool {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                false
            }
            None => true,
        }
    }

    /// Takes the reading `now`: sets the number of turns until the next, and returns what is due.
    pub(crate) fn read(&self, now: Nanos) -> Due {
        let turns = self.interval.get();
        if let Some(last) = self.read.replace(Some(now)) {
            let took = now.saturating_sub(last);
            let estimate = turns_per_look(turns, took);
            self.estimate.set(estimate);
            self.interval.set(estimate.min(2 * turns));
        }
        self.left.set(self.interval.get() - 1);
        // At the largest interval the turns are so short that no time need have passed.
        let has_passed = |time: &Cell<Nanos>, long| now.saturating_sub(time.get()) >= long;
        if turns < MAX_INTERVAL && !has_passed(&self.looked, LOOK * 3 / 4) {
            return Due::Nothing;
        }
        self.looked.set(now);
        match has_passed(&self.rotated, ROTATION) {
            true => Due::Rotation,
            false => Due::Look,
        }
    }

    /// Notes a rotation that was due: the tasks that run from now on are others.
    pub(crate) fn rotated(&self, now: Nanos) {
        self.rotated.set(now);
        self.forget(0);
    }

    /// Reads the time soon, since a task from outside is going to run, and perhaps others after it.
    /// Not more often than costs nothing: where turns are short, looks are frequent.
    pub(crate) fn doubt(&self, now: Nanos) {
        if now.saturating_sub(self.doubted.get()) >= LOOK {
            self.doubted.set(now);
            self.forget(0);
        }
    }

    /// Returns whether the source has had no turn for as long as a look is away. Looks are more
    /// frequent where turns are short, and a piece may be long: little time would be left for these
    /// turns.
    pub(crate) fn is_source_due(&self, now: Nanos) -> bool {
        now.saturating_sub(self.asked.get()) >= LOOK * 3 / 4
    }

    /// Notes that the source has had its turn.
    pub(crate) fn source_was_asked(&self, now: Nanos) {
        self.asked.set(now);
    }

    /// Notes that what passes from now on is no turn: the processor goes idle, or waits for a call.
    /// The task that runs then is unknown.
    pub(crate) fn pause(&self) {
        self.forget(1);
    }

    /// Notes a pause in the middle of a turn, at a call that may block. The next reading is not put
    /// off: it would never come where each task makes such a call.
    pub(crate) fn pause_in_turn(&self) {
        self.forget(self.left.get().min(1));
    }

    /// Reads the time after each turn, once `left` have passed, until turns are known to be short.
    fn forget(&self, left: u32) {
        self.read.set(None);
        self.interval.set(1);
        self.left.set(left);
    }

    /// Turns from one reading to the next.
    pub(crate) fn interval(&self) -> u32 {
        self.interval.get()
    }

    /// Returns how many more tasks may come along with one that is taken from the global queue: few
    /// of long ones, as those of a batch run backwards. Not less after a doubt, or a stream of
    /// short tasks from outside would come singly at times, which costs its producer.
    pub(crate) fn batch(&self) -> usize {
        MAX_BATCH.min(self.estimate.get() / 4) as usize
    }
}

/// Returns how many turns take [`LOOK`] if they are as long as so many, which `took` so long
/// together.
fn turns_per_look(turns: u32, took: Nanos) -> u32 {
    let wanted = LOOK * u64::from(turns) / took.max(1);
    u32::try_from(wanted).map_or(MAX_INTERVAL, |wanted| wanted.clamp(1, MAX_INTERVAL))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Due, LOOK, MAX_INTERVAL, Nanos, ROTATION, TurnClock, turns_per_look};

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
                    estimate == 1
                        || micros * MICRO / u64::from(turns) * u64::from(estimate) <= LOOK
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
            while turns.clock.interval() < MAX_INTERVAL
                || turns.now < turns.clock.doubted.get() + LOOK
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
}
