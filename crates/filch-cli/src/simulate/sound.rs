//! The sound of the world: wind, and a tone for boids that touch.

use super::checksum::Checksum;
use super::world::{STEPS_A_SECOND, Touches};
use crate::random::Random;

/// Samples a second, of 16 bits, on one channel.
const RATE: u32 = 48_000;
const SAMPLES_A_STEP: u32 = RATE / STEPS_A_SECOND;

/// The most tones at once; the oldest ends for a new one.
const TONES: usize = 8;
/// The part of a tone that remains after a sample: a thousandth after a third of a second.
const FADING: f32 = 0.999_6;
/// The part of the wind that is new in a sample.
const WIND: f32 = 0.02;

/// The sound so far. Nobody hears it: only its checksum and its level are kept.
#[derive(Debug, Clone)]
pub(super) struct Sound {
    noise: Random,
    wind: f32,
    /// Oldest first.
    tones: Vec<Tone>,
    samples: u64,
    /// The sum of the samples' squares.
    squares: u64,
    checksum: Checksum,
}

/// A triangle that becomes quieter.
#[derive(Debug, Clone, Copy)]
struct Tone {
    /// The position within a period, from 0 to 1.
    phase: f32,
    /// Periods a sample.
    pitch: f32,
    level: f32,
}

impl Sound {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            noise: Random::new(seed, 2),
            wind: 0.0,
            tones: Vec::with_capacity(TONES),
            samples: 0,
            squares: 0,
            checksum: Checksum::EMPTY,
        }
    }

    /// Begins a tone: the more boids touch the louder, the farther to the right the higher.
    pub(super) fn strike(&mut self, touches: Touches) {
        if self.tones.len() == TONES {
            self.tones.remove(0);
        }
        self.tones.push(Tone {
            phase: 0.0,
            pitch: (110.0 + 660.0 * touches.across()) / RATE as f32,
            level: (touches.pairs as f32 * 0.01).min(0.08),
        });
    }

    /// Adds the sound of a step. The haste is that of the boids, from 0 to 1.
    pub(super) fn mix(&mut self, haste: f32) {
        for _ in 0..SAMPLES_A_STEP {
            self.wind += (self.noise.between(-1.0, 1.0) - self.wind) * WIND;
            let tones: f32 = self.tones.iter_mut().map(Tone::sample).sum();
            let sample = ((self.wind * haste + tones) * f32::from(i16::MAX)) as i16;
            self.checksum.add(&sample.to_le_bytes());
            self.squares += u64::from(sample.unsigned_abs()).pow(2);
        }
        self.samples += u64::from(SAMPLES_A_STEP);
    }

    pub(super) fn seconds(&self) -> f64 {
        self.samples as f64 / f64::from(RATE)
    }

    /// Returns the root of its mean square, in decibels below the loudest square wave.
    pub(super) fn level(&self) -> f64 {
        let mean = self.squares as f64 / self.samples.max(1) as f64;
        10.0 * (mean / f64::from(i16::MAX).powi(2)).log10()
    }

    /// Returns the checksum of all samples.
    pub(super) fn checksum(&self) -> Checksum {
        self.checksum
    }
}

impl Tone {
    fn sample(&mut self) -> f32 {
        self.phase += self.pitch;
        if self.phase >= 1.0 {
            self.phase -= 1.0;
        }
        self.level *= FADING;
        self.level * (4.0 * (self.phase - 0.5).abs() - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{SAMPLES_A_STEP, Sound, TONES, Touches};

    #[test]
    fn faster_boids_make_more_wind() {
        let level = |haste| {
            let mut sound = Sound::new(1);
            (0..60).for_each(|_| sound.mix(haste));
            assert_eq!(sound.samples, 60 * u64::from(SAMPLES_A_STEP));
            sound.level()
        };
        assert!(level(0.2) < level(1.0) - 10.0);
        assert_eq!(level(0.0), f64::NEG_INFINITY, "silence");
    }

    #[test]
    fn a_tone_is_heard_and_fades() {
        let mut sound = Sound::new(1);
        let touches = Touches { pairs: 3, x: 0.0 };
        (0..3 * TONES).for_each(|_| sound.strike(touches));
        sound.mix(0.0);
        let loud = sound.level();
        assert!(loud > -30.0, "{loud}");
        (0..600).for_each(|_| sound.mix(0.0));
        assert!(sound.level() < loud - 10.0);
        assert!(sound.tones.iter().all(|tone| tone.level < 1e-6));
    }
}
