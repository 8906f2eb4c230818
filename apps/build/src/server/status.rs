//! The status page: a snapshot of the farm as HTML without scripts.

use std::time::{Duration, SystemTime};

use humantime::{format_duration, format_rfc3339_seconds};
use maud::{DOCTYPE, Markup, html};

use crate::digest::Digest;
use crate::farm::{Actions, Build, Failed, Lost, Running, Snapshot, Worker};
use crate::storage::{Limits, Storage};

/// The seconds after which a browser loads the page again.
const REFRESH: u32 = 5;

const STYLE: &str = include_str!("status.css");

/// Renders the page of a farm and its storage: the parts that have the wanted text in them. Such a
/// page has a form for that text, and stays as it is.
pub(super) fn page(
    farm: &Snapshot,
    storage: &Storage,
    limits: Limits,
    asked: Option<&str>,
) -> Markup {
    let wanted = asked.unwrap_or_default();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                @if asked.is_none() { meta http-equiv="refresh" content=(REFRESH); }
                title { "filch build farm" }
                style { (maud::PreEscaped(STYLE)) }
            }
            body {
                h1 { "filch build farm" }
                p class="quiet" {
                    (format_rfc3339_seconds(farm.at)) ", up for " (ago(farm.at, farm.started))
                    ", version " (env!("CARGO_PKG_VERSION"))
                }
                (figures(farm, storage, limits))
                @if asked.is_some() {
                    form action="/status" {
                        input name="q" value=(wanted) aria-label="text" placeholder="text";
                        " " button { "show" } " " a href="/status" { "all" }
                    }
                } @else {
                    p { a href="/status?q=" { "filter" } }
                }
                h2 { "Workers" }
                (workers(farm, wanted))
                h2 { "Running actions" }
                (running(farm, wanted))
                h2 { "Last failed actions" }
                (failed(farm, wanted))
                h2 { "Last builds" }
                (builds(farm, wanted))
            }
        }
    }
}

/// Returns true if one of the texts has the wanted one in it.
fn has(wanted: &str, texts: &[&str]) -> bool {
    texts.iter().any(|text| text.contains(wanted))
}

/// Renders the link to an action.
fn link(action: Digest) -> Markup {
    let hash = action.hex();
    html! { a href={ "/status?q=" (hash) } { code { (hash[..12]) } } }
}

/// Renders the numbers at the top.
fn figures(farm: &Snapshot, storage: &Storage, limits: Limits) -> Markup {
    let slots: usize = farm.workers.iter().map(|worker| worker.slots).sum();
    let running: usize = farm.workers.iter().map(|worker| worker.running.len()).sum();
    let Actions {
        cached,
        succeeded,
        failed,
        retried,
    } = farm.actions;
    let counters = storage.counters();
    html! {
        dl class="figures" {
            (figure("workers", farm.workers.len(), "workers"))
            (figure("running", format!("{running} of {slots}"), "slots are busy"))
            (figure("waiting", farm.waiting, "actions wait"))
            (figure("cached", cached, "were cached"))
            (figure("succeeded", succeeded, "ran"))
            (figure("failed", failed, "failed"))
            (figure("retried", retried, "were run again"))
            (figure("hit-rate", rate(counters.result_hits.get(), counters.result_misses.get()),
                "of lookups hit"))
            @if let Some(usage) = storage.usage() {
                (figure("entries", usage.entries, "blobs and results"))
                (figure("bytes", size(usage.bytes), "are stored"))
                (figure("limit", size(limits.disk), "is the limit"))
            }
        }
    }
}

fn figure(id: &str, number: impl ToString, what: &str) -> Markup {
    html! { div { dd id=(id) { (number.to_string()) } dt { (what) } } }
}

fn workers(farm: &Snapshot, wanted: &str) -> Markup {
    let shown = |worker: &&Worker| has(wanted, &[&worker.name, &worker.platform.to_string()]);
    html! {
        @if farm.workers.is_empty() {
            p { "There is no worker: actions wait until one comes." }
        } @else {
            table {
                thead { tr { th { "Name" } th { "Slots" } th { "Blobs" } th { "Since" } } }
                tbody {
                    @for worker in farm.workers.iter().filter(shown) {
                        (worker_row(worker, farm.at))
                    }
                }
            }
        }
        @for platform in &farm.absent {
            p { span class="mark" { "no worker" } " " (platform) }
        }
        @for Lost { name, at, why } in &farm.lost {
            @if has(wanted, &[name, why]) {
                p class="quiet" { "lost " (ago(farm.at, *at)) " ago: " (name) ": " (why) }
            }
        }
    }
}

fn worker_row(worker: &Worker, now: SystemTime) -> Markup {
    let busy = worker.running.len();
    html! {
        tr class="worker" {
            td {
                (worker.name)
                @if worker.leaving { span class="mark" { "leaving" } }
                div class="quiet" { (worker.platform) " " (worker.address) }
            }
            td {
                meter min="0" max=(worker.slots) value=(busy) {} " "
                span class="number" { (busy) "/" (worker.slots) }
            }
            td class="number" { (worker.blobs) }
            td class="number" { (ago(now, worker.since)) }
        }
    }
}

fn running(farm: &Snapshot, wanted: &str) -> Markup {
    let running = |worker: &Worker| !worker.running.is_empty();
    if !farm.workers.iter().any(running) {
        return html! { p { "None." } };
    }
    html! {
        @for worker in &farm.workers {
            @for Running { action, command, since, .. } in &worker.running {
                @if has(wanted, &[&worker.name, command, &action.hex()]) {
                    div class="running" {
                        span class="number" { (ago(farm.at, *since)) } " on " (worker.name) " "
                        (link(*action))
                        div { code { (command) } }
                    }
                }
            }
        }
    }
}

fn failed(farm: &Snapshot, wanted: &str) -> Markup {
    let shown = |failed: &&Failed| {
        let (worker, command) = match &failed.run {
            Some((worker, running)) => (&**worker, &*running.command),
            None => ("", ""),
        };
        let Failed {
            action,
            target,
            why,
            ..
        } = failed;
        has(wanted, &[worker, command, &action.hex(), target, why])
    };
    html! {
        @if farm.failed.is_empty() { p { "None." } }
        @for failed in farm.failed.iter().filter(shown) {
            div class="running" {
                b { (failed.target) } " " (failed.why) ", " (ago(farm.at, failed.ended)) " ago "
                (link(failed.action))
                @if let Some((worker, running)) = &failed.run {
                    div class="quiet" {
                        "waited " (ago(running.since, failed.asked))
                        ", ran " (ago(failed.ended, running.since)) " on " (worker)
                    }
                    div { code { (running.command) } }
                }
                @if !failed.stderr.is_empty() { pre { (failed.stderr) } }
            }
        }
    }
}

fn builds(farm: &Snapshot, wanted: &str) -> Markup {
    let first = farm.builds.iter().map(|build| build.first).min();
    let last = farm.builds.iter().map(|build| build.last).max();
    let (Some(first), Some(last)) = (first, last) else {
        return html! { p { "None yet." } };
    };
    html! {
        p class="legend" {
            span class="key cached" {} "cached " span class="key succeeded" {} "ran "
            span class="key failed" {} "failed " span class="key pending" {} "waits or runs"
        }
        @for build in &farm.builds {
            @if has(wanted, &[&build.tool, &build.invocation]) { (build_row(build, first, last)) }
        }
        p class="axis quiet" {
            span { (format_rfc3339_seconds(first)) } span { (format_rfc3339_seconds(last)) }
        }
    }
}

/// Renders a build, and its place on the time from `first` to `last`.
fn build_row(build: &Build, first: SystemTime, last: SystemTime) -> Markup {
    let Actions {
        cached,
        succeeded,
        failed,
        ..
    } = build.actions;
    let tool = if build.tool.is_empty() {
        "a client"
    } else {
        &build.tool
    };
    html! {
        div class="build" {
            p {
                b { (tool) } " " span class="quiet" { (build.invocation) } br;
                (cached) " cached, " (succeeded) " ran, " (failed) " failed"
                @if build.pending > 0 { ", " (build.pending) " pending" }
                ", " (ago(build.last, build.first))
            }
            svg width="100%" height="14" role="img" aria-label="when it ran" {
                rect class="track" width="100%" height="14" {}
                @for Bar { kind, x, width } in bars(build, first, last) {
                    rect class=(kind) x=(percent(x)) width=(percent(width)) height="14" {}
                }
            }
        }
    }
}

/// A part of a build's line, as shares of the whole width.
struct Bar {
    kind: &'static str,
    x: f64,
    width: f64,
}

/// The least width of a build's line, so that it is visible.
const LEAST: f64 = 0.01;

/// Computes the bars of a build's ends, side by side on the time that it took.
fn bars(build: &Build, first: SystemTime, last: SystemTime) -> Vec<Bar> {
    let whole = since(last, first).as_secs_f64();
    let share = |time: Duration| {
        if whole > 0.0 {
            time.as_secs_f64() / whole
        } else {
            1.0
        }
    };
    let width = share(since(build.last, build.first)).max(LEAST);
    let mut x = share(since(build.first, first)).min(1.0 - width);
    let kinds = [
        ("cached", build.actions.cached),
        ("succeeded", build.actions.succeeded),
        ("failed", build.actions.failed),
        ("pending", build.pending),
    ];
    let all: u64 = kinds.iter().map(|(_, count)| count).sum();
    let mut bars = Vec::new();
    for (kind, count) in kinds.into_iter().filter(|(_, count)| *count > 0) {
        let width = width * count as f64 / all as f64;
        bars.push(Bar { kind, x, width });
        x += width;
    }
    bars
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// Writes a share as `97%`; a dash before the first lookup.
fn rate(hits: u64, misses: u64) -> String {
    match hits + misses {
        0 => "–".to_owned(),
        all => format!("{:.0}%", 100.0 * hits as f64 / all as f64),
    }
}

fn since(later: SystemTime, earlier: SystemTime) -> Duration {
    later.duration_since(earlier).unwrap_or_default()
}

/// Writes a time in its two largest units: `3m 20s`, `250ms`.
fn ago(now: SystemTime, then: SystemTime) -> String {
    let time = since(now, then);
    let unit = match time.as_secs() {
        0 => Duration::from_millis(1),
        1..3600 => Duration::from_secs(1),
        3600..86400 => Duration::from_secs(60),
        _ => Duration::from_secs(3600),
    };
    let whole = time.as_nanos() / unit.as_nanos();
    let rounded = unit * u32::try_from(whole).unwrap_or(u32::MAX);
    format_duration(rounded).to_string()
}

fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && size < 100.0);
    format!("{size:.digits$} {}", UNITS[unit])
}
