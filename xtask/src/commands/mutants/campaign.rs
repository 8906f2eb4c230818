//! Running the tests and models that reach a mutant, until one of them shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::operator::Mutant;
use super::schema::trees;
use super::switch;
use super::symptom::Symptom;
use crate::commands::loom;
use crate::support::error::Result;
use crate::support::parallel;
use crate::support::process::{Ended, root, run_within};
use crate::support::programs::{self, Kind};

/// The memory that a test may ask for, in KiB: a loop that never ends may allocate.
const MEMORY: u32 = 8 << 20;

/// How long a mutant may take: some seconds, and so many times what the test takes without it.
const PATIENCE: (Duration, u32) = (Duration::from_secs(4), 4);

/// How often a mutant may hang, while a test is looked for that shows what is wrong.
const MOST_HANGS: usize = 3;

/// One test or model of the copy.
pub(super) struct Test {
    /// `injector::lives::one` for a model, `filch-injector/tests::one` for a test of a package.
    name: String,
    program: PathBuf,
    test: String,
    folder: PathBuf,
    elapsed: Duration,
    /// The mutants whose code it runs.
    reaches: BTreeSet<u32>,
}

/// How a mutant was shown.
pub(super) struct Kill {
    pub(super) symptom: Symptom,
    pub(super) by: String,
}

/// Builds and lists the tests of `packages` and the models of `programs`, and runs each without a
/// mutant. One that takes longer than `longest` is left out.
pub(super) fn tests(
    packages: &[String],
    programs: &[&str],
    longest: Duration,
) -> Result<Vec<Test>> {
    let [plain, model] = trees();
    let mut found = Vec::new();
    for package in packages {
        let mut command = plain.cargo();
        command.args(["test", "--no-run", "--quiet", "--package", package]);
        for (program, path) in programs::build(&mut command, Kind::AnyTest)? {
            for test in programs::tests(&path)? {
                let name = match program.replace('_', "-") {
                    own if own == *package => format!("{package}::{test}"),
                    program => format!("{package}/{program}::{test}"),
                };
                let folder = plain
                    .root
                    .join("crates")
                    .join(package.trim_start_matches("filch-"));
                found.push(Test::new(name, path.clone(), test, folder));
            }
        }
    }
    for of in loom::models(&model, programs)? {
        let folder = model.root.join("loom-tests");
        found.push(Test::new(
            of.full_name(),
            of.program.clone(),
            of.test.clone(),
            folder,
        ));
    }
    println!(
        "{} tests and models; first, without any mutant",
        found.len()
    );
    let record = root().join("target/mutants/reached");
    fs::create_dir_all(&record)?;
    let jobs: Vec<_> = found
        .into_iter()
        .enumerate()
        .map(|job| Mutex::new(Some(job)))
        .collect();
    let tests = parallel::map(&jobs, |job| {
        let (number, mut test) = job
            .lock()
            .expect("no holder panics")
            .take()
            .expect("one look");
        let record = record.join(number.to_string());
        let _ = fs::remove_file(&record);
        let variable = (switch::REACHED, record.display().to_string());
        let ended = test.run(variable, Duration::from_secs(300))?;
        if let Some(symptom) = Symptom::of(&ended) {
            let Test { name, .. } = test;
            return Err(
                format!("{name} fails without a mutant: {symptom}\n{}", ended.output).into(),
            );
        }
        let reached = fs::read_to_string(&record).unwrap_or_default();
        test.reaches = reached
            .lines()
            .filter_map(|line| line.parse().ok())
            .collect();
        test.elapsed = ended.elapsed;
        Ok(test)
    })?;
    let (short, long): (Vec<_>, Vec<_>) =
        tests.into_iter().partition(|test| test.elapsed <= longest);
    for test in long {
        println!(
            "left out, {:.0} s: {}",
            test.elapsed.as_secs_f64(),
            test.name
        );
    }
    Ok(short)
}

impl Test {
    fn new(name: String, program: PathBuf, test: String, folder: PathBuf) -> Self {
        Self {
            name,
            program,
            test,
            folder,
            elapsed: Duration::ZERO,
            reaches: BTreeSet::new(),
        }
    }

    fn run(&self, (name, value): (&str, String), limit: Duration) -> Result<Ended> {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")])
            .arg(&self.program)
            .args(["--exact", &self.test, "--nocapture", "--test-threads=1"])
            .envs([("FILCH_LOOM_ANY_COUNT", "1"), ("FILCH_LOOM_BOUND", "quick")])
            .env(name, value)
            .env("RUST_BACKTRACE", "0")
            .env_remove("LOOM_MAX_PERMUTATIONS")
            .env_remove("LOOM_MAX_DURATION")
            .current_dir(&self.folder);
        run_within(&mut command, limit)
    }
}

/// The verdict on each of `mutants`, which come with the name of their function.
pub(super) fn run(tests: &[Test], mutants: &[(String, &Mutant)]) -> Result<Vec<Option<Kill>>> {
    // Which tests have shown a mutant of the function: they go first.
    let killers: Mutex<BTreeMap<(String, String), usize>> = Mutex::default();
    let judged = AtomicUsize::new(0);
    parallel::map(mutants, |(function, mutant)| {
        let started = Instant::now();
        let good: BTreeMap<_, _> = killers.lock().expect("no holder panics").clone();
        let mut fitting: Vec<_> = tests
            .iter()
            .filter(|test| test.reaches.contains(&mutant.number))
            .collect();
        fitting.sort_by_key(|test| {
            let kills = good
                .get(&(function.clone(), test.name.clone()))
                .copied()
                .unwrap_or(0);
            (usize::MAX - kills, test.elapsed)
        });
        let mut best: Option<Kill> = None;
        let mut hangs = 0;
        for test in &fitting {
            let limit = PATIENCE.0 + test.elapsed * PATIENCE.1;
            let ended = test.run((switch::CHOSEN, mutant.number.to_string()), limit)?;
            let Some(symptom) = Symptom::of(&ended) else {
                continue;
            };
            if best.as_ref().is_none_or(|best| symptom < best.symptom) {
                let by = test.name.clone();
                best = Some(Kill { symptom, by });
            }
            hangs += usize::from(symptom == Symptom::Hang);
            if symptom < Symptom::Hang || hangs == MOST_HANGS {
                break;
            }
        }
        if let Some(kill) = &best {
            let mut killers = killers.lock().expect("no holder panics");
            *killers
                .entry((function.clone(), kill.by.clone()))
                .or_default() += 1;
        }
        let verdict = match &best {
            Some(kill) => format!("{} in {}", kill.symptom, kill.by),
            None => format!("SURVIVED {} tests", fitting.len()),
        };
        println!(
            "[{}/{}] {function}:{} {}  {verdict}  ({:.1} s)",
            judged.fetch_add(1, Ordering::Relaxed) + 1,
            mutants.len(),
            mutant.lines.start,
            mutant.what,
            started.elapsed().as_secs_f64()
        );
        Ok(best)
    })
}
