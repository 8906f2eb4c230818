//! The verdicts on a crate's functions: those that are known, and those that a run adds as they
//! come.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::thread;

use super::campaign::{self, Job};
use super::function::Function;
use super::ledger::{Ledger, Row, Survivor};
use super::progress::{Found, Progress};
use super::schema;
use super::subject::Subject;
use crate::commands::orderings;
use crate::support::error::Result;

/// Models of code that has no orderings of its own to judge, by crate: beside those of
/// [`orderings::models_about`].
const MORE_MODELS: &[(&str, &[&str])] = &[(
    "scheduler",
    &["admission", "occupants", "signals", "urgency"],
)];

pub(super) struct Verdicts {
    name: &'static str,
    /// Each function's name in the ledger, and the row that is about its code.
    rows: Vec<(String, Option<Row>)>,
    /// The ledger as read. A row is kept until it is judged again: its reasons may still be good.
    old: Ledger,
}

impl Verdicts {
    /// Reads the verdicts on `functions`.
    pub(super) fn read(name: &'static str, functions: &[Function]) -> Result<Self> {
        let old = Ledger::read(name)?;
        let rows = carried(&old, functions);
        Ok(Self { name, rows, old })
    }

    pub(super) fn rows(&self) -> &[(String, Option<Row>)] {
        &self.rows
    }

    /// Sets the row of the function of that index; one without mutants is not written.
    pub(super) fn set(&mut self, index: usize, row: Row) {
        self.rows[index].1 = Some(row);
    }

    /// Forgets the verdict on the function of that index, but for its reasons.
    pub(super) fn forget(&mut self, index: usize) {
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

    /// Judges the mutants of `subjects`, which come with the functions' indices. What `progress`
    /// knows is taken over.
    pub(super) fn judge(
        &mut self,
        subjects: Vec<(usize, Subject)>,
        mut progress: Progress,
    ) -> Result<()> {
        // What is forgotten must not stand if this is cut off.
        progress.is_underway = true;
        progress.store()?;
        self.write()?;
        let packages = [format!("filch-{}", self.name)];
        let (places, mut subjects): (Vec<_>, Vec<_>) = subjects.into_iter().unzip();
        for subject in &mut subjects {
            subject
                .left_out
                .clone_from(&progress.entry(&subject.function).left_out);
        }
        schema::build(&mut subjects, &packages)?;
        for subject in &subjects {
            progress
                .entry(&subject.function)
                .left_out
                .clone_from(&subject.left_out);
        }
        let models = subjects
            .iter()
            .filter_map(|subject| orderings::models_about(&subject.function.file));
        let more = MORE_MODELS
            .iter()
            .filter(|(name, _)| *name == self.name)
            .map(|(_, models)| *models);
        let models: BTreeSet<_> = models.chain(more).flatten().copied().collect();
        let models: Vec<_> = models.into_iter().collect();
        let tests = campaign::tests(&packages, &models, &mut progress)?;
        let mut jobs = Vec::new();
        let mut known = Vec::new();
        for (index, subject) in subjects.iter().enumerate() {
            let function = &self.rows[places[index]].0;
            let found = progress.entry(&subject.function);
            let kills = found.verdicts.values().flatten().cloned();
            known.extend(kills.map(|kill| (function.clone(), kill)));
            for (place, mutant) in subject.mutants.iter().enumerate() {
                if !found.is_judged(place) {
                    let function = function.clone();
                    jobs.push(Job {
                        subject: index,
                        place,
                        function,
                        mutant,
                    });
                }
            }
        }
        let (tell, verdicts) = mpsc::channel();
        thread::scope(|scope| {
            let (tests, jobs) = (&tests, &jobs);
            let campaign = scope.spawn(move || campaign::run(tests, jobs, known, &tell));
            for (index, kill) in verdicts {
                let Job { subject, place, .. } = jobs[index];
                let found = progress.entry(&subjects[subject].function);
                found.verdicts.insert(place, kill);
                if let Some(row) = self.row(&subjects[subject], found) {
                    self.set(places[subject], row);
                    self.write()?;
                }
                progress.store()?;
            }
            campaign.join().expect("no holder panics")
        })?;
        // Those of which nothing was left to judge.
        for (subject, place) in subjects.iter().zip(places) {
            let found = progress.entry(&subject.function);
            self.rows[place].1 = self.row(subject, found);
        }
        progress.is_underway = false;
        progress.store()
    }

    /// The row of a function that is judged to the end; the reasons are those that were known.
    fn row(&self, subject: &Subject, found: &Found) -> Option<Row> {
        let at = name_in_ledger(&subject.function);
        let known = self.old.rows.iter().find(|known| known.at == at);
        let mut reasons = known.map_or(Vec::new(), |known| known.survived.clone());
        let mut row = Row {
            at,
            code: subject.function.fingerprint.clone(),
            left_out: found.left_out.len(),
            ..Row::default()
        };
        for (place, mutant) in subject.mutants.iter().enumerate() {
            if found.left_out.contains(&place) {
                continue;
            }
            if let Some(kill) = found.verdicts.get(&place)? {
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
        let Ledger { rows } = self.ledger();
        let all: usize = rows.iter().map(Row::mutants).sum();
        let survivors = || rows.iter().flat_map(|row| &row.survived);
        let open = survivors()
            .filter(|survivor| survivor.because.is_empty())
            .count();
        let left_out: usize = rows.iter().map(|row| row.left_out).sum();
        let killed = rows.iter().flat_map(|row| &row.killed);
        let (hangs, killed): (Vec<_>, Vec<_>) = killed.partition(|(symptom, _)| *symptom == "hang");
        let sum = |counts: Vec<(&String, &usize)>| {
            counts.into_iter().map(|(_, count)| count).sum::<usize>()
        };
        println!(
            "{}: {all} mutants: {} killed by a symptom, {} hang, {} survived with a reason, {open} \
             without, {left_out} left out",
            self.name,
            sum(killed),
            sum(hangs),
            survivors().count() - open,
        );
        open > 0
    }
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
