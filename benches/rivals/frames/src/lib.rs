//! A thousand systems of 100 ns, each with data of a type of its own, and all with settings that
//! they read: in a list, in a schedule of bevy's, and as functions of workers.
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

/// The data that every system reads beside.
#[derive(Debug, Resource)]
pub struct Settings(u64);

impl<const N: usize> Own<N> {
    fn new() -> Self {
        Self([1, 2, 3, N as u64])
    }

    /// The system.
    fn change(&mut self, settings: &Settings) {
        work(&mut self.0, settings.0, *STEPS);
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self(5)
    }
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
    fn visit<const N: usize>(&mut self);
}

macro_rules! systems {
    (hundreds $visitor:ident: $($first:literal)*) => {$(
        systems!(tens $visitor $first: 0 10 20 30 40 50 60 70 80 90);
    )*};
    (tens $visitor:ident $first:literal: $($tens:literal)*) => {$(
        systems!(ones $visitor $first $tens: 0 1 2 3 4 5 6 7 8 9);
    )*};
    (ones $visitor:ident $first:literal $tens:literal: $($one:literal)*) => {$(
        $visitor.visit::<{ $first + $tens + $one }>();
    )*};
}

/// All systems, in their order.
fn visit(visitor: &mut impl Visitor) {
    systems!(hundreds visitor: 0 100 200 300 400 500 600 700 800 900);
}

/// A system with its data.
pub type System = Box<dyn FnMut()>;

struct List(Rc<Settings>, Vec<System>);

impl Visitor for List {
    fn visit<const N: usize>(&mut self) {
        let mut own = Box::new(Own::<N>::new());
        let settings = Rc::clone(&self.0);
        self.1.push(Box::new(move || own.change(&settings)));
    }
}

/// All systems, in their order.
pub fn list() -> Vec<System> {
    let mut systems = List(Rc::default(), Vec::with_capacity(SYSTEMS));
    visit(&mut systems);
    systems.1
}

struct Bevy(World, Schedule);

impl Visitor for Bevy {
    fn visit<const N: usize>(&mut self) {
        self.0.insert_resource(Own::<N>::new());
        let system = |mut own: ResMut<'_, Own<N>>, settings: Res<'_, Settings>| {
            own.change(&settings);
        };
        self.1.add_systems(system);
    }
}

/// The data, and all systems, in no order.
pub fn schedule() -> (World, Schedule) {
    let mut systems = Bevy(World::new(), Schedule::default());
    systems.0.insert_resource(Settings::default());
    visit(&mut systems);
    (systems.0, systems.1)
}

struct Share(Range<usize>, Option<Worker>);

impl Visitor for Share {
    fn visit<const N: usize>(&mut self) {
        if self.0.contains(&N) {
            let worker = self.1.take().map(|worker| worker.owns(Own::<N>::new));
            self.1 = worker.map(|worker| {
                worker.on(|_: &Frame, own: &mut Own<N>, settings: &Settings| own.change(settings))
            });
        }
    }
}

/// A worker with that share of the systems. It owns their data, and reads [`Settings`].
pub fn share(worker: Worker, share: Range<usize>) -> Worker {
    let mut share = Share(share, Some(worker));
    visit(&mut share);
    share.1.expect("put back each time")
}
