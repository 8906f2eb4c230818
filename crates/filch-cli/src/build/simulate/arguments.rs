//! The options of `filch build simulate`.

use std::time::Duration;

use clap::{Args, value_parser};

use super::farm::Link;
use super::graph::{LogNormal, Shape};
use super::policy::Timeouts;
use super::simulation::Setup;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Jobs of the graph. [default: 1000000, or 20000 if it is quick]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000_000))]
    jobs: Option<u32>,
    /// Layers of the graph: a job has its inputs in the layer before.
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = value_parser!(u32).range(1..=100_000))]
    layers: u32,
    /// Inputs of a job, on average: from 1 to twice as many less one, equally likely.
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = value_parser!(u32).range(1..=100))]
    fan_in: u32,
    /// The number of artifacts from which a job draws its inputs, those that have its own place in
    /// the layer before. 0: all of that layer.
    #[arg(long, value_name = "N", default_value_t = 0)]
    window: u32,
    /// The inequality of artifacts: a job draws those at u to the power of N. 1: all are equal.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u32).range(1..=8))]
    skew: u32,
    /// Run times are log-normal: their median.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = positive)]
    run: f64,
    /// The deviation of the logarithm of the run times. 0: all are equal.
    #[arg(long, value_name = "SIGMA", default_value = "1", value_parser = sigma)]
    run_sigma: f64,
    /// Sizes of artifacts are log-normal: their median.
    #[arg(long, value_name = "MB", default_value = "8", value_parser = positive)]
    size: f64,
    /// The deviation of the logarithm of the sizes. 0: all are equal.
    #[arg(long, value_name = "SIGMA", default_value = "1", value_parser = sigma)]
    size_sigma: f64,
    /// The seed of the graph and of decisions.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Workers of the farm. [default: 1000, or 100 if it is quick]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100_000))]
    workers: Option<u32>,
    /// Jobs that a worker runs at a time.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u32).range(1..=1_000))]
    slots: u32,
    /// The share of results that a random worker has in its cache already, from 0 to 1.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    cached: f64,
    /// The rate at which a worker fetches inputs that it does not have, one after the other.
    #[arg(long, value_name = "MB/S", default_value = "125", value_parser = positive)]
    bandwidth: f64,
    /// The additional time of each fetch.
    #[arg(long, value_name = "SECONDS", default_value = "0.001", value_parser = not_negative)]
    latency: f64,
    /// Makes the link so fast that the transfer of all inputs takes that many times the run time of
    /// all jobs.
    #[arg(long, value_name = "RATIO", value_parser = positive)]
    pub(super) ratio: Option<f64>,

    /// The time that filch keeps a job for workers that have its result; `never` ends.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = wait)]
    cache_timeout: Wait,
    /// The time that filch then keeps it for workers that have an input; `never` ends.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = wait)]
    deps_timeout: Wait,

    /// A small build: a hundred workers and 20000 jobs.
    #[arg(long)]
    quick: bool,
}

/// A timeout; `None` has no end.
#[derive(Debug, Clone, Copy)]
struct Wait(Option<Duration>);

const MB: f64 = 1e6;

impl Arguments {
    /// Checks options that are wrong only in combination.
    ///
    /// # Errors
    /// The reason why they are wrong.
    pub(super) fn check(&self) -> Result<(), String> {
        let Shape { layers, jobs, .. } = self.shape();
        if layers > jobs {
            return Err(format!("{layers} layers need as many jobs, not {jobs}"));
        }
        if self.ratio.is_some() && layers < 2 {
            let reason = "in a graph of one layer no job has inputs to transfer";
            return Err(format!("{reason}, so there is no ratio to set"));
        }
        Ok(())
    }

    pub(super) fn shape(&self) -> Shape {
        let jobs = if self.quick { 20_000 } else { 1_000_000 };
        Shape {
            jobs: self.jobs.unwrap_or(jobs),
            layers: self.layers,
            fan_in: self.fan_in,
            window: self.window,
            skew: self.skew,
            run: LogNormal {
                median: self.run,
                sigma: self.run_sigma,
            },
            size: LogNormal {
                median: self.size * MB,
                sigma: self.size_sigma,
            },
            seed: self.seed,
        }
    }

    pub(super) fn setup(&self) -> Setup {
        let workers = if self.quick { 100 } else { 1_000 };
        Setup {
            workers: self.workers.unwrap_or(workers),
            slots: self.slots,
            link: Link {
                latency: self.latency,
                bandwidth: self.bandwidth * MB,
            },
            cached: self.cached,
            seed: self.seed,
        }
    }

    pub(super) fn timeouts(&self) -> Timeouts {
        Timeouts {
            cache: self.cache_timeout.0,
            deps: self.deps_timeout.0,
        }
    }
}

/// The largest run, size, rate or wait, in any unit.
const MOST: f64 = 1e6;

fn number(text: &str, is_fine: impl Fn(f64) -> bool, what: &str) -> Result<f64, String> {
    let number = text.parse().map_err(|_| "not a number".to_owned())?;
    if is_fine(number) {
        Ok(number)
    } else {
        Err(format!("not {what}"))
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let is_fine = |number| (1e-6..=MOST).contains(&number);
    number(text, is_fine, "from 0.000001 to 1000000")
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(
        text,
        |number| (0.0..=MOST).contains(&number),
        "from 0 to 1000000",
    )
}

fn sigma(text: &str) -> Result<f64, String> {
    number(text, |number| (0.0..=3.0).contains(&number), "from 0 to 3")
}

fn share(text: &str) -> Result<f64, String> {
    number(text, |number| (0.0..=1.0).contains(&number), "from 0 to 1")
}

fn wait(text: &str) -> Result<Wait, String> {
    if text == "never" {
        return Ok(Wait(None));
    }
    let seconds = not_negative(text).map_err(|error| format!("{error}, and not `never`"))?;
    Ok(Wait(Some(Duration::from_secs_f64(seconds))))
}
