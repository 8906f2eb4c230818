//! The verdicts on a crate's functions: those that are known, and those that a run adds as they
//! come.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::campaign::{self, Judges};
use super::function::{self, Function};
use super::ledger::{Ledger, Row, Survivor};
use super::operator;
use super::orderings;
use super::subject::Subject;
use super::symptom::Kill;
use crate::commands::loom;
use crate::support::Result;
use crate::support::code::is_for_tests;
use crate::support::process::{root, sources};
use crate::support::programs;

/// Models of code that has no orderings of its own to judge, by crate: beside those of
/// [`orderings::models_about`].
pub(super) const MORE_MODELS: &[(&str, &[&str])] = &[(
    "scheduler",
    &["admission", "occupants", "signals", "urgency"],
)];

pub(super) struct Verdicts {
    name: &'static str,
    /// Each function's name in the ledger, and the row that is about its code.
    rows: Vec<(String, Option<Row>)>,
    /// The ledger as read. A row is kept until it is judged again: its reasons may still be good.
    old: Ledger,
    /// The names of all models, and the text of the crate's sources and tests: a verdict names one
    /// that showed the mutant.
    witnesses: (BTreeSet<String>, String),
}

/// The functions in these files or folders of a crate's sources; tests are left out.
pub(super) fn functions(name: &str, places: &[&str]) -> Result<Vec<Function>> {
    let mut functions = Vec::new();
    for place in places {
        let place = Path::new("crates").join(name).join("src").join(place);
        for file in sources(place)?.iter().filter(|file| !is_for_tests(file)) {
            let text = fs::read_to_string(root().join(file))?;
            functions.extend(function::of(file, &text)?);
        }
    }
    Ok(functions)
}

impl Verdicts {
    /// Reads the verdicts on `functions`; a function without mutants has one that says nothing.
    pub(super) fn read(name: &'static str, functions: &[Function]) -> Result<Self> {
        let old = Ledger::read(name)?;
        let mut rows = carried(&old, functions);
        for (function, (_, row)) in functions.iter().zip(&mut rows) {
            let subject = || Subject::new(function, 0, operator::mutants);
            if row.is_none() && subject().mutants.is_empty() {
                *row = Some(Row::default());
            }
        }
        let mut text = String::new();
        for file in sources(Path::new("crates").join(name))? {
            text += &fs::read_to_string(root().join(file))?;
        }
        let witnesses = (programs::names(loom::TESTS)?, text);
        Ok(Self {
            name,
            rows,
            old,
            witnesses,
        })
    }

    /// The index, the name and the row of each function.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, &String, Option<&Row>)> {
        let rows = self.rows.iter().enumerate();
        rows.map(|(index, (at, row))| (index, at, row.as_ref()))
    }

    /// The tests and models of a row that are gone.
    pub(super) fn gone<'r>(&self, row: &'r Row) -> impl Iterator<Item = &'r String> {
        let (models, text) = &self.witnesses;
        row.by.iter().filter(|name| {
            let test = name.rsplit("::").next().unwrap_or_default();
            !models.contains(*name) && !text.contains(&format!("fn {test}("))
        })
    }

    /// Forgets the verdict on the function of that index, but for its reasons: it must not stand if
    /// the run is cut off.
    fn forget(&mut self, index: usize) {
        let (at, row) = &mut self.rows[index];
        *row = None;
        let known = self.old.rows.iter_mut().filter(|row| row.at == *at);
        known.for_each(|row| row.code.clear());
    }

    /// The rows that the ledger gets.
    fn ledger(&self) -> Ledger {
        let kept = self.rows.iter().filter_map(|(at, row)| {
            let old = || self.old.rows.iter().find(|old| old.at == *at);
            row.as_ref().or_else(old).cloned()
        });
        let rows = kept.filter(|row| row.mutants() > 0).collect();
        Ledger { rows }
    }

    pub(super) fn write(&self) -> Result<()> {
        self.ledger().write(self.name)
    }

    /// Judges the mutants of `subjects`, of functions with these indices. A function's row is
    /// written as soon as it is complete.
    pub(super) fn judge(
        &mut self,
        indices: &[usize],
        mut subjects: Vec<Subject<'_>>,
    ) -> Result<()> {
        indices.iter().for_each(|&index| self.forget(index));
        self.write()?;
        let about = |subject: &Subject<'_>| orderings::models_about(&subject.function.file);
        let more = MORE_MODELS.iter().filter(|(name, _)| *name == self.name);
        let models = subjects.iter().filter_map(about);
        let models = models.chain(more.map(|(_, models)| *models));
        let judges = Judges {
            package: format!("filch-{}", self.name),
            has_tests: true,
            models: models.flatten().copied().collect(),
        };
        let mut found = vec![BTreeMap::new(); subjects.len()];
        campaign::judge(&judges, &mut subjects, |subjects, (at, place), kill| {
            found[at].insert(place, kill);
            if let Some(row) = self.row(&subjects[at], &found[at]) {
                self.rows[indices[at]].1 = Some(row);
                self.write()?;
            }
            Ok(())
        })?;
        // Those of which everything was left out.
        for ((subject, found), &index) in subjects.iter().zip(&found).zip(indices) {
            self.rows[index].1 = self.row(subject, found);
        }
        Ok(())
    }

    /// The row of a function that is judged to the end, by the places of its mutants; the reasons
    /// are those that were known.
    fn row(&self, subject: &Subject<'_>, found: &BTreeMap<usize, Option<Kill>>) -> Option<Row> {
        let at = name_in_ledger(subject.function);
        let known = self.old.rows.iter().find(|known| known.at == at);
        let mut reasons = known.map_or(Vec::new(), |known| known.survived.clone());
        let mut row = Row {
            at,
            code: subject.function.fingerprint.clone(),
            left_out: subject.left_out.len(),
            ..Row::default()
        };
        for (place, mutant) in subject.mutants.iter().enumerate() {
            if subject.left_out.contains(&place) {
                continue;
            }
            if let Some(kill) = found.get(&place)? {
                *row.killed.entry(kill.symptom.to_string()).or_default() += 1;
                row.by.insert(kill.by.clone());
            } else {
                let known = reasons.iter().position(|known| known.mutant == mutant.what);
                let because = known.map(|index| reasons.remove(index).because);
                row.survived.push(Survivor {
                    mutant: mutant.what.clone(),
                    because: because.unwrap_or_default(),
                });
            }
        }
        Some(row)
    }

    /// Prints the tally; returns whether a survivor has no reason.
    pub(super) fn report(&self) -> bool {
        let rows = self.ledger().rows;
        let all: usize = rows.iter().map(Row::mutants).sum();
        let open: usize = rows.iter().map(|row| row.open().count()).sum();
        println!(
            "{}: {all} mutants, {open} survived without a reason",
            self.name
        );
        open > 0
    }
}

/// `claim.rs Claim::drop`
fn name_in_ledger(function: &Function) -> String {
    let inner: PathBuf = function.file.iter().skip(3).collect();
    format!("{} {}", inner.display(), function.name)
}

/// Each function's name, and the row that is about it: one of its name with its code, or one with
/// its code that no function of that name has any more.
fn carried(ledger: &Ledger, functions: &[Function]) -> Vec<(String, Option<Row>)> {
    let names: BTreeSet<_> = functions.iter().map(name_in_ledger).collect();
    let find = |function: &Function| {
        let at = name_in_ledger(function);
        let rows = ledger.rows.iter();
        let mut same = rows.filter(|row| row.code == function.fingerprint);
        let own = same.clone().find(|row| row.at == at);
        let row = own.or_else(|| same.find(|row| !names.contains(&row.at)));
        let at_row = |row: &Row| Row {
            at: at.clone(),
            ..row.clone()
        };
        (at.clone(), row.map(at_row))
    };
    functions.iter().map(find).collect()
}
