//! The set itself: the place of a pixel in the complex plane, and the speed of its escape.

use super::size::Size;

/// The steps after which a point counts as one of the set.
const MOST_STEPS: u32 = 1_000;

/// The square of a distance from which no point returns. None returns from a distance of two,
/// either; but farther out, the number of steps is smoother.
const FAR_SQUARED: f64 = 65_536.0;

/// The least part of the plane that the picture shows: `SIDES` around the centre.
const CENTRE: (f64, f64) = (-0.75, 0.0);
const SIDES: (f64, f64) = (3.0, 2.4);

/// The places of a picture's pixels: the whole set, in the middle, and undistorted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plane {
    /// The picture's middle, in pixels: between two of them where a side is even.
    middle: (f64, f64),
    /// The distance from one pixel to the next.
    step: f64,
}

impl Plane {
    pub(super) fn of(size: Size) -> Self {
        let (width, height) = (f64::from(size.width()), f64::from(size.height()));
        Self {
            middle: ((width - 1.0) / 2.0, (height - 1.0) / 2.0),
            step: (SIDES.0 / width).max(SIDES.1 / height),
        }
    }

    /// Returns the steps that the point of a pixel takes to escape, as a number without jumps
    /// between neighbours; `None` if it stays.
    pub(super) fn escape(&self, (x, y): (u32, u32)) -> Option<f64> {
        escape(
            CENTRE.0 + self.step * (f64::from(x) - self.middle.0),
            CENTRE.1 + self.step * (self.middle.1 - f64::from(y)),
        )
    }
}

/// Returns the steps of `z² + c` from zero, `c` being `re + im·i`.
fn escape(re: f64, im: f64) -> Option<f64> {
    let (mut x, mut y) = (0.0_f64, 0.0_f64);
    for step in 0..MOST_STEPS {
        let (xx, yy) = (x * x, y * y);
        let distance_squared = xx + yy;
        if distance_squared > FAR_SQUARED {
            // Whole steps, less the excess of the last one: each squares the distance.
            let beyond = (distance_squared.log2() / FAR_SQUARED.log2()).log2();
            return Some(f64::from(step) - beyond);
        }
        y = 2.0 * x * y + im;
        x = xx - yy + re;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Plane, Size, escape};

    #[test]
    fn points_of_the_set_stay() {
        // Fixed, of period two, of period three, and the tips of the antenna and of a spiral arm.
        for (re, im) in [
            (0.0, 0.0),
            (-1.0, 0.0),
            (-0.122, 0.745),
            (-2.0, 0.0),
            (0.0, 1.0),
        ] {
            assert_eq!(escape(re, im), None, "{re} {im:+}i");
        }
    }

    #[test]
    fn the_farther_out_the_sooner_a_point_escapes() {
        let steps: Vec<f64> = [0.26, 0.3, 0.5, 1.0, 3.0, 100.0]
            .map(|re| escape(re, 0.0).unwrap())
            .into();
        assert!(steps.is_sorted_by(|near, far| near > far), "{steps:?}");
        assert!(steps.iter().all(|&steps| steps > 0.0), "{steps:?}");
    }

    #[test]
    fn the_number_of_steps_has_no_jumps() {
        let along = (0..1_000).map(|i| escape(0.5 + f64::from(i) / 1_000.0, 0.0).unwrap());
        let steps: Vec<f64> = along.collect();
        assert!(steps.windows(2).all(|two| (two[0] - two[1]).abs() < 0.05));
    }

    #[test]
    fn the_picture_is_as_high_above_the_axis_as_below() {
        for (width, height) in [(64, 48), (48, 64), (33, 7), (1, 1)] {
            let plane = Plane::of(Size::new(width, height).unwrap());
            for y in 0..height {
                for x in 0..width {
                    let mirrored = plane.escape((x, height - 1 - y));
                    assert_eq!(plane.escape((x, y)), mirrored, "{x} {y}");
                }
            }
        }
    }

    #[test]
    fn all_of_the_set_is_in_the_picture() {
        for (width, height) in [(64, 48), (200, 20), (20, 200)] {
            let plane = Plane::of(Size::new(width, height).unwrap());
            let stays = |x, y| plane.escape((x, y)).is_none();
            assert!((0..width).any(|x| (0..height).any(|y| stays(x, y))));
            assert!((0..width).all(|x| !stays(x, 0) && !stays(x, height - 1)));
            assert!((0..height).all(|y| !stays(0, y) && !stays(width - 1, y)));
        }
    }
}
