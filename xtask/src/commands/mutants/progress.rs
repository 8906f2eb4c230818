//! The verdict on each single mutant, and what the tests do without one: a run that is cut off goes
//! on from there, and a later one need not judge a whole function again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::function::Function;
use super::ledger::Row;
use super::subject::Subject;
use super::symptom::Kill;
use super::witnesses::Witnesses;
use crate::support::error::Result;
use crate::support::process::root;

/// The record that [`store`](Progress::store) writes into `target/mutants` after each verdict.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Progress {
    #[serde(skip)]
    file: PathBuf,
    /// True while a run has not come to its end.
    pub(super) is_underway: bool,
    /// The functions by [`key`].
    functions: BTreeMap<String, Found>,
    /// The tests by name.
    tests: BTreeMap<String, Alone>,
}

/// Verdicts on a function's mutants, by their place in it.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) left_out: BTreeSet<usize>,
    /// `None`: nothing showed it.
    pub(super) verdicts: BTreeMap<usize, Option<Kill>>,
}

/// A test without a mutant.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Alone {
    /// The time when its program was built.
    pub(super) built: SystemTime,
    /// `None`: too long.
    pub(super) elapsed: Option<Duration>,
    /// The mutants whose code it runs.
    pub(super) reaches: BTreeSet<u32>,
}

impl Found {
    pub(super) fn is_judged(&self, place: usize) -> bool {
        self.left_out.contains(&place) || self.verdicts.contains_key(&place)
    }

    pub(super) fn is_complete(&self, subject: &Subject) -> bool {
        (0..subject.mutants.len()).all(|place| self.is_judged(place))
    }

    /// Forgets the survivors to which `row` gives no reason, and what was shown by a test that is
    /// gone.
    pub(super) fn forget_open(&mut self, subject: &Subject, row: Option<&Row>, there: &Witnesses) {
        let has_reason = |place: usize| {
            let what = &subject.mutants[place].what;
            let mut survived = row.iter().flat_map(|row| &row.survived);
            survived.any(|known| known.mutant == *what && !known.because.is_empty())
        };
        self.verdicts.retain(|place, kill| match kill {
            Some(kill) => there.has(&kill.by),
            None => has_reason(*place),
        });
    }
}

/// Tells a function's verdicts from those of another one, or of its own former code.
fn key(function: &Function) -> String {
    let (file, name) = (function.file.display(), &function.name);
    format!("{file} {name} {}", function.fingerprint)
}

impl Progress {
    /// Reads what the last run over the crate left about `functions`.
    pub(super) fn read(name: &str, functions: &[Function]) -> Self {
        let file = root().join(format!("target/mutants/{name}.json"));
        let text = fs::read_to_string(&file).unwrap_or_default();
        Self {
            file,
            ..Self::parse(&text, functions)
        }
    }

    /// Reads what a run of this program has written of these functions; nothing from another text.
    fn parse(text: &str, functions: &[Function]) -> Self {
        let mut known: Self = serde_json::from_str(text).unwrap_or_default();
        let keys: BTreeSet<_> = functions.iter().map(key).collect();
        known.functions.retain(|key, _| keys.contains(key));
        known
    }

    pub(super) fn store(&self) -> Result<()> {
        let new = self.file.with_extension("new");
        fs::create_dir_all(new.with_file_name(""))?;
        fs::write(&new, serde_json::to_string(self)?)?;
        Ok(fs::rename(new, &self.file)?)
    }

    pub(super) fn get(&mut self, function: &Function) -> Option<&mut Found> {
        self.functions.get_mut(&key(function))
    }

    pub(super) fn entry(&mut self, function: &Function) -> &mut Found {
        self.functions.entry(key(function)).or_default()
    }

    pub(super) fn forget(&mut self, function: &Function) {
        self.functions.remove(&key(function));
    }

    /// Returns the record of a test whose program was built at that time.
    pub(super) fn test(&self, name: &str, built: SystemTime) -> Option<Alone> {
        self.tests
            .get(name)
            .filter(|known| known.built == built)
            .cloned()
    }

    pub(super) fn set_test(&mut self, name: &str, alone: Alone) {
        self.tests.insert(name.to_owned(), alone);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::function;
    use super::super::symptom::Symptom;
    use super::{Kill, Progress, Subject};

    #[test]
    fn a_run_that_was_cut_off_goes_on() {
        let of = |text: &str| function::of(Path::new("one.rs"), text).unwrap();
        let same = "fn same(a: u8) -> bool { a < 1 && a > 2 }";
        let old = of(&format!("{same} fn changed() {{ a(1); }}"));
        let new = of(&format!("{same} // The same.\n fn changed() {{ a(2); }}"));

        let mut progress = Progress::default();
        let kill = Kill {
            symptom: Symptom::Race,
            by: "model::one".to_owned(),
        };
        progress.entry(&old[0]).verdicts = [(1, None), (2, Some(kill))].into();
        progress.entry(&old[0]).left_out = [3].into();
        progress.entry(&old[1]).verdicts = [(0, None)].into();
        let written = serde_json::to_string(&progress).unwrap();

        let mut again = Progress::parse(&written, &new);
        let mut functions = new.into_iter();
        let same = Subject::new(functions.next().unwrap(), 0);
        let found = again.get(&same.function).expect("its code is the same");
        let judged: Vec<_> = (0..5).map(|place| found.is_judged(place)).collect();
        assert_eq!(judged, [false, true, true, true, false]);
        assert!(!found.is_complete(&same));
        assert!(again.get(&functions.next().unwrap()).is_none());

        assert!(Progress::parse("cut o", &old).functions.is_empty());
    }
}
