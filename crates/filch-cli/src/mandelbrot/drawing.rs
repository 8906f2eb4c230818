//! The recursion: it draws the halves of an area, both at once if another worker is idle.

use std::time::Instant;

use filch::fork_join::Worker;

use super::accounts::Accounts;
use super::area::Area;
use super::canvas::Pixel;
use super::colour::Colour;
use super::plane::Plane;

/// Runs the two branches of the recursion.
pub(super) trait Forks {
    /// Runs both, and returns when both have ended. Each gets its own runner.
    fn fork(&self, a: impl FnOnce(&Self), b: impl FnOnce(&Self) + Send);

    /// Returns the worker's number.
    fn index(&self) -> usize;
}

/// Runs them perhaps at the same time, by two workers.
impl Forks for Worker {
    #[inline]
    fn fork(&self, a: impl FnOnce(&Self), b: impl FnOnce(&Self) + Send) {
        self.join(a, b);
    }

    #[inline]
    fn index(&self) -> usize {
        self.index()
    }
}

/// Runs them one after the other, by the calling thread: fork/join left out.
#[derive(Debug)]
pub(super) struct Alone;

impl Forks for Alone {
    #[inline]
    fn fork(&self, a: impl FnOnce(&Self), b: impl FnOnce(&Self) + Send) {
        a(self);
        b(self);
    }

    #[inline]
    fn index(&self) -> usize {
        0
    }
}

/// The data of all branches.
#[derive(Debug)]
pub(super) struct Drawing {
    pub(super) plane: Plane,
    pub(super) accounts: Accounts,
}

impl Drawing {
    /// Draws the area with these pixels.
    pub(super) fn draw<F: Forks>(&self, forks: &F, area: Area, pixels: &mut [Pixel]) {
        let Some((first, second)) = area.halves() else {
            return self.draw_tile(forks.index(), area, pixels);
        };
        let (of_first, of_second) = pixels.split_at_mut(first.pixels());
        let forker = forks.index();
        forks.fork(
            |forks| self.draw(forks, first, of_first),
            |forks| {
                if forks.index() != forker {
                    self.accounts.add_stolen(forks.index());
                }
                self.draw(forks, second, of_second);
            },
        );
    }

    fn draw_tile(&self, worker: usize, tile: Area, pixels: &mut [Pixel]) {
        let began = Instant::now();
        for (pixel, position) in pixels.iter_mut().zip(tile.positions()) {
            *pixel = Pixel {
                colour: Colour::of(self.plane.escape(position)),
                worker: worker as u16, // a pool has 32 767 threads at most
            };
        }
        self.accounts.add_tile(worker, began.elapsed());
    }
}
