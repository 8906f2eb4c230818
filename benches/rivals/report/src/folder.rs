//! A stored run: a folder with a JSON file for each group, and what may be stored.
//!
//! Groups may be measured one after another, on different days even: as long as machine, compiler,
//! commit and effort are the same, their tables stand side by side.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::run::{Effort, Machine, Run};

/// The load average of a minute at which a machine has nothing else to do.
const QUIET: f64 = 0.5;

/// The reason why figures are not to be published.
#[derive(Clone, Debug, PartialEq)]
pub enum Unfit {
    /// They would be those of no commit, but of this one with changes.
    Dirty(String),
    /// The machine has something else to do: its load average of a minute.
    Busy(String),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dirty(commit) => write!(f, "{commit}: a report is of a commit without changes"),
            Self::Busy(load) => write!(f, "the load average is {load}, and may be {QUIET} at most"),
        }
    }
}

impl Machine {
    /// Returns whether the figures are those of a commit.
    pub(crate) fn is_clean(&self) -> bool {
        self.commit != Self::UNKNOWN && !self.commit.ends_with("-dirty")
    }

    /// Checks whether what is measured now may be published.
    ///
    /// # Errors
    /// If it may not.
    pub fn check(&self) -> Result<(), Unfit> {
        if !self.is_clean() {
            return Err(Unfit::Dirty(self.commit.clone()));
        }
        match self.load.parse::<f64>() {
            Ok(load) if load <= QUIET => Ok(()),
            _ => Err(Unfit::Busy(self.load.clone())),
        }
    }

    /// The name of the folder of a run: the date, the machine, and the number of workers if one was
    /// asked for.
    pub fn folder(&self, workers: usize) -> String {
        let date = self.date.split('T').next().unwrap_or_default();
        let cpu = self.cpu.to_lowercase();
        let words = cpu.split(|letter: char| !letter.is_ascii_alphanumeric());
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        let mut name = format!("{date}-{}-{}-cores", words.join("-"), self.cores);
        if workers > 0 {
            name.push_str(&format!("-{workers}-workers"));
        }
        name
    }
}

/// The folder of a stored run: a JSON file for each group.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes the folder, if there is none.
    ///
    /// # Errors
    /// If there can be none, or one of another machine, compiler, commit or effort is there.
    pub fn open(path: &Path, machine: &Machine, effort: Effort) -> Result<Self, String> {
        fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
        if let Some(run) = runs(path)?.first() {
            check_same(path, (&run.machine, run.effort), (machine, effort))?;
        }
        Ok(Self(path.to_owned()))
    }

    /// Stores the scenarios of one group, in place of those that are there.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn store(&self, group: &Run) -> Result<(), String> {
        let Some(first) = group.results.first() else {
            return Ok(());
        };
        group.write(&self.0.join(format!("{}.json", first.group)))
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
            check_same(path, (&all.machine, all.effort), (&run.machine, run.effort))?;
            // The earliest is when the run began.
            if run.machine.date < all.machine.date {
                all.machine = run.machine;
            }
            all.results.extend(run.results);
        }
        Ok(all)
    }
}

/// Figures of two machines, commits or efforts stand in two folders.
fn check_same(
    path: &Path,
    one: (&Machine, Effort),
    other: (&Machine, Effort),
) -> Result<(), String> {
    if one.0.is_same(other.0) && one.1 == other.1 {
        return Ok(());
    }
    let said = |(machine, effort): (&Machine, Effort)| {
        let Effort { rounds, seed } = effort;
        let Machine { cpu, commit, .. } = machine;
        format!("{cpu}, {commit}, {rounds} rounds, seed {seed}")
    };
    let [one, other] = [one, other].map(said);
    Err(format!(
        "{}: runs of {one} and of {other} need two folders",
        path.display()
    ))
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
    use super::{Folder, Unfit};
    use crate::run::Run;
    use crate::run::tests::{machine, run};

    #[test]
    fn groups_come_one_after_another() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("run");
        let deque = run();
        let folder = Folder::open(&path, &machine(), deque.effort).expect("it is new");
        folder.store(&deque).expect("it is written");
        let mut parker = deque.clone();
        for scenario in &mut parker.results {
            scenario.group = "parker".into();
        }
        parker.machine.date = "2026-11-27T01:02:03Z".into();
        let folder = Folder::open(&path, &parker.machine, parker.effort).expect("it is the same");
        folder.store(&parker).expect("it is written");
        // Once more: in place of what was there.
        folder.store(&parker).expect("it is written");
        let all = Run::read_all(&path).expect("both are there");
        assert_eq!(all.groups(), ["deque", "parker"]);
        assert_eq!(all.results.len(), 6);
        assert_eq!(all.machine, machine(), "the earlier one");
    }

    #[test]
    fn another_commit_has_another_folder() {
        let place = tempfile::tempdir().expect("a folder");
        let deque = run();
        let folder = Folder::open(place.path(), &machine(), deque.effort).expect("it is new");
        folder.store(&deque).expect("it is written");
        let mut other = machine();
        other.commit = "ffff".into();
        assert!(Folder::open(place.path(), &other, deque.effort).is_err());
        let mut short = deque.effort;
        short.rounds = 3;
        assert!(Folder::open(place.path(), &machine(), short).is_err());
        // One that came there by hand.
        let mut run = deque;
        run.machine = other;
        run.write(&place.path().join("other.json"))
            .expect("it is written");
        assert!(Run::read_all(place.path()).is_err());
    }

    #[test]
    fn a_dirty_tree_and_a_busy_machine_are_refused() {
        let mut machine = machine();
        assert_eq!(machine.check(), Ok(()));
        machine.load = "0.50".into();
        assert_eq!(machine.check(), Ok(()));
        machine.load = "0.51".into();
        let error = machine.check().expect_err("it is busy");
        assert_eq!(error, Unfit::Busy("0.51".into()));
        assert!(error.to_string().contains("is 0.51,"), "{error}");
        machine.load = "unknown".into();
        assert!(machine.check().is_err());
        for commit in ["0123abcd-dirty", "unknown"] {
            machine.commit = commit.into();
            assert_eq!(machine.check(), Err(Unfit::Dirty(commit.into())));
        }
    }

    #[test]
    fn a_folder_is_named_after_the_day_and_the_machine() {
        let mut machine = machine();
        assert_eq!(machine.folder(0), "2026-11-26-a-processor-2-cores");
        machine.cpu = "Xeon(R) CPU @ 2.2GHz".into();
        let name = "2026-11-26-xeon-r-cpu-2-2ghz-2-cores-8-workers";
        assert_eq!(machine.folder(8), name);
    }
}
