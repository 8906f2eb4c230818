//! A layered graph of jobs: each makes one artifact out of some of the layer before.

use std::ops::Range;

use super::random::Random;

/// The time of a simulation, in nanoseconds since its begin.
pub(super) type Time = u64;

/// The number of a job, and of the artifact that it makes.
pub(super) type Job = u32;

/// The shape of a generated graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) jobs: u32,
    /// At most as many as jobs.
    pub(crate) layers: u32,
    /// A job draws from 1 to `2 * fan_in - 1` inputs, so that this is the mean. An input drawn
    /// twice counts once.
    pub(crate) fan_in: u32,
    /// A job draws its inputs from that many artifacts, those that have its own place in the layer
    /// before; zero: from all of that layer.
    pub(crate) window: u32,
    /// Among these, it draws the one at `u^skew`, for `u` uniform from 0 to 1: from 2 on, few
    /// artifacts are the input of many jobs.
    pub(crate) skew: u32,
    /// The run times of jobs, in seconds.
    pub(crate) run: LogNormal,
    /// The sizes of artifacts, in bytes.
    pub(crate) size: LogNormal,
    pub(crate) seed: u64,
}

/// A log-normal distribution: most values are small, a few are large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LogNormal {
    pub(crate) median: f64,
    /// The deviation of the logarithm. Zero: all values are the median.
    pub(crate) sigma: f64,
}

impl LogNormal {
    fn draw(self, random: &mut Random) -> f64 {
        self.median * exp(self.sigma * random.normal())
    }
}

/// Returns the exponential function, to about `x²` parts in two million. It uses multiplications
/// alone: the same bits on every machine, as `f64::exp` does not promise.
fn exp(x: f64) -> f64 {
    (0..20).fold(1.0 + x / f64::from(1 << 20), |power, _| power * power)
}

/// Jobs, numbered so that a job's inputs have smaller numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Graph {
    inputs: Lists,
    dependents: Lists,
    run: Vec<Time>,
    size: Vec<u64>,
}

/// A list for each job, all in one piece.
#[derive(Debug, Clone, Default)]
struct Lists {
    ends: Vec<u32>,
    items: Vec<Job>,
}

impl Lists {
    fn of(&self, job: Job) -> &[Job] {
        let job = job as usize;
        let start = if job == 0 { 0 } else { self.ends[job - 1] };
        &self.items[start as usize..self.ends[job] as usize]
    }

    /// Ends the list of the next job.
    fn end(&mut self) {
        self.ends.push(self.items.len() as u32);
    }
}

impl Graph {
    /// Generates the graphs of these settings and the seed of the first, always the same, as one.
    pub(super) fn generate(shapes: &[Shape]) -> Self {
        let mut random = Random::new(shapes[0].seed, 0);
        let mut graph = Self::default();
        for shape in shapes {
            graph.add(shape, &mut random);
        }
        graph.link();
        graph
    }

    fn add(&mut self, shape: &Shape, random: &mut Random) {
        const SECOND: f64 = 1e9;
        let (first, mut inputs) = (self.jobs(), Vec::new());
        let mut before = 0..0;
        for layer in 0..shape.layers {
            let jobs = first + bound(shape, layer)..first + bound(shape, layer + 1);
            for place in 0..jobs.len() as u32 {
                inputs.clear();
                if !before.is_empty() {
                    let from = window(shape, place, jobs.len() as u32, &before);
                    let count = 1 + random.below(2 * shape.fan_in - 1);
                    inputs.extend((0..count).map(|_| draw(shape.skew, &from, random)));
                }
                // At least one unit of each: zero means that there is none.
                let run = (shape.run.draw(random) * SECOND) as Time;
                let size = shape.size.draw(random) as u64;
                self.push(run.max(1), size.max(1), &mut inputs);
            }
            before = jobs;
        }
    }

    /// Adds a job; `inputs` are sorted, and each is kept once.
    fn push(&mut self, run: Time, size: u64, inputs: &mut Vec<Job>) {
        inputs.sort_unstable();
        inputs.dedup();
        self.run.push(run);
        self.size.push(size);
        self.inputs.items.extend_from_slice(inputs);
        self.inputs.end();
    }

    /// Finds the dependents of each job, in ascending order.
    fn link(&mut self) {
        let mut ends = vec![0_u32; self.run.len()];
        for &input in &self.inputs.items {
            ends[input as usize] += 1;
        }
        let mut next = 0;
        for end in &mut ends {
            // For now, where the list begins: filling it moves this to its end.
            next += std::mem::replace(end, next);
        }
        let mut items = vec![0; self.inputs.items.len()];
        for job in 0..self.jobs() {
            for &input in self.inputs.of(job) {
                let at = &mut ends[input as usize];
                items[*at as usize] = job;
                *at += 1;
            }
        }
        self.dependents = Lists { ends, items };
    }

    /// Makes a graph by hand: run time, size and inputs of each job.
    #[cfg(test)]
    pub(super) fn of(jobs: &[(Time, u64, &[Job])]) -> Self {
        let mut graph = Self::default();
        for &(run, size, inputs) in jobs {
            graph.push(run, size, &mut inputs.to_vec());
        }
        graph.link();
        graph
    }

    pub(super) fn jobs(&self) -> u32 {
        self.run.len() as u32
    }

    pub(super) fn inputs(&self, job: Job) -> &[Job] {
        self.inputs.of(job)
    }

    /// Returns the jobs that need this one's artifact.
    pub(super) fn dependents(&self, job: Job) -> &[Job] {
        self.dependents.of(job)
    }

    pub(super) fn run(&self, job: Job) -> Time {
        self.run[job as usize]
    }

    /// Returns the size of the job's artifact, in bytes.
    pub(super) fn size(&self, job: Job) -> u64 {
        self.size[job as usize]
    }

    /// Returns the number of inputs of all jobs, and the sum of their bytes.
    pub(super) fn all_inputs(&self) -> (u64, u64) {
        let sizes = self.inputs.items.iter().map(|&input| self.size(input));
        (self.inputs.items.len() as u64, sizes.sum())
    }

    /// Returns lower bounds of any build on that many slots: the longest chain of jobs and the
    /// whole work, without any transfer. `run` returns the least time that a job takes.
    pub(super) fn bounds(&self, slots: u64, run: impl Fn(Job) -> Time) -> Bounds {
        let mut chain = vec![0_u64; self.run.len()];
        let mut work = 0_u128;
        for job in 0..self.jobs() {
            let inputs = self.inputs(job).iter();
            let longest = inputs.map(|&input| chain[input as usize]).max();
            chain[job as usize] = longest.unwrap_or(0).saturating_add(run(job));
            work += u128::from(run(job));
        }
        let work = u64::try_from(work.div_ceil(u128::from(slots))).unwrap_or(u64::MAX);
        Bounds {
            chain: chain.into_iter().max().unwrap_or(0),
            work,
        }
    }
}

/// Lower bounds of any schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The critical path.
    pub(super) chain: Time,
    /// All run times, divided by all slots.
    pub(super) work: Time,
}

impl Bounds {
    pub(super) fn least(self) -> Time {
        self.chain.max(self.work)
    }
}

/// Returns the first job of a layer.
fn bound(shape: &Shape, layer: u32) -> u32 {
    (u64::from(shape.jobs) * u64::from(layer) / u64::from(shape.layers)) as u32
}

/// Returns the artifacts of the layer before from which the job at `place` of `width` draws.
fn window(shape: &Shape, place: u32, width: u32, before: &Range<Job>) -> Range<Job> {
    let all = before.len() as u32;
    let span = match shape.window {
        0 => all,
        window => window.min(all),
    };
    let centre = (u64::from(place) * u64::from(all) / u64::from(width)) as u32;
    let first = before.start + centre.saturating_sub(span / 2).min(all - span);
    first..first + span
}

fn draw(skew: u32, from: &Range<Job>, random: &mut Random) -> Job {
    let unit = random.unit();
    let power = (1..skew).fold(unit, |power, _| power * unit);
    let place = (power * from.len() as f64) as u32;
    from.start + place.min(from.len() as u32 - 1)
}
