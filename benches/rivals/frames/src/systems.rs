//! The systems of a frame: a thousand small functions, each with data of a type of its own.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Instant;

use bevy_ecs::resource::Resource;

/// How many there are.
pub const SYSTEMS: usize = 1_000;

/// What a system of a frame takes, by measurement.
const NANOSECONDS: f64 = 100.0;

/// What each frame is asked for by.
#[derive(Debug, Clone, Copy)]
pub struct Frame;

/// What system `N` changes.
#[derive(Resource)]
pub(crate) struct Own<const N: usize>([u64; 4]);

/// What every other system reads beside.
#[derive(Debug, Resource)]
pub struct Settings(u64);

impl<const N: usize> Own<N> {
    pub(crate) fn new() -> Self {
        Self([1, 2, 3, N as u64])
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self(5)
    }
}

/// The first of each pair of systems.
pub(crate) fn one<const N: usize>(own: &mut Own<N>) {
    work(&mut own.0, N as u64, *STEPS);
}

/// The second of each pair.
pub(crate) fn two<const N: usize>(own: &mut Own<N>, settings: &Settings) {
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
pub(crate) trait Visitor {
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
pub(crate) fn visit(visitor: &mut impl Visitor) {
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
