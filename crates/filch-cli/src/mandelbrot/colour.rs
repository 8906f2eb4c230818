//! The colours of the picture.

use std::fmt;

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Colour(pub(super) [u8; 3]);

/// The colours of fast and slow escapes, over and over.
const PALETTE: [Colour; 5] = [
    Colour([0, 7, 100]),
    Colour([32, 107, 203]),
    Colour([237, 255, 255]),
    Colour([255, 170, 0]),
    Colour([80, 20, 0]),
];

/// The colour of points that stay.
const SET: Colour = Colour([0, 0, 0]);

/// The worker's share of a tinted colour, of one.
const TINT: f64 = 0.5;

impl Colour {
    /// Returns the colour by the steps until the escape: the palette begins at two, and each
    /// doubling takes the next colour.
    pub(super) fn of(steps: Option<f64>) -> Self {
        let Some(steps) = steps else { return SET };
        let place = (steps / 2.0).max(1.0).log2();
        let from = place as usize;
        let (from, to) = (from % PALETTE.len(), (from + 1) % PALETTE.len());
        PALETTE[from].mix(PALETTE[to], place.fract())
    }

    /// Returns the colour of one of `workers`: they divide the colour circle, and the first is red.
    pub(super) fn of_worker(worker: usize, workers: usize) -> Self {
        let place = worker as f64 / workers as f64;
        // A channel is full for a third of the circle, and fades to nothing for a sixth on each
        // side.
        let channel = |peak: f64| {
            let distance = (place - peak).abs();
            let distance = distance.min(1.0 - distance);
            (255.0 * (2.0 - 6.0 * distance).clamp(0.0, 1.0)).round() as u8
        };
        Self([channel(0.0), channel(1.0 / 3.0), channel(2.0 / 3.0)])
    }

    /// Returns this colour, tinted with that of a worker.
    pub(super) fn tinted(self, worker: Self) -> Self {
        self.mix(worker, TINT)
    }

    /// Mixes a part of `other` with this colour.
    fn mix(self, other: Self, part: f64) -> Self {
        let mixed = |channel: usize| {
            let (from, to) = (f64::from(self.0[channel]), f64::from(other.0[channel]));
            (from + (to - from) * part + 0.5) as u8 // rounded
        };
        Self([mixed(0), mixed(1), mixed(2)])
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([red, green, blue]) = self;
        f.pad(&format!("#{red:02x}{green:02x}{blue:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Colour, PALETTE, SET};
    use std::collections::HashSet;

    #[test]
    fn points_that_stay_have_a_colour_of_their_own() {
        assert_eq!(Colour::of(None), SET);
        let escaped = (0..10_000).map(|tenths| Colour::of(Some(f64::from(tenths) / 10.0)));
        assert!(!escaped.collect::<Vec<_>>().contains(&SET));
    }

    #[test]
    fn the_palette_is_gone_through_in_its_order_and_begins_again() {
        for place in 0..3 * PALETTE.len() {
            let steps = 2_f64.powi(place as i32 + 1);
            assert_eq!(Colour::of(Some(steps)), PALETTE[place % PALETTE.len()]);
        }
        assert_eq!(Colour::of(Some(-0.5)), PALETTE[0]);
    }

    #[test]
    fn nearly_as_many_steps_are_nearly_the_same_colour() {
        for hundredths in 0..100_000 {
            let [one, next] =
                [0, 1].map(|more| Colour::of(Some(f64::from(hundredths + more) / 100.0)));
            // At the begin, a tenth of the way to the next colour.
            let near = one.0.iter().zip(next.0).all(|(a, b)| a.abs_diff(b) <= 25);
            assert!(near, "{one} {next}");
        }
    }

    #[test]
    fn workers_have_different_colours() {
        let circle = |workers| (0..workers).map(move |worker| Colour::of_worker(worker, workers));
        assert_eq!(
            circle(3)
                .map(|colour| colour.to_string())
                .collect::<Vec<_>>(),
            ["#ff0000", "#00ff00", "#0000ff"]
        );
        for workers in 1..=64 {
            let colours: HashSet<_> = circle(workers).map(|colour| colour.0).collect();
            assert_eq!(colours.len(), workers);
        }
    }

    #[test]
    fn a_tint_is_seen_on_every_colour() {
        for colour in PALETTE.into_iter().chain([SET]) {
            let tinted = (0..4).map(|worker| colour.tinted(Colour::of_worker(worker, 4)).0);
            assert_eq!(tinted.collect::<HashSet<_>>().len(), 4, "{colour}");
        }
    }
}
