//! The status page and the metrics of an invented farm.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use openmetrics_parser::OpenMetricsValue;
use openmetrics_parser::openmetrics::parse_openmetrics;

use super::metrics::{Metrics, method};
use super::status::page;
use crate::digest::Digest;
use crate::farm::{
    Actions, Build, Failed, Lost, Platform, Properties, Running, Snapshot, Times, Worker,
};
use crate::storage::{Limits, Storage, Usage};

const HOSTILE: &str = "</code><script>alert(\"1\")</script>&'";

fn farm() -> Snapshot {
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let ago = |seconds| at - Duration::from_secs(seconds);
    let running = |command: &str, seconds| Running {
        run: 1,
        action: Digest::of(command.as_bytes()),
        command: command.into(),
        since: ago(seconds),
    };
    let gcc = "/bin/bash -c source external/bazel_tools/tools/genrule/genrule-setup.sh; \
        /usr/bin/gcc -c -Ibazel-out/k8-fastbuild/bin 17.c -o bazel-out/k8-fastbuild/bin/17.o";
    let worker = |name: &str, slots, running| Worker {
        name: name.into(),
        address: "http://10.0.0.7:50052".into(),
        since: ago(8000),
        slots,
        platform: Arc::new(Platform {
            properties: Properties::from([("OSFamily".to_owned(), "linux".to_owned())]),
            cpus: 4000,
            memory: 8 << 30,
        }),
        running,
        blobs: 1234,
        leaving: false,
    };
    let build = |tool: &str, first, last, cached, succeeded, failed, pending| Build {
        invocation: "c250dc7a-dba9-49fd-b3f7-824117b6a892".into(),
        tool: tool.into(),
        first: ago(first),
        last: ago(last),
        pending,
        actions: Actions {
            cached,
            succeeded,
            failed,
            retried: 0,
        },
    };
    let mut left = worker("build-2", 4, vec![]);
    left.leaving = true;
    Snapshot {
        at,
        started: ago(90_000),
        workers: vec![
            worker("build-1", 2, vec![running(gcc, 75), running(HOSTILE, 0)]),
            left,
            worker(HOSTILE, 8, vec![running("sleep 1000", 3000)]),
        ],
        waiting: 61,
        actions: Actions {
            cached: 4711,
            succeeded: 1200,
            failed: 3,
            retried: 2,
        },
        builds: vec![
            build("bazel 2.1.0", 90, 0, 20, 119, 0, 61),
            build(HOSTILE, 140, 100, 200, 0, 0, 0),
            build("moon 2.5.5", 600, 300, 60, 100, 40, 0),
            build("", 620, 620, 0, 1, 0, 0),
        ],
        failed: vec![
            Failed {
                action: Digest::of(gcc.as_bytes()),
                target: "CppCompile //src:17".into(),
                run: Some(("build-1".into(), running(gcc, 20))),
                asked: ago(27),
                ended: ago(8),
                why: "exit code 1".into(),
                stderr: "17.c:3: error: expected ';' before '}' token\n".into(),
            },
            Failed {
                action: Digest::of(HOSTILE.as_bytes()),
                target: HOSTILE.into(),
                run: None,
                asked: ago(99),
                ended: ago(98),
                why: HOSTILE.into(),
                stderr: HOSTILE.into(),
            },
        ],
        lost: vec![Lost {
            name: HOSTILE.into(),
            at: ago(300),
            why: "the worker has been silent for too long".into(),
        }],
        absent: vec![HOSTILE.into(), "OSFamily=macos 8 CPUs".into()],
    }
}

fn storage() -> Storage {
    let storage = Storage::in_memory();
    storage.counters().result_hits.inc_by(97);
    storage.counters().result_misses.inc_by(3);
    storage
}

#[test]
fn what_clients_say_is_text_on_the_page() {
    let page = page(&farm(), &storage(), Limits::default(), None).into_string();
    // So that a person can look at it.
    if let Some(place) = std::env::var_os("FILCH_STATUS_PAGE") {
        std::fs::write(place, &page).unwrap();
    }
    assert!(!page.contains("<script"), "{page}");
    let escaped = "&lt;/code&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;'";
    // A command, a worker's name twice, and a client's; a failure's three texts, a lost worker, a
    // platform.
    assert_eq!(page.matches(escaped).count(), 9, "{page}");
}

#[test]
fn a_filter_shows_one_action_or_what_has_its_text() {
    let show = |wanted: &str| {
        let page = page(&farm(), &storage(), Limits::default(), Some(wanted));
        page.into_string()
    };
    let all = show("");
    assert!(
        !all.contains("http-equiv"),
        "it would take away what somebody types"
    );
    for part in [
        "17.c:3: error",
        "CppCompile //src:17",
        "waited 7s, ran 12s",
        "OSFamily=macos",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    let action = Digest::of(b"sleep 1000").hex();
    assert!(
        all.contains(&format!("href=\"/status?q={action}\"")),
        "{all}"
    );
    let one = show(&action);
    assert!(one.contains("sleep 1000") && !one.contains("17.c"), "{one}");
    let failed = show("CppCompile");
    assert!(
        failed.contains("17.c:3") && !failed.contains("sleep 1000"),
        "{failed}"
    );
    let hostile = show(HOSTILE);
    assert!(!hostile.contains("<script"), "{hostile}");
    assert!(!show("\"><b>").contains("\"><b>"));
}

#[test]
fn an_empty_farm_has_a_page() {
    let empty = Snapshot {
        workers: vec![],
        builds: vec![],
        failed: vec![],
        lost: vec![],
        absent: vec![],
        waiting: 0,
        actions: Actions::default(),
        ..farm()
    };
    let page = page(&empty, &Storage::in_memory(), Limits::default(), None).into_string();
    assert!(page.contains("There is no worker"), "{page}");
    assert!(!page.contains("NaN"), "{page}");
}

#[test]
fn prometheus_can_read_the_metrics() {
    let times = Times::default();
    times.waited.observe(3.0);
    let metrics = Metrics::new(storage().counters(), times);
    metrics.observe("Execute", Duration::from_millis(3));
    let usage = Usage {
        entries: 12_345,
        bytes: 3_456_789_012,
    };
    let text = metrics
        .encode(&farm(), Some(usage), Limits::default())
        .unwrap();
    let exposition = parse_openmetrics(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for (name, expected) in [
        ("actions", 4711.0 + 1200.0 + 3.0),
        ("actions_retried", 2.0),
        ("actions_waiting", 61.0),
        ("workers", 3.0),
        ("worker_slots", 14.0),
        ("worker_running_actions", 3.0),
        ("result_hits", 97.0),
        ("stored_bytes", 3_456_789_012.0),
        ("stored_limit_bytes", (10_u64 << 30) as f64),
        ("platforms_without_workers", 2.0),
    ] {
        let family = &exposition.families[&format!("filch_build_{name}")];
        let values = family.iter_samples().map(|sample| match &sample.value {
            OpenMetricsValue::Counter(counter) => counter.value.as_f64(),
            OpenMetricsValue::Gauge(value) => value.as_f64(),
            other => panic!("{name}: {other:?}"),
        });
        assert_eq!(values.sum::<f64>(), expected, "{name}\n{text}");
    }
    let requests = &exposition.families["filch_build_request_duration_seconds"];
    let method = requests
        .get_label_names()
        .iter()
        .any(|name| name == "method");
    assert!(method, "{text}");
}

#[test]
fn a_client_makes_no_names_of_metrics() {
    let execution = "/build.bazel.remote.execution.v2.Execution";
    assert_eq!(method("POST", &format!("{execution}/Execute")), "Execute");
    assert_eq!(method("POST", &format!("{execution}/{HOSTILE}")), "other");
    assert_eq!(method("PUT", "/cas/0123"), "PUT /cas");
    assert_eq!(method("BREW", "/cas/0123"), "other");
    assert_eq!(method("GET", "/"), "other");
}
