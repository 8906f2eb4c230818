#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod scheduler_metrics;

pub use scheduler_metrics::SchedulerMetrics;
