//! A stored run: a folder with a JSON file for each group, and the report that is made of them.
//!
//! Groups may be measured one after another, on different days even: as long as machine, compiler,
//! commit and effort are the same, their tables stand side by side.

use std::fs;
use std::path::{Path, PathBuf};

use crate::reasons::Reasons;
use crate::report;
use crate::run::{Effort, Machine, Run};

/// Added to a group's name for its curves over the number of workers.
const CURVE: &str = "-curve";

/// The name of the report.
const REPORT: &str = "README.md";

/// The folder of a stored run: a JSON file for each group, and the report that is made of them.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// One that is there.
    pub fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Makes the folder, if there is none.
    ///
    /// # Errors
    /// If there can be none, or one of another machine, compiler, commit or effort is there.
    pub fn open(path: &Path, machine: &Machine, effort: Effort) -> Result<Self, String> {
        fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
        for run in runs(path)? {
            if !run.machine.is_same(machine) || run.effort != effort {
                return Err(format!(
                    "{} has a run of {}, {}, {} rounds{}: another folder is needed",
                    path.display(),
                    run.machine.cpu,
                    run.machine.commit,
                    run.effort.rounds,
                    if run.effort.quick { ", quick" } else { "" },
                ));
            }
        }
        Ok(Self(path.to_owned()))
    }

    /// Stores the scenarios of one group, in place of those that are there, and
    /// [makes](Self::make) the report again.
    ///
    /// # Errors
    /// If a file cannot be written, or another one not read.
    pub fn store(&self, group: &Run, reasons: &Reasons) -> Result<Vec<String>, String> {
        let Some(first) = group.results.first() else {
            return Ok(Vec::new());
        };
        let curve = if first.point.is_some() { CURVE } else { "" };
        let name = format!("{}{curve}.json", first.group);
        group.write(&self.0.join(name))?;
        self.make(reasons)
    }

    /// Makes the report again, from what is stored. Returns what is wrong with the
    /// reasons.
    ///
    /// # Errors
    /// If a file cannot be written, or another one not read.
    pub fn make(&self, reasons: &Reasons) -> Result<Vec<String>, String> {
        let all = Run::read_all(&self.0)?;
        let file = self.0.join(REPORT);
        let text = report::of(&all, reasons);
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(reasons.complaints(&all))
    }
}

impl Run {
    /// [`Run::read`] of a file, or of all files of a folder.
    ///
    /// # Errors
    /// If a file cannot be read, there is none, or two are of different machines or commits.
    pub fn read_all(path: &Path) -> Result<Self, String> {
        if path.is_file() {
            return Self::read(path);
        }
        let mut runs = runs(path)?.into_iter();
        let Some(mut all) = runs.next() else {
            return Err(format!("{}: no run is stored there", path.display()));
        };
        for run in runs {
            if !run.machine.is_same(&all.machine) || run.effort != all.effort {
                return Err(format!(
                    "{}: runs of {} and {}, or of more and fewer rounds",
                    path.display(),
                    all.machine.commit,
                    run.machine.commit
                ));
            }
            // The earliest is when the run began.
            if run.machine.date < all.machine.date {
                all.machine = run.machine;
            }
            all.results.extend(run.results);
        }
        Ok(all)
    }
}

/// Those of the files of a folder, sorted by name.
fn runs(folder: &Path) -> Result<Vec<Run>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        files.push(entry.map_err(failed)?.path());
    }
    files.retain(|file| file.extension().is_some_and(|own| own == "json"));
    files.sort();
    files.iter().map(|file| Run::read(file)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Folder;
    use crate::reasons::tests::reasons;
    use crate::run::Run;
    use crate::run::tests::{machine, run};

    #[test]
    fn groups_come_one_after_another() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("run");
        let deque = run();
        let folder = Folder::open(&path, &machine(), deque.effort).expect("it is new");
        let complaints = folder.store(&deque, &reasons()).expect("it is written");
        assert_eq!(complaints.len(), 2);
        let mut parker = deque.clone();
        for scenario in &mut parker.results {
            scenario.group = "parker".into();
        }
        parker.machine.date = "2026-11-27T01:02:03Z".into();
        let folder = Folder::open(&path, &parker.machine, parker.effort).expect("it is the same");
        folder.store(&parker, &reasons()).expect("it is written");
        // Once more: in place of what was there.
        folder.store(&parker, &reasons()).expect("it is written");
        let all = Run::read_all(&path).expect("both are there");
        assert_eq!(all.groups(), ["deque", "parker"]);
        assert_eq!(all.results.len(), 6);
        assert_eq!(all.machine, machine(), "the earlier one");
        let report = fs::read_to_string(path.join("README.md")).expect("it is there");
        assert!(report.contains("\n## deque\n") && report.contains("\n## parker\n"));
    }

    #[test]
    fn another_commit_has_another_folder() {
        let place = tempfile::tempdir().expect("a folder");
        let deque = run();
        let folder = Folder::open(place.path(), &machine(), deque.effort).expect("it is new");
        folder.store(&deque, &reasons()).expect("it is written");
        let mut other = machine();
        other.commit = "ffff".into();
        assert!(Folder::open(place.path(), &other, deque.effort).is_err());
        let mut quick = deque.effort;
        quick.quick = true;
        assert!(Folder::open(place.path(), &machine(), quick).is_err());
        // One that came there by hand.
        let mut run = deque;
        run.machine = other;
        run.write(&place.path().join("other.json"))
            .expect("it is written");
        assert!(Run::read_all(place.path()).is_err());
    }
}
