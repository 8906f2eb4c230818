//! `cargo xtask mutants`: would a test or a model notice if a condition, an effect or an order were
//! wrong?
//!
//! All mutants are compiled into a copy of the tree at once, each dormant; an environment variable
//! chooses one, so a mutant costs a run of tests and no build. The tests and models that reach it
//! run, the shortest first, until one of them shows it. Verdicts are kept per function, with its
//! fingerprint; only functions whose code has changed are judged again.

mod campaign;
mod edit;
mod function;
mod ledger;
mod operator;
mod schema;
mod switch;
mod symptom;
mod syntax;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::commands::{loom, orderings};
use crate::support::code::begins_tests;
use crate::support::error::Result;
use crate::support::process::{files_below, root};
use crate::support::tally::Tally;

use campaign::Kill;
use function::Function;
use ledger::{Ledger, Row, Survivor};
use schema::Subject;

pub(crate) use ledger::place;

#[derive(Args)]
pub(crate) struct Options {
    /// Judge the functions again that have verdicts.
    #[arg(long)]
    all: bool,

    /// Only list the mutants of the functions that would be judged.
    #[arg(long)]
    list: bool,

    /// Leave out the tests and models that take longer without a mutant.
    #[arg(long, value_name = "SECONDS", default_value_t = 40)]
    longest: u64,

    /// Only functions whose `path name` contains this: `injector/src`, or `Claim::drop`.
    filter: Option<String>,
}

/// Whose mutants are judged: sources, and the packages whose tests run besides their models.
const SUBJECTS: &[(&str, &str)] = &[
    ("injector", "crates/injector/src"),
    ("slab", "crates/slab/src"),
    ("process-state", "crates/process-state/src"),
    ("parker", "crates/parker/src"),
    ("promise", "crates/promise/src"),
];

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let filter = options.filter.as_deref().unwrap_or_default();
    let mut is_anything_open = false;
    for (name, sources) in SUBJECTS {
        let functions = functions(sources)?;
        let tests = Tests::of(name)?;
        let mut rows = carried(&Ledger::read(name)?, &functions);
        let is_wanted = |function: &Function, row: &Option<Row>| {
            let full = format!("{} {}", function.file.display(), function.name);
            let is_old = |row: &Row| row.is_open() || tests.gone(row).next().is_some();
            (options.all || row.as_ref().is_none_or(is_old)) && full.contains(filter)
        };
        let mut chosen = Vec::new();
        let mut first = 0;
        for (index, function) in functions.into_iter().enumerate() {
            if is_wanted(&function, &rows[index].1) {
                let subject = Subject::new(function, first);
                first += subject.mutants.len() as u32;
                chosen.push((index, subject));
            }
        }
        if options.list {
            for (
                _,
                Subject {
                    function, mutants, ..
                },
            ) in &chosen
            {
                for mutant in mutants {
                    println!(
                        "{} {}: {}",
                        function.file.display(),
                        function.name,
                        mutant.what
                    );
                }
            }
            continue;
        }
        if first > 0 {
            println!("\n== {name}: {first} mutants of {} functions", chosen.len());
            let (places, mut subjects): (Vec<_>, Vec<_>) = chosen.into_iter().unzip();
            let old = Ledger::read(name)?;
            let new = judge(
                name,
                &mut subjects,
                &old,
                Duration::from_secs(options.longest),
            )?;
            for (index, row) in places.into_iter().zip(new) {
                rows[index].1 = Some(row);
            }
        }
        // What was not judged again keeps its old row: its reasons may still be good.
        let old = Ledger::read(name)?.rows;
        let kept = rows
            .into_iter()
            .filter_map(|(at, row)| row.or_else(|| old.iter().find(|old| old.at == at).cloned()));
        let rows: Vec<_> = kept.filter(|row| row.mutants() > 0).collect();
        is_anything_open |= report(name, &rows);
        Ledger { rows }.write(name)?;
    }
    Ok(Tally::of(!is_anything_open).exit_code())
}

/// The functions below `sources`, with their names in a ledger.
fn functions(sources: &str) -> Result<Vec<Function>> {
    let mut functions = Vec::new();
    for file in files_below(root(), &[sources], "rs")? {
        if is_for_tests(&file) {
            continue;
        }
        let text = fs::read_to_string(root().join(&file))?;
        functions.extend(function::of(&file, &text)?);
    }
    Ok(functions)
}

/// Whether the crate's root declares the file under `#[cfg(test)]`.
fn is_for_tests(file: &Path) -> bool {
    let root_file = root().join(file.with_file_name("lib.rs"));
    let declarations = fs::read_to_string(root_file).unwrap_or_default();
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let declaration = format!("mod {name};");
    let lines: Vec<_> = declarations.lines().collect();
    let mut pairs = lines.windows(2);
    pairs.any(|pair| begins_tests(pair[0]) && pair[1] == declaration)
}

/// `claim.rs Claim::drop`
fn name_in_ledger(function: &Function) -> String {
    let inner: Vec<_> = function
        .file
        .iter()
        .skip(3)
        .map(|part| part.to_string_lossy())
        .collect();
    format!("{} {}", inner.join("/"), function.name)
}

/// Each function's name, and the row that is about it: one of its name with its code, or one with
/// its code that no function of that name has any more.
fn carried(ledger: &Ledger, functions: &[Function]) -> Vec<(String, Option<Row>)> {
    let names: Vec<_> = functions.iter().map(name_in_ledger).collect();
    let find = |function: &Function, name: &String| {
        let mut same = ledger
            .rows
            .iter()
            .filter(|row| row.code == function.fingerprint);
        let own = same.clone().find(|row| row.at == *name);
        let row = own.or_else(|| same.find(|row| !names.contains(&row.at)))?;
        let at = name.clone();
        Some(Row { at, ..row.clone() })
    };
    let pairs = functions.iter().zip(&names);
    pairs
        .map(|(function, name)| (name.clone(), find(function, name)))
        .collect()
}

/// Judges the mutants of `subjects`, and keeps the reasons that `old` gives.
fn judge(
    name: &str,
    subjects: &mut [Subject],
    old: &Ledger,
    longest: Duration,
) -> Result<Vec<Row>> {
    let packages = [format!("filch-{name}")];
    let models = subjects
        .iter()
        .filter_map(|subject| orderings::models_about(&subject.function.file));
    let models: BTreeSet<_> = models.flatten().copied().collect();
    let models: Vec<_> = models.into_iter().collect();
    schema::build(subjects, &packages)?;
    let tests = campaign::tests(&packages, &models, longest)?;
    let mut mutants = Vec::new();
    for subject in &*subjects {
        for (place, mutant) in subject.mutants.iter().enumerate() {
            if !subject.left_out.contains(&place) {
                mutants.push((name_in_ledger(&subject.function), mutant));
            }
        }
    }
    let mut kills = campaign::run(&tests, &mutants)?.into_iter();
    let mut rows = Vec::new();
    for subject in &*subjects {
        rows.push(row(subject, &mut kills, old));
    }
    Ok(rows)
}

fn row(subject: &Subject, kills: &mut impl Iterator<Item = Option<Kill>>, old: &Ledger) -> Row {
    let mut row = Row {
        at: name_in_ledger(&subject.function),
        code: subject.function.fingerprint.clone(),
        left_out: subject.left_out.len(),
        ..Row::default()
    };
    let known = old.rows.iter().find(|known| known.at == row.at);
    let mut reasons: Vec<_> = known.map_or(Vec::new(), |known| known.survived.clone());
    for (place, mutant) in subject.mutants.iter().enumerate() {
        if subject.left_out.contains(&place) {
            continue;
        }
        match kills.next().expect("each mutant has a verdict") {
            Some(kill) => {
                *row.killed.entry(kill.symptom.to_string()).or_default() += 1;
                row.by.insert(kill.by);
            }
            None => {
                let known = reasons.iter().position(|known| known.mutant == mutant.what);
                let because = known.map(|index| reasons.remove(index).because);
                row.survived.push(Survivor {
                    mutant: mutant.what.clone(),
                    because: because.unwrap_or_default(),
                });
            }
        }
    }
    row
}

/// Prints the tally of a crate; whether a survivor has no reason.
fn report(name: &str, rows: &[Row]) -> bool {
    let all: usize = rows.iter().map(Row::mutants).sum();
    let survivors = || rows.iter().flat_map(|row| &row.survived);
    let open = survivors()
        .filter(|survivor| survivor.because.is_empty())
        .count();
    let left_out: usize = rows.iter().map(|row| row.left_out).sum();
    let killed = rows.iter().flat_map(|row| &row.killed);
    let (hangs, killed): (Vec<_>, Vec<_>) = killed.partition(|(symptom, _)| *symptom == "hang");
    let sum =
        |counts: Vec<(&String, &usize)>| counts.into_iter().map(|(_, count)| count).sum::<usize>();
    println!(
        "{name}: {all} mutants: {} killed by a symptom, {} hang, {} survived with a reason, {open} \
         without, {left_out} left out",
        sum(killed),
        sum(hangs),
        survivors().count() - open,
    );
    open > 0
}

/// What is wrong with the stored verdicts, by crate.
pub(crate) fn complaints() -> Result<Vec<(&'static str, String)>> {
    let mut complaints = Vec::new();
    for (name, sources) in SUBJECTS {
        let functions = functions(sources)?;
        let ledger = Ledger::read(name)?;
        let tests = Tests::of(name)?;
        let rows = carried(&ledger, &functions);
        let mut stale = Vec::new();
        for (function, (at, row)) in functions.iter().zip(&rows) {
            match row {
                None if operator::mutants(function, 0, &BTreeSet::new())
                    .0
                    .is_empty() => {}
                None => stale.push(at.clone()),
                Some(row) => {
                    for survivor in row.survived.iter().filter(|known| known.because.is_empty()) {
                        let mutant = &survivor.mutant;
                        complaints.push((
                            *name,
                            format!("{at}: nothing notices `{mutant}`, and no reason is given"),
                        ));
                    }
                    for by in tests.gone(row) {
                        stale.push(format!("{at}, whose mutants `{by}` showed, which is gone"));
                    }
                }
            }
        }
        if !stale.is_empty() {
            complaints.push((
                *name,
                format!(
                    "no verdicts on the mutants of this code; `cargo xtask mutants {sources}` \
                     judges them:\n    {}",
                    stale.join("\n    ")
                ),
            ));
        }
    }
    Ok(complaints)
}

/// What a verdict may name.
struct Tests {
    models: BTreeSet<String>,
    /// The text of the crate's sources and tests.
    text: String,
}

impl Tests {
    fn of(name: &str) -> Result<Self> {
        let folder = Path::new("crates").join(name);
        let mut text = String::new();
        for file in files_below(root(), &[&folder.to_string_lossy()], "rs")? {
            text += &fs::read_to_string(root().join(file))?;
        }
        let models = loom::names()?;
        Ok(Self { models, text })
    }

    /// The tests and models of a row that are there no more.
    fn gone<'r>(&self, row: &'r Row) -> impl Iterator<Item = &'r String> {
        row.by.iter().filter(|by| {
            let test = by.rsplit("::").next().unwrap_or_default();
            !self.models.contains(*by) && !self.text.contains(&format!("fn {test}("))
        })
    }
}
