//! Processors in simulated time: which tasks run, in which order, and how long one waits, told by a
//! clock that only the tasks move. No threads, and the same each time.

mod batch;
mod external_tasks;
mod lanes;
mod steal_policy;
mod task_queues;
mod turn_clock;

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::protocol::{Coordinator, LongTurns, Permit};
use crate::queues::bound_tasks::BoundTasks;
use crate::queues::find_work::StealMode;
use crate::queues::source::{self, Found};
use crate::queues::task_queues::{Shared, TaskQueues};

thread_local! {
    static ELAPSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Returns what time it is in the simulation of this thread.
fn now() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now) + ELAPSED.get()
}

const MICRO: Duration = Duration::from_micros(1);
const MILLI: Duration = Duration::from_millis(1);

/// The kind of a task: how long its turn takes, and what then becomes of it.
#[derive(Clone, Copy)]
enum Kind {
    /// It gives way, for ever.
    Yielder(Duration),
    /// It is runnable again at once, in the deque, as if its partner had woken it.
    Pair(Duration),
    /// It comes from outside, and then gives way for ever.
    Comer(Duration),
    /// It ends.
    Once(Duration),
}

/// Processors, the tasks that they have, and what these have got so far.
struct World {
    shared: Shared<usize>,
    permits: Vec<Permit>,
    /// The time when each processor is done with its task.
    free: Vec<Duration>,
    kinds: Vec<Kind>,
    turns: Vec<u32>,
    /// The tasks from outside: how far apart they come, and how long each takes.
    flood: Option<(Duration, Duration)>,
    came: Duration,
    /// The time since when each task from outside waits.
    since: Vec<Duration>,
    /// The times that tasks from outside have waited.
    waits: Vec<Duration>,
    /// The number of external tasks that have run.
    external_tasks: u32,
    /// The tasks in the order in which they began, with the times.
    log: Vec<(Duration, usize)>,
    jitter: u64,
}

impl World {
    fn new(processors: usize) -> Self {
        ELAPSED.set(Duration::ZERO);
        let coordinator = Coordinator::new(processors, processors, processors, 0);
        let queues = TaskQueues::new(processors, processors, now());
        coordinator.start(processors, 1, &queues).unwrap();
        let permits = (0..processors)
            .map(|_| coordinator.take_idle().unwrap().0)
            .collect();
        Self {
            permits,
            shared: Shared {
                queues,
                coordinator,
                bound_tasks: BoundTasks::new(),
                long_turns: LongTurns::new(processors),
                watch_interval: Duration::ZERO,
                clock: now,
                prefetch: |_| (),
            },
            free: vec![Duration::ZERO; processors],
            kinds: Vec::new(),
            turns: Vec::new(),
            flood: None,
            came: Duration::ZERO,
            since: Vec::new(),
            waits: Vec::new(),
            external_tasks: 0,
            log: Vec::new(),
            jitter: 1,
        }
    }

    fn task(&mut self, kind: Kind) -> usize {
        self.kinds.push(kind);
        self.turns.push(0);
        self.since.push(ELAPSED.get());
        self.kinds.len() - 1
    }

    /// Adds `count` tasks: to the processor's deque, the global queue, or those that gave way.
    fn add(&mut self, count: usize, kind: Kind, processor: usize) {
        for _ in 0..count {
            let task = self.task(kind);
            let queues = &self.shared.queues;
            match kind {
                Kind::Pair(_) => queues.local(&self.permits[processor]).deque.push(task),
                Kind::Yielder(_) => queues.yielded.push(task),
                Kind::Comer(_) | Kind::Once(_) => queues.global.new.push(task),
            }
        }
    }

    /// Lets time pass.
    fn run_until(&mut self, end: Duration) {
        loop {
            let processor = (0..self.free.len()).min_by_key(|&processor| self.free[processor]);
            let processor = processor.expect("there is one");
            let time = self.free[processor];
            if time >= end {
                return;
            }
            while let Some((apart, length)) = self.flood
                && self.came + apart <= time
            {
                self.came += apart;
                ELAPSED.set(self.came);
                self.add(1, Kind::Once(length), 0);
            }
            ELAPSED.set(time);
            let local = self.shared.queues.local(&self.permits[processor]);
            let found = local
                .next(&self.shared, true)
                .or_else(|| self.shared.queues.take_external_task())
                .or_else(|| local.search(&self.shared, StealMode::Take));
            let task = match found {
                Some(Found::Task(task)) => task,
                Some(Found::ExternalTask(external)) => {
                    self.external_tasks += 1;
                    external.run();
                    self.spend(processor, MICRO * source::tests::last_micros());
                    continue;
                }
                None => {
                    self.free[processor] += MICRO;
                    continue;
                }
            };
            self.turns[task] += 1;
            self.log.push((time, task));
            let length = match self.kinds[task] {
                Kind::Yielder(length) | Kind::Pair(length) | Kind::Comer(length) => length,
                Kind::Once(length) => {
                    self.waits.push(time - self.since[task]);
                    length
                }
            };
            self.spend(processor, length);
            let local = self.shared.queues.local(&self.permits[processor]);
            match self.kinds[task] {
                Kind::Yielder(_) | Kind::Comer(_) => self.shared.queues.yielded.push(task),
                Kind::Pair(_) => local.deque.push(task),
                Kind::Once(_) => {}
            }
        }
    }

    /// Keeps the processor busy for a turn of that length.
    fn spend(&mut self, processor: usize, length: Duration) {
        // A little more or less, or processors would go in step.
        self.jitter = self
            .jitter
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let length = length.max(MICRO) * (896 + (self.jitter >> 56) as u32) / 1024;
        self.free[processor] += length;
        ELAPSED.set(self.free[processor]);
    }

    /// The turns of the tasks of a kind.
    fn turns(&self, of: fn(Kind) -> bool) -> Vec<u32> {
        let tasks = (0..self.kinds.len()).filter(|&task| of(self.kinds[task]));
        tasks.map(|task| self.turns[task]).collect()
    }
}

fn is_pair(kind: Kind) -> bool {
    matches!(kind, Kind::Pair(_))
}

fn is_yielder(kind: Kind) -> bool {
    matches!(kind, Kind::Yielder(_))
}

fn is_comer(kind: Kind) -> bool {
    matches!(kind, Kind::Comer(_))
}

/// The least of the turns, in per cent of the mean.
fn least(turns: &[u32]) -> u32 {
    let sum: u32 = turns.iter().sum();
    100 * turns.iter().min().expect("some") * turns.len() as u32 / sum
}

/// Numbers of tasks, each with the microseconds of its turns, as a mixture has them.
type Some<'a> = &'a [(usize, u32)];

/// Processors that never rest, with yielders and pairs.
fn mixture(processors: usize, yielders: Some<'_>, pairs: Some<'_>) -> World {
    let mut world = World::new(processors);
    for &(count, micros) in yielders {
        world.add(count, Kind::Yielder(MICRO * micros), 0);
    }
    for &(count, micros) in pairs {
        for number in 0..count {
            world.add(1, Kind::Pair(MICRO * micros), number % processors);
        }
    }
    world
}

/// A task comes from outside every 370 µs. A failure: it waits for as many turns as there are
/// tasks, or as lie between two looks that are told by turns alone: 64 of 50 µs, 122 of 500 µs.
#[test]
fn a_task_from_outside_waits_for_one_step_and_a_look_at_most() {
    const MIXTURES: &[(Some, Some)] = &[
        (&[(4, 50)], &[]),
        (&[(64, 50)], &[]),
        (&[], &[(64, 5)]),
        (&[], &[(16, 500)]),
        (&[(16, 50)], &[(16, 5)]),
        (&[(8, 500)], &[(32, 1)]),
        (&[], &[(8, 1), (8, 500)]),
        (&[(32, 1), (32, 500)], &[]),
    ];
    for processors in [1, 2, 8] {
        for (yielders, pairs) in MIXTURES {
            let mut world = mixture(processors, yielders, pairs);
            world.run_until(10 * MILLI);
            world.came = 10 * MILLI;
            world.flood = Some((3 * 370 * MICRO, MICRO));
            world.run_until(100 * MILLI);
            let step = yielders.iter().chain(*pairs).map(|&(_, micros)| micros);
            let step = step.max().expect("some") * MICRO;
            let worst = world.waits.iter().max().expect("some came");
            assert!(
                *worst <= step * 9 / 8 + 100 * MICRO,
                "{worst:?} beside {yielders:?} and {pairs:?} on {processors}"
            );
            assert!(world.waits.len() >= 79, "{} of 81", world.waits.len());
        }
    }
}

/// More comes from outside than there is time for. A failure: the tasks that are there get nothing,
/// or those from outside; or those that are there stay where they are, while another processor has
/// none of them and never rests.
#[test]
fn a_flood_from_outside_leaves_two_thirds_of_the_time() {
    for processors in [1, 2, 8] {
        for places in [processors, 1] {
            let mut world = World::new(processors);
            for number in 0..32 {
                world.add(1, Kind::Pair(5 * MICRO), number % places);
            }
            // No processor has a moment in which it would steal.
            world.add(50 * processors, Kind::Once(20 * MICRO), 0);
            world.flood = Some((10 * MICRO / processors as u32, 20 * MICRO));
            world.run_until(20 * MILLI);
            let spent = |world: &World| world.turns(is_pair).iter().sum::<u32>() * 5;
            let before = spent(&world);
            world.run_until(100 * MILLI);
            let percent = (spent(&world) - before) / 800 / processors as u32;
            assert!(
                (66..95).contains(&percent),
                "{percent} % on {processors}, from {places}"
            );
        }
    }
}

/// The longest task from outside is followed by one that was there.
#[test]
fn no_two_in_a_row_come_from_outside() {
    for micros in [1, 49, 50, 120, 5_000] {
        let mut world = mixture(1, &[], &[(2, 5)]);
        world.run_until(10 * MILLI);
        let before: u32 = world.turns(is_pair).iter().sum();
        world.add(1_000, Kind::Once(MICRO * micros), 0);
        world.run_until(500 * MILLI);
        let own = world.turns(is_pair).iter().sum::<u32>() - before;
        let from_outside = world.waits.len() as u32;
        assert!(
            from_outside >= 50 && own >= from_outside,
            "{own} to {from_outside} of {micros}"
        );
    }
}

/// Tasks that have given way beside tasks that never rest, each on its own.
#[test]
fn neither_yielders_nor_pairs_starve() {
    for processors in [1, 2, 8] {
        let mut world = mixture(processors, &[(16, 50)], &[(16, 5)]);
        world.run_until(400 * MILLI);
        let (yielders, pairs) = (world.turns(is_yielder), world.turns(is_pair));
        let time = 4 * processors as u32;
        let percent = 50 * yielders.iter().sum::<u32>() / 1_000 / time;
        assert!(
            (8..20).contains(&percent),
            "{percent} % for those that give way"
        );
        assert!(least(&yielders) >= 90, "{yielders:?}");
        assert!(least(&pairs) >= 80, "{pairs:?}");
    }
}

/// Tasks with long turns come from outside, at once or little by little, and then give way. A
/// failure: one has its second turn before one that was there before it had its first.
#[test]
fn a_newcomer_is_before_the_second_turn_of_all_others() {
    for processors in [1, 2, 8] {
        for (at_once, together) in [(17, 1), (8, 1), (4, 3), (1, 12)] {
            let mut world = mixture(processors, &[(8, 4_000)], &[(processors, 500)]);
            for wave in 0..20 {
                world.add(at_once * processors, Kind::Comer(4 * MILLI), 0);
                world.run_until(MILLI * wave * together * at_once as u32);
            }
            world.run_until(3_000 * MILLI);
            // By task, and then by time.
            let mut begun = vec![Vec::new(); world.kinds.len()];
            for &(time, task) in &world.log {
                begun[task].push(time);
            }
            let gives_way = |&other: &usize| !is_pair(world.kinds[other]);
            for comer in (0..world.kinds.len()).filter(|&task| is_comer(world.kinds[task])) {
                let (came, first) = (world.since[comer], begun[comer][0]);
                for other in (0..world.kinds.len()).filter(gives_way) {
                    let before = begun[other]
                        .iter()
                        .filter(|time| (came..first).contains(time));
                    assert!(before.count() < 2, "{other} before {comer} on {processors}");
                }
            }
        }
    }
}

/// A flood of short tasks from outside, which grows. A failure: those that give way wait until all
/// is gone that was there before.
#[test]
fn those_that_give_way_do_not_starve_beside_a_flood_of_short_tasks() {
    for processors in [1, 2, 8] {
        let mut world = mixture(processors, &[(4 * processors, 50)], &[]);
        world.flood = Some((10 * MICRO / processors as u32, 20 * MICRO));
        world.run_until(500 * MILLI);
        let spent = 50 * world.turns(is_yielder).iter().sum::<u32>() / 5_000 / processors as u32;
        assert!((7..40).contains(&spent), "{spent} % on {processors}");
    }
}

/// A failure: they come out of the queue in batches, each of which runs backwards.
#[test]
fn those_that_give_way_keep_their_order() {
    let mut world = mixture(1, &[(40, 1)], &[]);
    for round in 1..100 {
        for task in 0..40 {
            let next = world.free[0] + MICRO / 2;
            world.run_until(next);
            assert_eq!(world.turns[task], round, "task {task}");
        }
    }
}

/// Three quarters of the pairs begin on one processor. A failure: all are busy, none steals, and
/// each of the others gets three times as much.
#[test]
fn the_least_served_of_many_pairs_gets_nearly_an_equal_share() {
    for processors in [2, 4, 8] {
        let mut world = World::new(processors);
        for number in 0..64 {
            let at = if number < 48 { 0 } else { number % processors };
            world.add(1, Kind::Pair(5 * MICRO), at);
        }
        world.run_until(500 * MILLI);
        let pairs = world.turns(is_pair);
        assert!(least(&pairs) >= 85, "{}: {pairs:?}", least(&pairs));
    }
}
