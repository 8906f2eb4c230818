//! Running the tests and models that reach a mutant, until one of them shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::operator::Mutant;
use super::progress::{Alone, Progress};
use super::schema::trees;
use super::switch;
use super::symptom::{Kill, Symptom};
use crate::commands::loom;
use crate::support::error::Result;
use crate::support::parallel;
use crate::support::process::{Ended, root, run_within};
use crate::support::programs;

/// The memory that a test may ask for, in KiB: a loop that never ends may allocate.
const MEMORY: u32 = 8 << 20;

/// The processor time that a test may take without a mutant.
const LONGEST: Duration = Duration::from_secs(40);

/// The processor time that a mutant may take: some seconds, and so many times what the test takes
/// without it.
const PATIENCE: (Duration, u32) = (Duration::from_secs(4), 4);

/// The factor by which a run may take longer altogether. On a machine with other work a run that
/// gets no processor is no hang; one that waits for ever ends here.
const UNHURRIED: u32 = 3;

/// The number of times that a mutant may hang, while a test is looked for that shows what is wrong.
const MOST_HANGS: usize = 3;

/// One test or model of the copy.
pub(super) struct Test {
    /// `injector::lives::one` for a model, `filch-injector/tests::one` for a test of a package.
    name: String,
    of: programs::Test,
    folder: PathBuf,
    elapsed: Duration,
    /// The mutants whose code it runs.
    reaches: BTreeSet<u32>,
}

/// Builds and lists the tests of `packages` and the models of `programs`, and runs each without a
/// mutant, unless `progress` knows how that ends. One that takes too long is left out.
pub(super) fn tests(
    packages: &[String],
    programs: &[&str],
    progress: &mut Progress,
) -> Result<Vec<Test>> {
    let [plain, model] = trees();
    let mut found = Vec::new();
    for package in packages {
        let mut command = plain.cargo();
        command.args(["test", "--no-run", "--quiet", "--package", package]);
        let folder = package.trim_start_matches("filch-");
        let folder = plain.root.join("crates").join(folder);
        for test in programs::tests(&mut command, &["test", "lib"])? {
            let name = match test.file.replace('_', "-") {
                own if own == *package => format!("{package}::{}", test.name),
                program => format!("{package}/{program}::{}", test.name),
            };
            found.push(Test::new(name, test, folder.clone()));
        }
    }
    // No name would mean all of them.
    let models = match programs {
        [] => Vec::new(),
        some => loom::models(&model, some)?,
    };
    for of in models {
        found.push(Test::new(of.to_string(), of, model.root.join("loom-tests")));
    }
    println!(
        "{} tests and models; first, without any mutant",
        found.len()
    );
    let record = root().join("target/mutants/reached");
    fs::create_dir_all(&record)?;
    let progress = Mutex::new(progress);
    let jobs: Vec<_> = found.iter().enumerate().collect();
    let alone = parallel::map(&jobs, |(number, test)| {
        let built = fs::metadata(&test.of.program)?.modified()?;
        let locked = || progress.lock().expect("no holder panics");
        if let Some(known) = locked().test(&test.name, built) {
            return Ok(known);
        }
        let record = record.join(number.to_string());
        let _ = fs::remove_file(&record);
        let ended = test.run((switch::REACHED, record.display().to_string()), LONGEST)?;
        let symptom = Symptom::of(&ended);
        if let Some(symptom) = symptom.filter(|symptom| *symptom != Symptom::Hang) {
            let (name, output) = (&test.name, ended.output);
            return Err(format!("{name} fails without a mutant: {symptom}\n{output}").into());
        }
        let reached = fs::read_to_string(&record).unwrap_or_default();
        let numbers = reached.lines().filter_map(|line| line.parse().ok());
        let alone = Alone {
            built,
            elapsed: symptom.is_none().then_some(ended.elapsed),
            reaches: numbers.collect(),
        };
        let mut progress = locked();
        progress.set_test(&test.name, alone.clone());
        progress.store()?;
        Ok(alone)
    })?;
    let mut tests = Vec::new();
    for (mut test, alone) in found.into_iter().zip(alone) {
        match alone.elapsed {
            Some(elapsed) if elapsed <= LONGEST => {
                test.elapsed = elapsed;
                test.reaches = alone.reaches;
                tests.push(test);
            }
            _ => println!("left out, too long: {}", test.name),
        }
    }
    Ok(tests)
}

impl Test {
    fn new(name: String, of: programs::Test, folder: PathBuf) -> Self {
        Self {
            name,
            of,
            folder,
            elapsed: Duration::ZERO,
            reaches: BTreeSet::new(),
        }
    }

    /// Runs it for so much processor time at most.
    fn run(&self, (name, value): (&str, String), limit: Duration) -> Result<Ended> {
        let seconds = limit.as_secs() + 1;
        let limits = format!("ulimit -v {MEMORY}; ulimit -c 0; ulimit -S -t {seconds}");
        let test = self.of.command(&self.folder);
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")])
            .arg(test.get_program())
            .args(test.get_args())
            .envs([("FILCH_LOOM_ANY_COUNT", "1"), ("FILCH_LOOM_BOUND", "quick")])
            .env(name, value)
            .env("RUST_BACKTRACE", "0")
            .current_dir(&self.folder);
        run_within(&mut command, limit * UNHURRIED)
    }
}

/// A mutant to judge: the index of its function among those of the run, and its place there.
pub(super) struct Job<'m> {
    pub(super) subject: usize,
    pub(super) place: usize,
    pub(super) function: String,
    pub(super) mutant: &'m Mutant,
}

/// Judges each of `jobs`, and tells the verdict on each, with the job's index, as it comes;
/// what showed earlier ones, with their functions, is `known`.
pub(super) fn run(
    tests: &[Test],
    jobs: &[Job<'_>],
    known: Vec<(String, Kill)>,
    tell: &Sender<(usize, Option<Kill>)>,
) -> Result<()> {
    // Which tests have shown a mutant of the function: they go first.
    let mut killers: BTreeMap<_, usize> = BTreeMap::new();
    // How often a test has hung, whatever the function: it goes last, since that takes longest.
    let mut hung: BTreeMap<_, u32> = BTreeMap::new();
    for (function, kill) in known {
        if kill.symptom == Symptom::Hang {
            *hung.entry(kill.by).or_default() += 1;
        } else {
            *killers.entry((function, kill.by)).or_default() += 1;
        }
    }
    let (killers, hung) = (Mutex::new(killers), Mutex::new(hung));
    let judged = AtomicUsize::new(0);
    let numbered: Vec<_> = jobs.iter().enumerate().collect();
    parallel::map(&numbered, |(index, job)| {
        let Job {
            function, mutant, ..
        } = job;
        let started = Instant::now();
        let good: BTreeMap<_, _> = killers.lock().expect("no holder panics").clone();
        let slow = hung.lock().expect("no holder panics").clone();
        let mut fitting: Vec<_> = tests
            .iter()
            .filter(|test| test.reaches.contains(&mutant.number))
            .collect();
        fitting.sort_by_key(|test| {
            let kills = good
                .get(&(function.clone(), test.name.clone()))
                .copied()
                .unwrap_or(0);
            let hung = slow.get(&test.name).copied().unwrap_or(0);
            (usize::MAX - kills, test.elapsed + PATIENCE.0 * hung)
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
            if symptom == Symptom::Hang {
                hangs += 1;
                let mut hung = hung.lock().expect("no holder panics");
                *hung.entry(test.name.clone()).or_default() += 1;
            }
            if symptom < Symptom::Hang || hangs == MOST_HANGS {
                break;
            }
        }
        if let Some(kill) = best.as_ref().filter(|kill| kill.symptom < Symptom::Hang) {
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
            jobs.len(),
            mutant.lines.start,
            mutant.what,
            started.elapsed().as_secs_f64()
        );
        Ok(tell.send((*index, best))?)
    })?;
    Ok(())
}
