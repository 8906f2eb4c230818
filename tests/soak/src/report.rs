//! The report: the totals, and the curve of memory and threads.

use std::fmt::Write;

use crate::account::happening::totals;
use crate::curve::{HEAP_BOUND, RESIDENT_BOUND, Sample};
use crate::soak::Outcome;

/// The beginning of the page.
const HEAD: &str = "\
# What a soak keeps

Written by `cargo xtask soak --seconds 3600 --report FILE`. [How to soak](../how-to-soak.md)
says what is done, and what must hold.

";

/// The number of rows in the table of the curve.
const ROWS: usize = 24;

/// The width of the bars at the bound.
const BAR: i64 = 40;

/// Writes the counts and findings, for the terminal.
pub(crate) fn text(outcome: &Outcome) -> String {
    let mut text = String::new();
    for (title, count) in &outcome.phases {
        line(&mut text, format_args!("{count:>9}  {title}"));
    }
    for (title, count) in totals().filter(|(_, count)| *count > 0) {
        line(&mut text, format_args!("{count:>9}  {title}"));
    }
    let start = outcome.curve.start();
    if let Some(most) = outcome.curve.points().iter().map(|point| point.heap).max() {
        let (before, after) = (start.heap, most);
        line(
            &mut text,
            format_args!("live heap: {before} bytes when warm, {after} at most after a phase"),
        );
    }
    for finding in &outcome.findings {
        line(&mut text, format_args!("VIOLATION {finding}"));
    }
    text
}

/// Writes the page for `docs/measurements`.
pub(crate) fn markdown(seed: u64, outcome: &Outcome) -> String {
    let mut page = String::new();
    let start = outcome.curve.start();
    let minutes = outcome.elapsed.as_secs_f64() / 60.0;
    let phases: u64 = outcome.phases.iter().map(|(_, count)| count).sum();
    let findings = outcome.findings.len();
    page.push_str(HEAD);
    line(
        &mut page,
        format_args!(
            "Seed {seed}, {minutes:.1} minutes, {phases} phases, {findings} violations. Between \
             two phases all\nhas ended. The live heap is what was asked for and not given back; at \
             most {HEAP_BOUND} bytes more\nthan at the beginning are allowed, and {RESIDENT_BOUND} \
             resident bytes more.\n"
        ),
    );
    for finding in &outcome.findings {
        line(&mut page, format_args!("- **violation** {finding}"));
    }
    line(
        &mut page,
        format_args!(
            "| minute | live heap, KiB | above the beginning, of the bound | resident, MiB | \
             threads |\n|--:|--:|:--|--:|--:|"
        ),
    );
    row(&mut page, &start, &start);
    let points = outcome.curve.points();
    for stretch in points.chunks(points.len().div_ceil(ROWS).max(1)) {
        let most = |of: fn(&Sample) -> i64| stretch.iter().map(of).max().unwrap_or(0);
        let point = Sample {
            at: stretch[stretch.len() - 1].at,
            heap: most(|point| point.heap),
            resident: most(|point| point.resident),
            threads: most(|point| point.threads as i64) as usize,
        };
        row(&mut page, &start, &point);
    }
    line(&mut page, format_args!("\n| times | what |\n|--:|---|"));
    for (title, count) in &outcome.phases {
        line(&mut page, format_args!("| {count} | phases: {title} |"));
    }
    for (title, count) in totals().filter(|(_, count)| *count > 0) {
        line(&mut page, format_args!("| {count} | {title} |"));
    }
    page
}

fn row(page: &mut String, start: &Sample, point: &Sample) {
    let above = (point.heap - start.heap).clamp(0, HEAP_BOUND);
    let filled = (above * BAR / HEAP_BOUND) as usize;
    let bar = format!(
        "{}{}",
        "#".repeat(filled),
        ".".repeat(BAR as usize - filled)
    );
    let (minute, heap) = (point.at.as_secs_f64() / 60.0, point.heap / 1024);
    let (resident, threads) = (point.resident >> 20, point.threads);
    line(
        page,
        format_args!("| {minute:.1} | {heap} | `{bar}` | {resident} | {threads} |"),
    );
}

fn line(to: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string never fails.
    let _ = writeln!(to, "{text}");
}
