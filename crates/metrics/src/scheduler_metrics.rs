//! The counts of a scheduler, read at each scrape.

use std::fmt;

use filch_scheduler::{Handle, Protocol, QueueLengths, Stats, WorkerStats};
use filch_sync::asymmetric::heavy_fences;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// The counts of a scheduler, as a collector. See the [crate](crate) for the metrics.
///
/// It has a handle, which keeps neither workers nor scheduler alive, and reads the
/// [stats](Handle::stats) at each scrape. If two schedulers share a registry, give each a
/// [prefix](prometheus_client::registry::Registry::sub_registry_with_prefix) or a
/// [label](prometheus_client::registry::Registry::sub_registry_with_label) of its own.
pub struct SchedulerMetrics<P: Protocol>(Handle<P>);

impl<P: Protocol> SchedulerMetrics<P> {
    /// Makes the collector of that scheduler.
    pub fn new(scheduler: Handle<P>) -> Self {
        Self(scheduler)
    }
}

impl<P: Protocol> Collector for SchedulerMetrics<P> {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let stats = self.0.stats();
        let mut encode = |name, help, metric: &dyn EncodeMetric| {
            metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
        };
        let (live, dropped) = (gauge(stats.live), stats.dropped);
        let help = "Messages that were dropped for want of room";
        encode("processes", "Processes that live", &ConstGauge::new(live))?;
        encode("messages_dropped", help, &ConstCounter::new(dropped))?;
        let help = "Heavy fences that the process passed, for jobs that silent threads had forked";
        encode("heavy_fences", help, &ConstCounter::new(heavy_fences()))?;
        encode_queues(&mut encoder, &stats.queues)?;
        COUNTERS
            .iter()
            .try_for_each(|counter| counter.encode(&mut encoder, &stats))
    }
}

fn encode_queues(encoder: &mut DescriptorEncoder<'_>, queues: &QueueLengths) -> fmt::Result {
    let mut family = encoder.encode_descriptor(
        "runnable",
        "Processes that wait to be run, by the queue that they are in",
        None,
        MetricType::Gauge,
    )?;
    let lengths = [
        ("new", queues.new),
        ("woken", queues.woken),
        ("given_way", queues.given_way),
        ("idle_priority", queues.idle_priority),
        ("local", queues.local.iter().sum()),
    ];
    for (queue, length) in lengths {
        let label = [("queue", queue)];
        ConstGauge::new(gauge(length)).encode(family.encode_family(&label)?)?;
    }
    Ok(())
}

/// A counter that each worker has.
struct WorkerCounter {
    name: &'static str,
    help: &'static str,
    of: fn(&WorkerStats) -> u64,
}

const COUNTERS: [WorkerCounter; 11] = [
    WorkerCounter {
        name: "steps",
        help: "Steps of processes",
        of: |worker| worker.steps,
    },
    WorkerCounter {
        name: "messages",
        help: "Messages, and other events except completions, that steps were given",
        of: |worker| worker.messages,
    },
    WorkerCounter {
        name: "commands",
        help: "Commands that were handed to the handler, and calls",
        of: |worker| worker.commands,
    },
    WorkerCounter {
        name: "completions",
        help: "Completions that steps were given",
        of: |worker| worker.completions,
    },
    WorkerCounter {
        name: "empty_steps",
        help: "Steps that were given nothing while commands of their process were under way",
        of: |worker| worker.empty_steps,
    },
    WorkerCounter {
        name: "processes_ended",
        help: "Processes that ended",
        of: |worker| worker.ended,
    },
    WorkerCounter {
        name: "processes_failed",
        help: "Of the processes that ended, those that did not end well",
        of: |worker| worker.failed,
    },
    WorkerCounter {
        name: "stolen",
        help: "Processes that were taken from other workers",
        of: |worker| worker.processor.stolen,
    },
    WorkerCounter {
        name: "steals",
        help: "Times that some were",
        of: |worker| worker.processor.steals,
    },
    WorkerCounter {
        name: "parks",
        help: "Times that the worker slept",
        of: |worker| worker.processor.parks,
    },
    WorkerCounter {
        name: "wake_ups",
        help: "Times that the worker woke another one",
        of: |worker| worker.processor.wake_ups,
    },
];

impl WorkerCounter {
    fn encode(&self, encoder: &mut DescriptorEncoder<'_>, stats: &Stats) -> fmt::Result {
        let mut family =
            encoder.encode_descriptor(self.name, self.help, None, MetricType::Counter)?;
        for (number, worker) in stats.workers.iter().enumerate() {
            let label = [("worker", number)];
            ConstCounter::new((self.of)(worker)).encode(family.encode_family(&label)?)?;
        }
        Ok(())
    }
}

/// Converts a count into the value of a gauge.
fn gauge(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl<P: Protocol> fmt::Debug for SchedulerMetrics<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SchedulerMetrics").field(&self.0).finish()
    }
}
