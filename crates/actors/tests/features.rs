//! The optional features: reports as data, steps as spans.
#![cfg(all(feature = "serde", feature = "tracing"))]

use std::fmt;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use filch_actors::prelude::*;
use filch_scheduler::{Protocol, Scheduler, from_fn};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

enum Any {}

impl Protocol for Any {
    type Input = ();
    type Message = ();
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

#[test]
fn reports_are_data() {
    let scheduler = Scheduler::<Any>::builder()
        .workers(1)
        .observer(filch_actors::Journal::default());
    let scheduler = scheduler.build().unwrap();
    let idle = from_fn(|_, _, _| Ok(()));
    let idle = scheduler.submission(idle, "run", ()).name("idler");
    let pid = idle.submit().unwrap().pid().to_string();
    let standstill = scheduler.wait_for_standstill().unwrap();
    let standstill = serde_json::to_value(standstill).unwrap();
    let process = &standstill["processes"][0];
    assert_eq!(process["pid"], *pid);
    assert_eq!(process["names"][0], "idler");
    assert_eq!(process["activity"], "Idle");
    assert_eq!(process["queued"]["is_exact"], true);
    assert!(process["details"]["type_name"].is_string(), "{process}");
    let stats = serde_json::to_value(scheduler.stats()).unwrap();
    assert_eq!(stats["workers"][0]["steps"], 1);
    assert_eq!(stats["queues"]["new"], 0);
    let dump = serde_json::to_value(scheduler.dump()).unwrap();
    assert_eq!(dump["processes"][0]["pid"], *pid);
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let slow = from_fn(move |_, _, out| {
        entered.send(()).unwrap();
        let _ = gate.recv();
        out.done(());
        Ok(())
    });
    let slow = scheduler.submit(slow, "run", ()).unwrap();
    inside.recv().unwrap();
    let running = serde_json::to_value(scheduler.running()).unwrap();
    assert_eq!(running[0]["kind"], "Step");
    assert_eq!(running[0]["process"], *slow.pid().to_string());
    drop(go_on);
    slow.join().unwrap();
    let report = scheduler.shutdown(Duration::ZERO).unwrap();
    assert_eq!(serde_json::to_value(report).unwrap()["cancelled"], 1);
}

/// The text of each span that is entered, in order.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<String>>>);

impl Subscriber for Spans {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = Text(span.metadata().name().to_owned());
        span.record(&mut text);
        let mut spans = self.0.lock().unwrap();
        spans.push(text.0);
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        let at = span.into_u64() as usize - 1;
        self.0.lock().unwrap()[at].push_str(", entered");
    }

    fn exit(&self, span: &Id) {
        let at = span.into_u64() as usize - 1;
        self.0.lock().unwrap()[at].push_str(", left");
    }
}

/// A span as text.
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push_str(&format!(" {field}={value:?}"));
    }
}

#[test]
fn each_step_is_a_span() {
    let spans = Spans::default();
    tracing::subscriber::set_global_default(spans.clone()).unwrap();
    let scheduler = Scheduler::<Any>::builder().workers(1).build().unwrap();
    let (tell, told) = mpsc::channel();
    let future = scheduler.spawn_with(|mut inbox| async move {
        tell.send(()).unwrap();
        inbox.next().await;
    });
    let future = future.unwrap();
    told.recv().unwrap();
    scheduler.send(future.pid(), ()).unwrap();
    let pid = future.pid();
    future.join().unwrap();
    scheduler.wait_for_standstill().unwrap();
    let all = spans.0.lock().unwrap().clone();
    let own = format!("step pid={pid} type=");
    let own: Vec<_> = all.iter().filter(|span| span.starts_with(&own)).collect();
    assert!((1..=2).contains(&own.len()), "{all:?}");
    for span in own {
        assert!(span.contains("each_step_is_a_span"), "{span}");
        assert!(span.ends_with(", entered, left"), "{span}");
    }
}
