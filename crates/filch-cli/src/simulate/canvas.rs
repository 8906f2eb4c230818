//! The picture of a frame.

use super::vector::Vector;
use super::world::{SIZE, World};

/// Red, green and blue of each pixel, row by row. Each frame is drawn over the faded ones before
/// it: a frame that was left out, or drawn twice, shows in all that follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Canvas {
    rows: Vec<u8>,
}

impl Canvas {
    pub(super) const WIDTH: usize = SIZE.x as usize;
    pub(super) const HEIGHT: usize = SIZE.y as usize;

    /// Makes a black one.
    pub(super) fn new() -> Self {
        Self {
            rows: vec![0; 3 * Self::WIDTH * Self::HEIGHT],
        }
    }

    /// Draws the world as it is.
    pub(super) fn draw(&mut self, world: &World) {
        for channel in &mut self.rows {
            *channel -= channel.div_ceil(8);
        }
        for (place, speed) in world.boids() {
            self.square(place, 1, colour(speed));
        }
        self.square(world.attractor(), 3, [255; 3]);
    }

    /// Draws a square around a place, of that colour where no earlier one was brighter.
    fn square(&mut self, around: Vector, reach: usize, colour: [u8; 3]) {
        let (x, y) = (around.x as usize, around.y as usize);
        for y in y.saturating_sub(reach)..Self::HEIGHT.min(y + reach) {
            let columns = x.saturating_sub(reach).min(Self::WIDTH)..Self::WIDTH.min(x + reach);
            let row = 3 * y * Self::WIDTH;
            let pixels = &mut self.rows[row + 3 * columns.start..row + 3 * columns.end];
            for (channel, own) in pixels.iter_mut().zip(colour.iter().cycle()) {
                *channel = (*channel).max(*own);
            }
        }
    }

    /// Returns the pixels, three bytes each.
    pub(super) fn rows(&self) -> &[u8] {
        &self.rows
    }
}

/// Returns the colour of a direction: to the right is red, down is blue.
fn colour(speed: Vector) -> [u8; 3] {
    let direction = speed.clamped(1.0, 1.0);
    let channel = |part: f32| (160.0 + 95.0 * part) as u8;
    [
        channel(direction.x),
        channel(-direction.x),
        channel(direction.y),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Canvas, World};

    #[test]
    fn a_frame_that_is_left_out_or_drawn_twice_is_seen() {
        let mut world = World::new(50, 1);
        let [mut all, mut fewer, mut more] = [(); 3].map(|()| Canvas::new());
        for frame in 0..10 {
            world.step();
            all.draw(&world);
            (0..usize::from(frame != 5)).for_each(|_| fewer.draw(&world));
            (0..1 + usize::from(frame == 5)).for_each(|_| more.draw(&world));
        }
        assert_ne!(all, fewer);
        assert_ne!(all, more);
    }

    #[test]
    fn boids_at_the_border_are_drawn_and_what_is_gone_fades() {
        let mut world = World::new(20, 1);
        let mut canvas = Canvas::new();
        for corner in [(-1e6, -1e6), (1e6, 1e6), (-1e6, 1e6), (1e6, -1e6)] {
            world.attract(super::Vector::new(corner.0, corner.1));
            (0..300).for_each(|_| {
                world.step();
            });
            canvas.draw(&world);
        }
        assert!(canvas.rows().iter().any(|&channel| channel > 0));
        let nobody = World::new(0, 1);
        (0..200).for_each(|_| canvas.draw(&nobody));
        let lit = canvas.rows().iter().filter(|&&channel| channel > 0).count();
        assert_eq!(lit, 3 * 6 * 6, "the attractor");
    }
}
