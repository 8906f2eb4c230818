//! Running the tests and models that reach a mutant, until one of them shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::schema::{self, trees};
use super::subject::{Mutant, Subject};
use super::switch;
use super::symptom::{Kill, Symptom};
use crate::commands::loom;
use crate::support::Result;
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

/// The folder of what the tests reach without a mutant.
const REACHED: &str = "target/mutants/reached";

/// The tests and models that judge mutants of a package.
pub(super) struct Judges {
    pub(super) package: String,
    /// True if the package's own tests are among them.
    pub(super) has_tests: bool,
    /// The modules of models.
    pub(super) models: BTreeSet<&'static str>,
}

/// Builds the mutants of `subjects` that are not left out and compile, and tells the verdict on
/// each as it comes: the index of its subject, and its place there.
pub(super) fn judge(
    judges: &Judges,
    subjects: &mut [Subject<'_>],
    mut tell: impl FnMut(&[Subject<'_>], (usize, usize), Option<Kill>) -> Result<()>,
) -> Result<()> {
    schema::build(subjects, &judges.package)?;
    let tests = judges.tests()?;
    let mut jobs = Vec::new();
    for (index, subject) in subjects.iter().enumerate() {
        let name = &subject.function.name;
        let places = subject.mutants.iter().enumerate();
        let made = places.filter(|(place, _)| !subject.left_out.contains(place));
        jobs.extend(made.map(|(place, mutant)| ((index, place), name, mutant)));
    }
    // The number of mutants of each function that a test has shown: the best test goes first.
    let kills = Mutex::new(BTreeMap::new());
    let judged = AtomicUsize::new(0);
    let work = |&((index, _), name, mutant): &((usize, usize), &String, &Mutant)| {
        let started = Instant::now();
        let good: BTreeMap<_, usize> = kills.lock().expect("no holder panics").clone();
        let mut fitting = Vec::from_iter(&tests);
        fitting.retain(|test| test.reaches.contains(&mutant.number));
        fitting.sort_by_key(|test| {
            let kills = good.get(&(index, test.name.clone())).copied();
            (usize::MAX - kills.unwrap_or(0), test.elapsed)
        });
        let kill = first_kill(&fitting, mutant)?;
        if let Some(kill) = kill.as_ref().filter(|kill| kill.symptom != Symptom::Hang) {
            let mut kills = kills.lock().expect("no holder panics");
            *kills.entry((index, kill.by.clone())).or_default() += 1;
        }
        let verdict = match &kill {
            Some(kill) => format!("{} in {}", kill.symptom, kill.by),
            None => format!("SURVIVED {} tests", fitting.len()),
        };
        println!(
            "[{}/{}] {name}:{} {}  {verdict}  ({:.1} s)",
            judged.fetch_add(1, Ordering::Relaxed) + 1,
            jobs.len(),
            mutant.lines.start,
            mutant.what,
            started.elapsed().as_secs_f64()
        );
        Ok(kill)
    };
    parallel::each(&jobs, work, |job, kill| tell(subjects, jobs[job].0, kill))
}

/// Returns the strongest symptom until a test shows more than a hang, or too many hang.
fn first_kill(tests: &[&Test], mutant: &Mutant) -> Result<Option<Kill>> {
    let mut best: Option<Kill> = None;
    let mut hangs = 0;
    for test in tests {
        let limit = PATIENCE.0 + test.elapsed * PATIENCE.1;
        let variable = (switch::CHOSEN, mutant.number.to_string());
        let ended = run(&test.of, &test.folder, variable, limit)?;
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
    Ok(best)
}

/// One test or model of the copy.
struct Test {
    /// `injector::lives::one` for a model, `filch-injector/tests::one` for a test of a package.
    name: String,
    of: programs::Test,
    folder: PathBuf,
    /// The time that it takes without a mutant.
    elapsed: Duration,
    /// The mutants whose code it runs.
    reaches: BTreeSet<u32>,
}

impl Judges {
    /// Builds and lists the tests and models, and runs each without a mutant. One that takes too
    /// long is left out.
    fn tests(&self) -> Result<Vec<Test>> {
        let [plain, model] = trees();
        let package = &self.package;
        let mut found = Vec::new();
        if self.has_tests {
            let mut command = plain.cargo();
            command.args(["test", "--no-run", "--quiet", "--package", package]);
            let folder = plain.root.join("crates");
            let folder = folder.join(package.trim_start_matches("filch-"));
            for of in programs::tests(&mut command, &["test", "lib"])? {
                let name = match of.file.replace('_', "-") {
                    own if own == *package => format!("{package}::{}", of.name),
                    program => format!("{package}/{program}::{}", of.name),
                };
                found.push((name, of, folder.clone()));
            }
        }
        if !self.models.is_empty() {
            for of in programs::tests(&mut loom::build(&model), &["test"])? {
                if self.models.contains(of.module()) {
                    found.push((of.name.clone(), of, model.root.join("loom-tests")));
                }
            }
        }
        let number = found.len();
        println!("{number} tests and models; first, without any mutant");
        fs::create_dir_all(root().join(REACHED))?;
        let found: Vec<_> = found.into_iter().enumerate().collect();
        let tests = parallel::map(&found, |(number, (name, of, folder))| {
            let record = root().join(REACHED).join(number.to_string());
            let _ = fs::remove_file(&record);
            let variable = (switch::REACHED, record.display().to_string());
            let ended = run(of, folder, variable, LONGEST)?;
            let symptom = Symptom::of(&ended);
            if let Some(symptom) = symptom.filter(|symptom| *symptom != Symptom::Hang) {
                let output = ended.output;
                return Err(format!("{name} fails without a mutant: {symptom}\n{output}").into());
            }
            if symptom.is_some() || ended.elapsed > LONGEST {
                println!("left out, too long: {name}");
                return Ok(None);
            }
            let reached = fs::read_to_string(&record).unwrap_or_default();
            let numbers = reached.lines().filter_map(|line| line.parse().ok());
            Ok(Some((ended.elapsed, numbers.collect())))
        })?;
        let tests = found.into_iter().zip(tests);
        let tests = tests.filter_map(|((_, (name, of, folder)), alone)| {
            let (elapsed, reaches) = alone?;
            Some(Test {
                name,
                of,
                folder,
                elapsed,
                reaches,
            })
        });
        Ok(tests.collect())
    }
}

/// Runs a test for so much processor time at most.
fn run(
    test: &programs::Test,
    folder: &Path,
    (name, value): (&str, String),
    limit: Duration,
) -> Result<Ended> {
    let seconds = limit.as_secs() + 1;
    let limits = format!("ulimit -v {MEMORY}; ulimit -c 0; ulimit -S -t {seconds}");
    let test = test.command(folder);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")]);
    command.arg(test.get_program()).args(test.get_args());
    command.envs([("FILCH_LOOM_ANY_COUNT", "1"), ("FILCH_LOOM_BOUND", "quick")]);
    command.env(name, value).env("RUST_BACKTRACE", "0");
    run_within(command.current_dir(folder), limit * UNHURRIED)
}
