//! Shares by time, on a clock that the processes move: an event costs what the test says.

use std::sync::{Arc, LazyLock, Mutex, mpsc};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{Budget, Clock, FIRST_ALLOWANCE, STEPS_PER_SLICE};
use crate::tests::Any;
use crate::{Event, Events, Process, Scheduler, StepOutput, from_fn};

const SLICE: Duration = Duration::from_millis(4);

/// A clock that a test moves.
struct TestClock(Mutex<Told>);

struct Told {
    time: Duration,
    /// The number of times that it was read.
    reads: u64,
}

impl TestClock {
    const fn new() -> Self {
        Self(Mutex::new(Told {
            time: Duration::ZERO,
            reads: 0,
        }))
    }

    fn read(&self) -> Instant {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        let mut told = self.0.lock().unwrap();
        told.reads += 1;
        *START + told.time
    }

    fn time(&self) -> Duration {
        self.0.lock().unwrap().time
    }

    fn reads(&self) -> u64 {
        self.0.lock().unwrap().reads
    }

    fn advance(&self, by: Duration) {
        self.0.lock().unwrap().time += by;
    }
}

/// A clock for one test: a budget reads it through a function, which captures nothing.
macro_rules! test_clock {
    () => {{
        static CLOCK: TestClock = TestClock::new();
        let read: Clock = || CLOCK.read();
        (&CLOCK, read)
    }};
}

fn steps<F>(mut step: F) -> impl Process<Any>
where
    F: FnMut(Events<'_, Any>, &mut StepOutput<Any>) + Send,
{
    from_fn(move |_, events, out| {
        step(events, out);
        Ok(())
    })
}

/// The steps that ran on the one worker, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ran {
    /// A step of the process with the backlog, with so many events.
    Step(u64),
    /// Another process.
    Other,
}

/// Runs a process with `messages` in its queue, each of which takes its `cost`, on one worker,
/// beside another process that always yields.
fn ran(
    clock: (&'static TestClock, Clock),
    [slice, events_per_step]: [u64; 2],
    messages: u64,
    cost: fn(u64) -> Duration,
) -> Vec<Ran> {
    let mut builder = Scheduler::<Any>::builder()
        .workers(1)
        .slice(Duration::from_micros(slice))
        .events_per_step(events_per_step as usize);
    builder.budget.clock = clock.1;
    let scheduler = builder.build().unwrap();
    let log = Arc::new(Mutex::new(Vec::new()));
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let (mut missing, mut gate) = (messages, Some(gate));
    let busy = scheduler.submit(
        steps({
            let log = Arc::clone(&log);
            move |events: Events<'_, Any>, out: &mut StepOutput<Any>| {
                if let Some(gate) = gate.take() {
                    entered.send(()).unwrap();
                    return gate.recv().unwrap();
                }
                log.lock().unwrap().push(Ran::Step(events.len() as u64));
                for event in events {
                    let Event::Message(number) = event else {
                        panic!("{event:?}");
                    };
                    assert_eq!(number, messages - missing);
                    missing -= 1;
                    clock.0.advance(cost(number));
                }
                if missing == 0 {
                    out.done(());
                }
            }
        }),
        "run",
        (),
    );
    let busy = busy.unwrap();
    inside.recv().unwrap();
    let other = scheduler.submit(
        steps({
            let log = Arc::clone(&log);
            move |_: Events<'_, Any>, out: &mut StepOutput<Any>| {
                log.lock().unwrap().push(Ran::Other);
                out.go_on();
            }
        }),
        "run",
        (),
    );
    let other = other.unwrap();
    (0..messages).for_each(|number| scheduler.send(busy.pid(), number).unwrap());
    go_on.send(()).unwrap();
    busy.join().unwrap();
    scheduler.terminate(other.pid()).unwrap();
    let mut log = log.lock().unwrap();
    std::mem::take(&mut *log)
}

/// Measures the wait of a process for its first turn on one worker, if it was submitted when so
/// many `flooded` processes had as many `messages` each, and none of them had run.
fn newcomer_waits(
    clock: (&'static TestClock, Clock),
    flooded: usize,
    messages: u64,
    cost: Duration,
) -> Duration {
    let mut builder = Scheduler::<Any>::builder().workers(1).slice(SLICE);
    builder.budget.clock = clock.1;
    let scheduler = builder.build().unwrap();
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let spawn = |mut step: Box<dyn FnMut(u64) + Send>| {
        let steps = steps(move |events: Events<'_, Any>, out: &mut StepOutput<Any>| {
            step(events.len() as u64);
            out.idle();
        });
        scheduler.submit(steps, "run", ()).unwrap()
    };
    let _gate = spawn(Box::new(move |_| {
        entered.send(()).unwrap();
        gate.recv().unwrap();
    }));
    inside.recv().unwrap();
    for _ in 0..flooded {
        let flooded = spawn(Box::new(move |events| {
            clock.0.advance(cost * events as u32);
        }));
        (0..messages).for_each(|number| scheduler.send(flooded.pid(), number).unwrap());
    }
    let (came, waited) = mpsc::channel();
    let _newcomer = spawn(Box::new(move |_| came.send(clock.0.time()).unwrap()));
    go_on.send(()).unwrap();
    waited.recv().unwrap()
}

/// Returns the number of events of each step.
fn shares(ran: &[Ran]) -> Vec<u64> {
    let share = |ran: &Ran| match ran {
        Ran::Step(events) => Some(*events),
        Ran::Other => None,
    };
    ran.iter().filter_map(share).collect()
}

/// Returns the number of events of each turn, before another process ran.
fn turns(ran: &[Ran]) -> Vec<u64> {
    let turns = ran.split(|ran| *ran == Ran::Other);
    let turns = turns.map(|turn| shares(turn).iter().sum());
    turns.filter(|&events| events > 0).collect()
}

/// A step fills a quarter of the slice, and a turn the slice, whatever an event costs.
#[test]
fn the_dearer_an_event_the_fewer_a_step_is_given() {
    let all = ran(test_clock!(), [4000, 1024], 1000, |_| {
        Duration::from_micros(20)
    });
    let shares = shares(&all);
    assert_eq!(shares[..2], [1, 32]);
    assert!(
        shares[2..shares.len() - 1]
            .iter()
            .all(|&events| events == 50),
        "{shares:?}"
    );
    // 50 events take a millisecond.
    assert!(turns(&all).iter().all(|&events| events <= 200), "{all:?}");
}

/// The slice begins before the first event, and no more are given before its cost is known.
#[test]
fn a_first_share_is_a_slice() {
    let all = ran(test_clock!(), [4000, 1024], 100, |_| {
        Duration::from_millis(1)
    });
    assert!(shares(&all).iter().all(|&events| events == 1), "{all:?}");
    let turns = turns(&all);
    assert!(turns.iter().all(|&events| events <= 4), "{turns:?}");
}

/// All came before the newcomer, and the cost of none is known: still, each has a slice. A failure:
/// a first share by number, which is 32 events of 200 µs; or a process that has had its slice has
/// another before the newcomer.
#[test]
fn a_newcomer_behind_16_flooded_waits_for_their_slices() {
    let cost = Duration::from_micros(200);
    let waits = newcomer_waits(test_clock!(), 16, 1000, cost);
    assert!(waits <= 16 * SLICE + cost, "{waits:?}");
}

/// An event that takes longer than the slice is a turn, and so is each after it.
#[test]
fn an_event_beyond_the_slice_is_alone() {
    let all = ran(test_clock!(), [4000, 1024], 80, |_| {
        Duration::from_millis(9)
    });
    assert!(turns(&all).iter().all(|&events| events == 1), "{all:?}");
}

#[test]
fn cheap_events_come_in_full_steps() {
    let all = ran(test_clock!(), [4000, 1024], 6000, |_| {
        Duration::from_nanos(20)
    });
    assert_eq!(shares(&all)[..7], [1, 32, 64, 128, 256, 512, 1024]);
}

/// Dear events behind cheap ones: one step is given as many as if they were cheap. And back again.
#[test]
fn what_is_learnt_is_forgotten_again() {
    let cost = |number| match number {
        993..2017 => Duration::from_micros(100),
        _ => Duration::from_nanos(20),
    };
    let all = ran(test_clock!(), [4000, 1024], 6000, cost);
    let shares = shares(&all);
    // The last of them took a hundred milliseconds.
    assert_eq!(shares[..7], [1, 32, 64, 128, 256, 512, 1024]);
    assert_eq!(shares[7..15], [10, 20, 40, 80, 160, 320, 640, 1024]);
}

/// Without a slice no step can be too long.
#[test]
fn without_a_slice_the_number_decides_and_no_clock_is_read() {
    let (clock, read) = test_clock!();
    let all = ran((clock, read), [0, 100], 1000, |_| Duration::from_secs(1));
    assert_eq!(shares(&all), [100; 10]);
    assert_eq!(turns(&all), [100; 10]);
    assert_eq!(clock.reads(), 0);
}

/// So few that they need no sample, and none waits behind them.
#[test]
fn no_clock_is_read_for_a_process_that_keeps_up() {
    let (clock, read) = test_clock!();
    for messages in [1, FIRST_ALLOWANCE as u64] {
        let all = ran((clock, read), [4000, 1024], messages, |_| SLICE);
        assert_eq!(shares(&all), [messages]);
    }
    assert_eq!(clock.reads(), 0);
}

#[test]
fn no_step_is_given_more_than_the_builder_says() {
    let all = ran(test_clock!(), [4000, 3], 1000, |_| Duration::ZERO);
    assert!(shares(&all).iter().all(|&events| events <= 3));
}

proptest! {
    /// At least one, at most as many as before or twice as many as were measured, and as the budget
    /// has, and no more than fit unless it is one.
    #[test]
    fn the_next_allowance_fits(
        present in 1..2000u32,
        given in 1..2000u32,
        most in 1..2000u32,
        took in 0..10_000_000_000u64,
    ) {
        let budget = Budget { events: most, slice: SLICE, clock: Instant::now };
        let (present, given) = (present.min(most), given.min(most));
        let next = budget.next_allowance(present, given, Duration::from_nanos(took));
        let trusted = present.max(2 * given);
        prop_assert!(0 < next && next <= most && next <= trusted);
        let time = u128::from(next) * u128::from(took) / u128::from(given);
        prop_assert!(next == 1 || time <= SLICE.as_nanos() / STEPS_PER_SLICE);
        let one_more = u128::from(next + 1) * u128::from(took);
        let fits = one_more <= u128::from(given) * SLICE.as_nanos() / STEPS_PER_SLICE;
        prop_assert!(!fits || next == most || next == trusted);
    }

    /// The longer a step takes, the fewer the next is given.
    #[test]
    fn the_next_allowance_falls_with_the_time(given in 1..1024u32, took in 0..100_000_000u64) {
        let budget = Budget { events: 1024, slice: SLICE, clock: Instant::now };
        let next = |took| budget.next_allowance(given, given, Duration::from_nanos(took));
        prop_assert!(next(took) >= next(took + 1000));
    }
}
