//! The memory of a picture, in the order in which it is drawn.

use std::collections::TryReserveError;

use super::area::Area;
use super::colour::Colour;
use super::size::Size;

/// The data of a point of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pixel {
    pub(super) colour: Colour,
    /// The index of the worker that drew it.
    pub(super) worker: u16,
}

/// All pixels. Those of an [`Area`] in the recursion are neighbours: first those of its first half,
/// then those of its second half; those of a tile row by row. So a slice is divided like the
/// picture, and each of two branches has its own part of it.
#[derive(Debug)]
pub(super) struct Canvas {
    size: Size,
    pixels: Vec<Pixel>,
}

impl Canvas {
    /// Makes an empty picture. All its memory has been written to, so that no drawing is slower for
    /// being the first.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub(super) fn new(size: Size) -> Result<Self, TryReserveError> {
        let blank = Pixel {
            colour: Colour([255; 3]),
            worker: u16::MAX,
        };
        let mut pixels = Vec::new();
        pixels.try_reserve_exact(size.pixels())?;
        pixels.resize(size.pixels(), blank);
        Ok(Self { size, pixels })
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    pub(super) fn pixels_mut(&mut self) -> &mut [Pixel] {
        &mut self.pixels
    }

    /// Returns the number of pixels whose colour differs in the other picture, of equal size.
    pub(super) fn differences(&self, other: &Self) -> usize {
        let pairs = self.pixels.iter().zip(&other.pixels);
        pairs
            .filter(|(one, other)| one.colour != other.colour)
            .count()
    }

    /// Returns the picture row by row, three bytes a pixel, by `paint`.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub(super) fn rows(&self, paint: impl Fn(Pixel) -> Colour) -> Result<Vec<u8>, TryReserveError> {
        let bytes = 3 * self.size.pixels();
        let mut rows = Vec::new();
        rows.try_reserve_exact(bytes)?;
        rows.resize(bytes, 0);
        let mut pixels = self.pixels.iter();
        Area::whole(self.size).for_each_tile(&mut |tile| {
            for ((x, y), &pixel) in tile.positions().zip(&mut pixels) {
                let place = 3 * (y as usize * self.size.width() as usize + x as usize);
                rows[place..place + 3].copy_from_slice(&paint(pixel).0);
            }
        });
        Ok(rows)
    }
}
