//! Prometheus reads the counts of the scheduler.

use std::sync::mpsc;

use filch_metrics::SchedulerMetrics;
use filch_scheduler::{Protocol, Scheduler, from_fn};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

enum Any {}

impl Protocol for Any {
    type Input = ();
    type Message = ();
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// Returns the sum of a metric's samples.
fn sum(text: &str, name: &str) -> f64 {
    let samples = text.lines().filter_map(|line| {
        let rest = line.strip_prefix(&format!("filch_{name}"))?;
        let rest = rest.strip_prefix("_total").unwrap_or(rest);
        let value = match rest.strip_prefix('{') {
            Some(labels) => labels.split_once("} ")?.1,
            None => rest.strip_prefix(' ')?,
        };
        Some(
            value
                .parse::<f64>()
                .unwrap_or_else(|error| panic!("{line}: {error}")),
        )
    });
    let samples: Vec<_> = samples.collect();
    assert!(!samples.is_empty(), "no sample of {name}: {text}");
    samples.iter().sum()
}

#[test]
fn what_is_scraped_is_what_was_counted() {
    let scheduler = Scheduler::<Any>::builder().workers(1).build().unwrap();
    let mut registry = Registry::with_prefix("filch");
    registry.register_collector(Box::new(SchedulerMetrics::new(scheduler.handle())));
    let scrape = || {
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        text
    };
    let idle = || {
        from_fn(|_, events, out| {
            if events.len() > 0 {
                out.done(());
            }
            Ok(())
        })
    };
    let ending = scheduler.submit(idle(), "run", ()).unwrap();
    drop(scheduler.submit(idle(), "run", ()).unwrap());
    scheduler.wait_for_standstill().unwrap();
    scheduler.send(ending.pid(), ()).unwrap();
    ending.join().unwrap();
    let failing = from_fn(|_, _, _| Err("no luck".to_owned()));
    let failing = scheduler.submit(failing, "run", ()).unwrap();
    failing.join().unwrap_err();
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let keeping = from_fn(move |_, _, out| {
        entered.send(()).unwrap();
        assert!(gate.recv().is_err());
        out.done(());
        Ok(())
    });
    drop(scheduler.submit(keeping, "run", ()).unwrap());
    inside.recv().unwrap();
    (0..3).for_each(|_| drop(scheduler.submit(idle(), "run", ()).unwrap()));
    let text = scrape();
    for (name, expected) in [
        ("processes", 5.0),
        ("runnable", 3.0),
        ("steps", 5.0),
        ("messages", 1.0),
        ("processes_ended", 2.0),
        ("processes_failed", 1.0),
    ] {
        assert_eq!(sum(&text, name), expected, "{name}\n{text}");
    }
    assert!(
        text.contains("\nfilch_runnable{queue=\"new\"} 3\n"),
        "{text}"
    );
    assert!(
        text.contains("\nfilch_steps_total{worker=\"0\"} 5\n"),
        "{text}"
    );
    drop(go_on);
}
