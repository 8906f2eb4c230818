//! Mutants that the compiler refuses are left out: an order of statements that uses what has moved,
//! say.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::edit;
use super::subject::Subject;
use crate::support::error::Result;

/// The kinds of mutants that change what has moved, and what is there.
const MOVES: &[&str] = &["swap", "drop", "no match"];

/// The errors about what has moved, is borrowed, or is not there yet.
const OWNERSHIP: &[&str] = &[
    "E0381", "E0382", "E0499", "E0502", "E0505", "E0506", "E0597",
];

/// Leaves out what stands where the compiler found errors, which are among its `messages`; whether
/// there was anything.
pub(super) fn leave_out(subjects: &mut [Subject], messages: &str) -> Result<bool> {
    // One error may be the other's cause, where its place is not known exactly.
    let mut begun = BTreeSet::new();
    let mut is_any = false;
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line)?;
        let error = &message["message"];
        if error["level"] != "error" {
            continue;
        }
        let spans: Vec<_> = error["spans"].as_array().into_iter().flatten().collect();
        for span in spans.iter().filter(|span| span["is_primary"] == true) {
            let file = Path::new(span["file_name"].as_str().unwrap_or_default());
            let line = number(&span["line_start"]);
            let is_there = |subject: &Subject| {
                subject.function.file == file && subject.lines().contains(&line)
            };
            let found = subjects
                .iter_mut()
                .enumerate()
                .find(|(_, subject)| is_there(subject));
            let Some((index, subject)) = found else {
                continue;
            };
            let code = error["code"]["code"].as_str().unwrap_or_default();
            let chosen = match swap_of(subject, span) {
                Some(place) => vec![place],
                None if begun.insert(index) => near(subject, &spans, line, code),
                None => continue,
            };
            let names: Vec<_> = chosen
                .iter()
                .map(|&place| &*subject.mutants[place].what)
                .collect();
            if !names.is_empty() {
                println!(
                    "left out, {code}: {} {}",
                    subject.function.name,
                    names.join("; ")
                );
            }
            is_any |= !chosen.is_empty();
            subject.left_out.extend(chosen);
        }
    }
    Ok(is_any)
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or_default() as usize
}

/// The swap whose order of statements is refused at `span`.
fn swap_of(subject: &Subject, span: &Value) -> Option<usize> {
    let text = span["text"][0]["text"].as_str()?;
    let place = |number: u32| {
        number
            .checked_sub(subject.first)
            .map(|place| place as usize)
    };
    let is_swap = |number| {
        let mutant = place(number).and_then(|place| subject.mutants.get(place));
        mutant.is_some_and(|mutant| mutant.what.starts_with("swap"))
    };
    place(edit::swap_at(text, number(&span["column_start"]), is_swap)?)
}

/// The smallest mutants at `line`; or, where the error is about ownership, those that move values:
/// at the lines of the error, else anywhere; or else, all of the function.
fn near(subject: &Subject, spans: &[&Value], line: usize, code: &str) -> Vec<usize> {
    let is_left = |place: &usize| !subject.left_out.contains(place);
    let places = || (0..subject.mutants.len()).filter(is_left);
    let touches = |place: usize, line: usize| subject.mutants[place].lines.contains(&line);
    if OWNERSHIP.contains(&code) {
        let moves = |place: &usize| {
            let what = &subject.mutants[*place].what;
            MOVES.iter().any(|kind| what.starts_with(kind))
        };
        let lines: Vec<_> = spans
            .iter()
            .map(|span| number(&span["line_start"]))
            .collect();
        let is_near = |place: &usize| lines.iter().any(|&line| touches(*place, line));
        let close: Vec<_> = places().filter(moves).filter(is_near).collect();
        if !close.is_empty() {
            return close;
        }
        let any: Vec<_> = places().filter(moves).collect();
        return if any.is_empty() {
            places().collect()
        } else {
            any
        };
    }
    let here: Vec<_> = places().filter(|&place| touches(place, line)).collect();
    let size = |place: &usize| subject.mutants[*place].lines.len();
    match here.iter().map(size).min() {
        Some(smallest) => here
            .into_iter()
            .filter(|place| size(place) == smallest)
            .collect(),
        None => places().collect(),
    }
}
