//! The picture against a plain loop over its pixels, whoever draws it.

use std::cell::Cell;
use std::collections::HashSet;
use std::time::Duration;

use filch::fork_join::Pool;
use proptest::prelude::*;

use super::accounts::{Accounts, Share};
use super::area::Area;
use super::canvas::{Canvas, Pixel};
use super::colour::Colour;
use super::drawing::{Alone, Drawing, Forks};
use super::plane::Plane;
use super::{
    Drawn, MandelbrotError, ROUNDS, Size, compare, draw, draw_alone, draw_together, paint,
};

fn size(width: u32, height: u32) -> Size {
    Size::new(width, height).unwrap()
}

fn canvas(size: Size) -> Canvas {
    Canvas::new(size).unwrap()
}

fn plain(canvas: &Canvas) -> Vec<u8> {
    canvas.rows(|pixel| paint(pixel, None)).unwrap()
}

/// Draws the picture by a loop, which shares only the colour of a pixel with the recursion.
fn by_rows(size: Size) -> Vec<u8> {
    let plane = Plane::of(size);
    let row = |y| (0..size.width()).flat_map(move |x| Colour::of(plane.escape((x, y))).0);
    (0..size.height()).flat_map(row).collect()
}

fn tiles(size: Size) -> u64 {
    let mut tiles = 0;
    Area::whole(size).for_each_tile(&mut |_| tiles += 1);
    tiles
}

fn sum(drawn: &Drawn, of: impl Fn(&Share) -> u64) -> u64 {
    drawn.shares.iter().map(of).sum()
}

/// Checks that all workers draw the picture of one thread, and account for each tile once.
#[track_caller]
fn assert_equal_for(workers: usize, size: Size) {
    let mut expected = canvas(size);
    draw_alone(&mut expected);
    let pool = Pool::new(workers).unwrap();
    let mut picture = canvas(size);
    let drawn = draw_together(&mut picture, &pool);
    assert_eq!(
        plain(&picture),
        plain(&expected),
        "{size}, {workers} workers"
    );
    assert_eq!(picture.differences(&expected), 0);
    assert_eq!(drawn.shares.len(), workers);
    assert_eq!(sum(&drawn, |share| share.tiles), tiles(size));
    assert!(sum(&drawn, |share| share.stolen) < tiles(size));
}

#[test]
fn workers_draw_what_one_thread_draws() {
    for workers in [1, 2, 4] {
        for (width, height) in [(1, 1), (257, 1), (1, 257), (97, 61), (160, 120)] {
            assert_equal_for(workers, size(width, height));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_recursion_draws_what_a_loop_draws(width in 1_u32..80, height in 1_u32..80) {
        let size = size(width, height);
        let mut picture = canvas(size);
        draw_alone(&mut picture);
        prop_assert_eq!(plain(&picture), by_rows(size));
    }
}

#[test]
fn one_worker_steals_nothing() {
    let pool = Pool::new(1).unwrap();
    let drawn = draw_together(&mut canvas(size(64, 48)), &pool);
    let [share] = drawn.shares[..] else {
        panic!("one worker, one share")
    };
    assert_eq!((share.tiles, share.stolen), (tiles(size(64, 48)), 0));
    assert!(!share.busy.is_zero() && share.busy <= drawn.time);
}

/// Reports that the second branch of each fork runs on the next of `workers`.
struct Passing {
    workers: usize,
    index: Cell<usize>,
}

impl Forks for Passing {
    fn fork(&self, a: impl FnOnce(&Self), b: impl FnOnce(&Self) + Send) {
        a(self);
        let forker = self.index.get();
        self.index.set((forker + 1) % self.workers);
        b(self);
        self.index.set(forker);
    }

    fn index(&self) -> usize {
        self.index.get()
    }
}

#[test]
fn a_job_that_another_worker_runs_is_counted_as_stolen_and_its_tiles_as_drawn_there() {
    let size = size(100, 100);
    let mut picture = canvas(size);
    let drawn = draw(&mut picture, 3, |drawing, whole, pixels| {
        let passing = Passing {
            workers: 3,
            index: Cell::new(0),
        };
        drawing.draw(&passing, whole, pixels);
    });
    assert_eq!(sum(&drawn, |share| share.stolen), tiles(size) - 1);
    assert_eq!(sum(&drawn, |share| share.tiles), tiles(size));

    // 100 x 100 is cut six times: the second halves on the way to a tile count up to its worker.
    let mut of_worker = [0; 3];
    (0..64_u32).for_each(|tile| of_worker[tile.count_ones() as usize % 3] += 1);
    let counted: Vec<u64> = drawn.shares.iter().map(|share| share.tiles).collect();
    assert_eq!(counted, of_worker);

    // The pixels agree with the accounts.
    let mut pixels = [0; 3];
    let areas = picture.pixels_mut();
    areas
        .iter()
        .for_each(|pixel| pixels[usize::from(pixel.worker)] += 1);
    assert_eq!(pixels.iter().sum::<usize>(), size.pixels());
    assert!(pixels.iter().all(|&pixels| pixels > 0));
}

#[test]
fn a_tint_shows_the_worker_and_nothing_else() {
    let pixel = |worker| Pixel {
        colour: Colour::of(None),
        worker,
    };
    assert_eq!(paint(pixel(0), None), paint(pixel(3), None));
    let tints: HashSet<_> = (0..4)
        .map(|worker| paint(pixel(worker), Some(4)).0)
        .collect();
    assert_eq!(tints.len(), 4);
}

#[test]
fn a_picture_that_differs_is_seen() {
    let size = size(40, 30);
    let [mut expected, mut picture] = [canvas(size), canvas(size)];
    draw_alone(&mut expected);
    draw_alone(&mut picture);
    for place in [0, 777, size.pixels() - 1] {
        picture.pixels_mut()[place].colour.0[1] ^= 1;
    }
    assert_eq!(picture.differences(&expected), 3);
    assert_eq!(expected.differences(&picture), 3);
}

#[test]
fn a_wrong_picture_in_any_round_is_refused() {
    let size = size(40, 30);
    for wrong in 0..ROUNDS {
        let round = Cell::new(0);
        let compared = compare(&mut [canvas(size), canvas(size), canvas(size)], |canvas| {
            let drawn = draw_alone(canvas);
            if round.replace(round.get() + 1) == wrong {
                canvas.pixels_mut()[5].colour.0[2] ^= 1;
            }
            drawn
        });
        assert!(matches!(compared, Err(MandelbrotError::Wrong(1))));
        assert_eq!(round.get(), wrong + 1);
    }
}

#[test]
fn the_fastest_picture_is_kept_and_reported() {
    let size = size(40, 30);
    for fastest in 0..ROUNDS {
        let round = Cell::new(0);
        let mut canvases = [canvas(size), canvas(size), canvas(size)];
        let (_, together) = compare(&mut canvases, |canvas| {
            let mut drawn = draw_alone(canvas);
            // Pretends that the worker of that index took an hour, or two.
            let index = round.replace(round.get() + 1);
            let hours = if index == fastest { 1 } else { 2 };
            drawn.time = Duration::from_secs(3_600 * hours);
            let pixels = canvas.pixels_mut();
            pixels
                .iter_mut()
                .for_each(|pixel| pixel.worker = index as u16);
            drawn
        })
        .unwrap();
        assert_eq!(together.time, Duration::from_secs(3_600));
        let [.., picture] = &mut canvases;
        let mut workers = picture.pixels_mut().iter().map(|pixel| pixel.worker);
        assert!(workers.all(|worker| usize::from(worker) == fastest));
    }
}

#[test]
fn who_drew_a_pixel_is_no_difference() {
    let size = size(40, 30);
    let [mut expected, mut picture] = [canvas(size), canvas(size)];
    draw_alone(&mut expected);
    draw_alone(&mut picture);
    picture
        .pixels_mut()
        .iter_mut()
        .for_each(|pixel| pixel.worker = 1);
    assert_eq!(picture.differences(&expected), 0);
}

#[test]
fn an_area_may_be_drawn_for_itself() {
    let size = size(60, 60);
    let drawing = Drawing {
        plane: Plane::of(size),
        accounts: Accounts::of(1),
    };
    let mut whole = canvas(size);
    draw_alone(&mut whole);
    let (first, second) = Area::whole(size).halves().unwrap();
    let mut apart = canvas(size);
    let (of_first, of_second) = apart.pixels_mut().split_at_mut(first.pixels());
    drawing.draw(&Alone, second, of_second);
    drawing.draw(&Alone, first, of_first);
    assert_eq!(plain(&apart), plain(&whole));
}
