//! A thousand systems of 100 ns, each with data of a type of its own: in a list, in a schedule of
//! bevy's, and as functions of workers.
//!
//! A package of its own, because that is three thousand functions and more: whoever edits another
//! comparison does not compile them.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::ops::Range;
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Instant;

use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::Schedule;
use bevy_ecs::system::{Res, ResMut};
use bevy_ecs::world::World;
use filch_engine::Worker;

/// The number of systems.
pub const SYSTEMS: usize = 1_000;

/// The time that a system of a frame takes, by measurement.
const NANOSECONDS: f64 = 100.0;

/// The message that asks for a frame.
#[derive(Debug, Clone, Copy)]
pub struct Frame;

/// The data that system `N` changes.
#[derive(Resource)]
struct Own<const N: usize>([u64; 4]);

/// The data that every other system reads beside.
#[derive(Debug, Resource)]
pub struct Settings(u64);

impl<const N: usize> Own<N> {
    fn new() -> Self {
        Self([1, 2, 3, N as u64])
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self(5)
    }
}

/// The first of each pair of systems.
fn one<const N: usize>(own: &mut Own<N>) {
    work(&mut own.0, N as u64, *STEPS);
}

/// The second of each pair.
fn two<const N: usize>(own: &mut Own<N>, settings: &Settings) {
    work(&mut own.0, settings.0, *STEPS);
}

/// Four chains of multiplications, which keep the multiplier busy: a processor cannot begin with
/// the next system before it is nearly through with this one.
#[inline(never)]
fn work(lanes: &mut [u64; 4], salt: u64, steps: u64) {
    for _ in 0..steps {
        for lane in &mut *lanes {
            *lane = (*lane ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    }
}

/// Steps of [`work`] that take as long as a system is to take.
static STEPS: LazyLock<u64> = LazyLock::new(|| {
    let mut lanes = [1, 2, 3, 4];
    const STEPS: u64 = 1 << 16;
    let run = |_| {
        let began = Instant::now();
        work(black_box(&mut lanes), 5, STEPS);
        began.elapsed().as_secs_f64() * 1e9
    };
    let shortest = (0..64).map(run).fold(f64::INFINITY, f64::min);
    (NANOSECONDS * STEPS as f64 / shortest).round() as u64
});

/// Does something with each system.
trait Visitor {
    fn one<const N: usize>(&mut self);
    fn two<const N: usize>(&mut self);
}

macro_rules! ten {
    ($visitor:ident, $first:expr) => {
        ten!($visitor, $first; 0 1, 2 3, 4 5, 6 7, 8 9);
    };
    ($visitor:ident, $first:expr; $($one:literal $two:literal),*) => {$(
        $visitor.one::<{ $first + $one }>();
        $visitor.two::<{ $first + $two }>();
    )*};
}

macro_rules! hundred {
    ($visitor:ident, $first:expr) => {
        hundred!($visitor, $first; 0 10 20 30 40 50 60 70 80 90);
    };
    ($visitor:ident, $first:expr; $($tens:literal)*) => {$(
        ten!($visitor, $first + $tens);
    )*};
}

/// All systems, in their order.
fn visit(visitor: &mut impl Visitor) {
    hundred!(visitor, 0);
    hundred!(visitor, 100);
    hundred!(visitor, 200);
    hundred!(visitor, 300);
    hundred!(visitor, 400);
    hundred!(visitor, 500);
    hundred!(visitor, 600);
    hundred!(visitor, 700);
    hundred!(visitor, 800);
    hundred!(visitor, 900);
}

/// A system with its data.
pub type System = Box<dyn FnMut()>;

/// All systems, in their order.
pub fn list() -> Vec<System> {
    let mut systems = List {
        settings: Rc::new(Settings::default()),
        list: Vec::with_capacity(SYSTEMS),
    };
    visit(&mut systems);
    systems.list
}

struct List {
    settings: Rc<Settings>,
    list: Vec<System>,
}

impl Visitor for List {
    fn one<const N: usize>(&mut self) {
        let mut own = Box::new(Own::<N>::new());
        self.list.push(Box::new(move || one(&mut own)));
    }

    fn two<const N: usize>(&mut self) {
        let mut own = Box::new(Own::<N>::new());
        let settings = Rc::clone(&self.settings);
        self.list.push(Box::new(move || two(&mut own, &settings)));
    }
}

/// The data, and all systems, in no order.
pub fn schedule() -> (World, Schedule) {
    let mut systems = Bevy {
        world: World::new(),
        schedule: Schedule::default(),
    };
    systems.world.insert_resource(Settings::default());
    visit(&mut systems);
    (systems.world, systems.schedule)
}

struct Bevy {
    world: World,
    schedule: Schedule,
}

impl Visitor for Bevy {
    fn one<const N: usize>(&mut self) {
        self.world.insert_resource(Own::<N>::new());
        self.schedule
            .add_systems(|mut own: ResMut<'_, Own<N>>| one(&mut own));
    }

    fn two<const N: usize>(&mut self) {
        self.world.insert_resource(Own::<N>::new());
        let system = |mut own: ResMut<'_, Own<N>>, settings: Res<'_, Settings>| {
            two(&mut own, &settings);
        };
        self.schedule.add_systems(system);
    }
}

/// A worker with that share of the systems. It owns their data, and reads [`Settings`].
pub fn share(worker: Worker, share: Range<usize>) -> Worker {
    let mut share = Share {
        share,
        worker: Some(worker),
    };
    visit(&mut share);
    share.worker.expect("put back each time")
}

struct Share {
    share: Range<usize>,
    worker: Option<Worker>,
}

impl Share {
    fn list(&mut self, system: usize, list: impl FnOnce(Worker) -> Worker) {
        if self.share.contains(&system) {
            self.worker = self.worker.take().map(list);
        }
    }
}

impl Visitor for Share {
    fn one<const N: usize>(&mut self) {
        self.list(N, |worker| {
            let worker = worker.owns(Own::<N>::new);
            worker.on(|_: &Frame, own: &mut Own<N>| one(own))
        });
    }

    fn two<const N: usize>(&mut self) {
        self.list(N, |worker| {
            let worker = worker.owns(Own::<N>::new);
            worker.on(|_: &Frame, own: &mut Own<N>, settings: &Settings| two(own, settings))
        });
    }
}
