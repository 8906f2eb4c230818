//! The options of `filch build simulate`.

use std::fs;
use std::ops::RangeInclusive;
use std::time::Duration;

use clap::{Args, value_parser};
use filch::build_scheduler::Config;

use super::farm::Link;
use super::graph::{LogNormal, Shape};
use super::setting::{Group, Setting, sum};
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
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = number(1e-6..=MOST))]
    run: f64,
    /// The deviation of the logarithm of the run times. 0: all are equal.
    #[arg(long, value_name = "SIGMA", default_value = "1", value_parser = number(0.0..=3.0))]
    run_sigma: f64,
    /// Sizes of artifacts are log-normal: their median.
    #[arg(long, value_name = "MB", default_value = "8", value_parser = number(1e-6..=MOST))]
    size: f64,
    /// The deviation of the logarithm of the sizes. 0: all are equal.
    #[arg(long, value_name = "SIGMA", default_value = "1", value_parser = number(0.0..=3.0))]
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
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = number(0.0..=1.0))]
    cached: f64,
    /// The rate at which a worker fetches inputs that it does not have, one after the other.
    #[arg(long, value_name = "MB/S", default_value = "125", value_parser = number(1e-6..=MOST))]
    bandwidth: f64,
    /// The additional time of each fetch.
    #[arg(long, value_name = "SECONDS", default_value = "0.001", value_parser = number(0.0..=MOST))]
    latency: f64,
    /// Makes the link so fast that the transfer of all inputs takes that many times the run time of
    /// all jobs.
    #[arg(long, value_name = "RATIO", value_parser = number(1e-6..=MOST))]
    pub(super) ratio: Option<f64>,

    /// The time that filch keeps a job for workers that have its result; `never` ends.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = wait)]
    cache_timeout: Duration,
    /// The time that filch then keeps it for workers that have an input; `never` ends.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = wait)]
    deps_timeout: Duration,

    /// A file of TOML with `[[pools]]` of `workers` and `[[invocations]]` of `jobs`, each of a
    /// `name`, `properties`, `cpus`, `memory` (GiB), and `priority`.
    #[arg(long, value_name = "FILE", value_parser = farm)]
    #[arg(conflicts_with_all = ["workers", "slots", "jobs"])]
    pub(super) farm: Option<Setting>,

    /// A small build: a hundred workers and 20000 jobs.
    #[arg(long)]
    quick: bool,
}

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
        let of_farm = self.farm.as_ref().map(|farm| sum(&farm.invocations));
        Shape {
            jobs: of_farm.or(self.jobs).unwrap_or(jobs),
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
        let pools = self.farm.iter().flat_map(|farm| &farm.pools);
        let most = pools.map(Group::cpus).max();
        let of_farm = self.farm.as_ref().map(|farm| sum(&farm.pools));
        Setup {
            workers: of_farm.or(self.workers).unwrap_or(workers),
            slots: most.map_or(self.slots, |cpus| cpus as u32),
            link: Link {
                latency: self.latency,
                bandwidth: self.bandwidth * MB,
            },
            cached: self.cached,
            seed: self.seed,
        }
    }

    pub(super) fn waits(&self) -> Config {
        Config::new(self.cache_timeout, self.deps_timeout).seed(self.seed)
    }
}

fn farm(path: &str) -> Result<Setting, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let farm: Setting = toml::from_str(&text).map_err(|error| error.to_string())?;
    let pools: Vec<_> = farm
        .pools
        .iter()
        .map(|pool| pool.platform(u64::MAX))
        .collect();
    let mut needs = farm.invocations.iter().map(|jobs| jobs.platform(0));
    match needs.find(|needs| !pools.iter().any(|pool| pool.fits(needs))) {
        Some(needs) => Err(format!("no worker fits a job that asks for {needs}")),
        None => Ok(farm),
    }
}

/// The largest run, size, rate or wait, in any unit.
const MOST: f64 = 1e6;

/// Makes a parser of the numbers in that range.
fn number(range: RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| {
        let number = text.parse().map_err(|_| "not a number".to_owned())?;
        match range.contains(&number) {
            true => Ok(number),
            false => Err(format!("not from {} to {}", range.start(), range.end())),
        }
    }
}

fn wait(text: &str) -> Result<Duration, String> {
    if text == "never" {
        return Ok(Duration::MAX);
    }
    let seconds = number(0.0..=MOST)(text).map_err(|error| format!("{error}, and not `never`"))?;
    Ok(Duration::from_secs_f64(seconds))
}
