//! Rectangles of the picture, and their halves.

use super::size::Size;

/// A rectangle of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) left: u32,
    pub(super) top: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

impl Area {
    /// The most pixels of a tile, which is not cut. A tile takes between twenty microseconds and a
    /// millisecond.
    pub(super) const TILE: usize = 256;

    /// Returns the whole picture.
    pub(super) fn whole(size: Size) -> Self {
        Self {
            left: 0,
            top: 0,
            width: size.width(),
            height: size.height(),
        }
    }

    pub(super) fn pixels(self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Returns its halves, cut across the longer side; `None` for a tile.
    pub(super) fn halves(self) -> Option<(Self, Self)> {
        if self.pixels() <= Self::TILE {
            return None;
        }
        let (mut first, mut second) = (self, self);
        if self.width >= self.height {
            first.width = self.width / 2;
            second.left += first.width;
            second.width -= first.width;
        } else {
            first.height = self.height / 2;
            second.top += first.height;
            second.height -= first.height;
        }
        Some((first, second))
    }

    /// Returns the column and the row of each pixel, row by row.
    pub(super) fn positions(self) -> impl Iterator<Item = (u32, u32)> {
        let columns = self.left..self.left + self.width;
        (self.top..self.top + self.height).flat_map(move |y| columns.clone().map(move |x| (x, y)))
    }

    /// Calls `see` with each tile, in the order in which the recursion meets them.
    pub(super) fn for_each_tile(self, see: &mut impl FnMut(Self)) {
        match self.halves() {
            Some((first, second)) => {
                first.for_each_tile(see);
                second.for_each_tile(see);
            }
            None => see(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Area, Size};
    use proptest::prelude::*;

    fn tiles(width: u32, height: u32) -> Vec<Area> {
        let mut tiles = Vec::new();
        let whole = Area::whole(Size::new(width, height).unwrap());
        whole.for_each_tile(&mut |tile| tiles.push(tile));
        tiles
    }

    #[test]
    fn what_is_small_is_one_tile() {
        for (width, height) in [(1, 1), (16, 16), (256, 1), (1, 256)] {
            assert_eq!(tiles(width, height).len(), 1, "{width}x{height}");
        }
        assert_eq!(tiles(257, 1).len(), 2);
        assert_eq!(tiles(1, 257).len(), 2);
    }

    #[test]
    fn tiles_are_nearly_square() {
        for tile in tiles(1920, 1080) {
            assert!(tile.width <= 2 * tile.height + 1, "{tile:?}");
            assert!(tile.height <= 2 * tile.width + 1, "{tile:?}");
        }
    }

    proptest! {
        #[test]
        fn tiles_have_each_pixel_once(width in 1_u32..200, height in 1_u32..200) {
            let mut seen = vec![0; (width * height) as usize];
            for tile in tiles(width, height) {
                prop_assert!((1..=Area::TILE).contains(&tile.pixels()), "{:?}", tile);
                prop_assert_eq!(tile.positions().count(), tile.pixels());
                for (x, y) in tile.positions() {
                    seen[(y * width + x) as usize] += 1;
                }
            }
            prop_assert!(seen.into_iter().all(|times| times == 1));
        }
    }
}
