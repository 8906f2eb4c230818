//! The verdicts on all mutants of a crate, as `loom-tests/mutants` keeps them: a file per crate, an
//! entry per function.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::support::Result;
use crate::support::process::root;

/// The verdicts on a function's mutants.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub(super) struct Row {
    /// `claim.rs Claim::drop`.
    pub(super) at: String,
    /// The fingerprint of the function that was judged.
    pub(super) code: String,
    /// The number of those that do not compile, or are in a function that a constant calls.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) left_out: usize,
    /// The tests and models that showed one.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) by: BTreeSet<String>,
    /// The number of those that showed, by symptom.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) killed: BTreeMap<String, usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) survived: Vec<Survivor>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A mutant that nothing shows.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub(super) struct Survivor {
    pub(super) mutant: String,
    /// The reason why that is all right; empty until somebody has found out.
    pub(super) because: String,
}

impl Row {
    /// The survivors that have no reason yet.
    pub(super) fn open(&self) -> impl Iterator<Item = &Survivor> {
        let survived = self.survived.iter();
        survived.filter(|survivor| survivor.because.is_empty())
    }

    pub(super) fn mutants(&self) -> usize {
        self.killed.values().sum::<usize>() + self.left_out + self.survived.len()
    }
}

#[derive(Default, Deserialize, Serialize)]
pub(super) struct Ledger {
    #[serde(default, rename = "function")]
    pub(super) rows: Vec<Row>,
}

/// The file of the crate in `crates/NAME`.
pub(crate) fn place(name: &str) -> PathBuf {
    format!("loom-tests/mutants/{name}.toml").into()
}

impl Ledger {
    /// The verdicts of the crate in `crates/NAME`; none, if there is no file yet.
    pub(super) fn read(name: &str) -> Result<Self> {
        let Ok(text) = fs::read_to_string(root().join(place(name))) else {
            return Ok(Self::default());
        };
        toml::from_str(&text).map_err(|error| format!("{}: {error}", place(name).display()).into())
    }

    pub(super) fn write(&self, name: &str) -> Result<()> {
        Ok(fs::write(root().join(place(name)), self.text()?)?)
    }

    fn text(&self) -> Result<String> {
        let head =
            "# Made by `cargo xtask mutants`, but for each `because`: that is for people.\n\n";
        Ok(head.to_owned() + &toml::to_string_pretty(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Ledger, Row, Survivor};

    #[test]
    fn what_is_written_is_read_again() {
        let row = Row {
            at: "claim.rs Claim::drop".to_owned(),
            code: "0a1b2c3d".to_owned(),
            killed: [("race".to_owned(), 2), ("wrong".to_owned(), 1)].into(),
            left_out: 1,
            by: ["injector::lives::one".to_owned()].into(),
            survived: vec![Survivor {
                mutant: "drop: a(\"b\\n\")".to_owned(),
                because: "only speed".to_owned(),
            }],
        };
        assert_eq!(row.mutants(), 5);
        let ledger = Ledger {
            rows: vec![row.clone(), Row::default()],
        };
        let again: Ledger = toml::from_str(&ledger.text().unwrap()).unwrap();
        assert_eq!(again.rows, [row, Row::default()]);
    }
}
