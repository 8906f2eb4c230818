//! Mutants that the compiler refuses are left out: an order of statements that uses what has moved,
//! say.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::edit;
use super::subject::Subject;
use crate::support::Result;

/// The kinds of mutants that change what has moved, and what is there.
const MOVES: &[&str] = &["swap", "drop", "no match"];

/// The errors about what has moved, is borrowed, or is not there yet.
const OWNERSHIP: &[&str] = &[
    "E0381", "E0382", "E0499", "E0502", "E0505", "E0506", "E0597",
];

/// Leaves out what stands where the compiler found errors, which are among its `messages`; whether
/// there was anything.
pub(super) fn leave_out(subjects: &mut [Subject<'_>], messages: &str) -> Result<bool> {
    // One error may be the other's cause, where its place is not known exactly.
    let mut begun = BTreeSet::new();
    let mut is_any = false;
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line)?;
        let error = &message["message"];
        if error["level"] != "error" {
            continue;
        }
        let code = error["code"]["code"].as_str().unwrap_or_default();
        let spans: Vec<_> = error["spans"].as_array().into_iter().flatten().collect();
        let Some(span) = spans.iter().find(|span| span["is_primary"] == true) else {
            continue;
        };
        let file = Path::new(span["file_name"].as_str().unwrap_or_default());
        let line = number(&span["line_start"]);
        let mut subjects = subjects.iter_mut().enumerate();
        let Some((index, subject)) = subjects
            .find(|(_, subject)| subject.function.file == file && subject.lines().contains(&line))
        else {
            continue;
        };
        let chosen = match swap_of(subject, span) {
            Some(place) => vec![place],
            None if begun.insert(index) => {
                let lines = spans.iter().map(|span| number(&span["line_start"]));
                near(subject, line, &lines.collect::<Vec<_>>(), code)
            }
            None => continue,
        };
        for &place in &chosen {
            let (name, what) = (&subject.function.name, &subject.mutants[place].what);
            println!("left out, {code}: {name} {what}");
        }
        is_any |= !chosen.is_empty();
        subject.left_out.extend(chosen);
    }
    Ok(is_any)
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or_default() as usize
}

/// The swap whose order of statements is refused at `span`.
fn swap_of(subject: &Subject<'_>, span: &Value) -> Option<usize> {
    let text = span["text"][0]["text"].as_str()?;
    let place_of = |number| {
        let mut mutants = subject.mutants.iter();
        mutants.position(|mutant| mutant.number == number && mutant.what.starts_with("swap"))
    };
    let is_swap = |number| place_of(number).is_some();
    place_of(edit::swap_at(text, number(&span["column_start"]), is_swap)?)
}

/// Where the error is about ownership, the mutants that move values: at the `lines` of the error,
/// or else anywhere. Otherwise the smallest at `line`; or else, all of the function.
fn near(subject: &Subject<'_>, line: usize, lines: &[usize], code: &str) -> Vec<usize> {
    let mutant = |place: usize| &subject.mutants[place];
    let is_at = |place: usize, line: &usize| mutant(place).lines.contains(line);
    let moves = |place: &usize| {
        let is_kind = |kind: &&str| mutant(*place).what.starts_with(*kind);
        OWNERSHIP.contains(&code) && MOVES.iter().any(is_kind)
    };
    let mut all = Vec::from_iter(0..subject.mutants.len());
    all.retain(|place| !subject.left_out.contains(place));
    let moves: Vec<_> = all.iter().copied().filter(moves).collect();
    let mut close = moves.clone();
    close.retain(|&place| lines.iter().any(|line| is_at(place, line)));
    let mut here = all.clone();
    here.retain(|&place| is_at(place, &line));
    let smallest = here.iter().map(|&place| mutant(place).lines.len()).min();
    here.retain(|&place| Some(mutant(place).lines.len()) == smallest);
    let mut choices = [close, moves, here, all].into_iter();
    let first = choices.find(|places| !places.is_empty());
    first.unwrap_or_default()
}
