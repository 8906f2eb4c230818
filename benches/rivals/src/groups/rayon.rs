//! Programs as users of rayon write them, on rayon's core and on ours: those of `examples/rayon`,
//! which `cargo xtask bench --group rayon` builds twice.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::Scenario;
use crate::outside::Rival;

/// After so many rounds a program is started anew: where the pages of a process lie makes up to a
/// twentieth, as long as it lives.
const ROUNDS_OF_A_PROCESS: usize = 5;

/// Programs whose pools go with each round. The processor time of a thread that has ended is not
/// told.
const OWN_POOLS: [&str; 2] = ["installs", "between-pools"];

const OURS: &str = "filch";
const THEIRS: &str = "rayon";

/// Makes the scenarios; none, unless the programs were built.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let Some(folder) = env::var_os("FILCH_RAYON_PROGRAMS").map(PathBuf::from) else {
        return Vec::new();
    };
    let (_, programs) = start(&folder, THEIRS);
    let scenarios = programs.into_iter().flat_map(|program| {
        let scenario = |name: &str, part| {
            Scenario::new(name, "ms")
                .contender("filch-fork-join", rounds(&folder, OURS, &program, part))
                .contender("rayon", rounds(&folder, THEIRS, &program, part))
        };
        let time = scenario(&program, 0).floor("sequential", sequential(&folder, &program));
        let keeps_threads = !OWN_POOLS.contains(&&*program);
        let load = keeps_threads.then(|| scenario(&format!("{program}: processor time"), 1));
        [time].into_iter().chain(load)
    });
    scenarios.collect()
}

/// Starts the programs on that core, and has their names.
fn start(folder: &Path, core: &str) -> (Rival, Vec<String>) {
    let path = folder.join(core).join("target/release/programs");
    let mut rival = Rival::start(&mut Command::new(path));
    let mut programs = Vec::new();
    loop {
        let line = rival.answer();
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["core", of, _] => assert_eq!(of, core, "the wrong core was built"),
            ["program", name] => programs.push(name.to_owned()),
            _ => return (rival, programs),
        }
    }
}

/// The milliseconds of a round of a program; and of its sequential form, in the first round of a
/// process.
fn round(rival: &mut Rival, program: &str) -> (f64, Option<f64>) {
    rival.order(program);
    let mut sequential = None;
    loop {
        let answer = rival.answer();
        let (label, nanos) = answer.split_once(' ').expect("a figure");
        let millis = nanos.parse::<f64>().expect("a figure") / 1e6;
        if label == program {
            return (millis, sequential);
        }
        sequential = Some(millis);
    }
}

/// Part 0 of a figure is its time, and part 1 the processor time of the whole program meanwhile.
fn rounds(
    folder: &Path,
    core: &'static str,
    program: &str,
    part: usize,
) -> impl FnMut() -> f64 + use<> {
    let (folder, program) = (folder.to_owned(), program.to_owned());
    let mut running = None;
    let mut left = 0;
    move || {
        if left == 0 {
            running = None;
            left = ROUNDS_OF_A_PROCESS;
        }
        let rival = running.get_or_insert_with(|| {
            let (mut rival, _) = start(&folder, core);
            // It fills the caches.
            round(&mut rival, &program);
            rival
        });
        left -= 1;
        let before = rival.processor_time();
        let (millis, _) = round(rival, &program);
        let used = rival.processor_time().saturating_sub(before);
        [millis, used.as_secs_f64() * 1e3][part]
    }
}

fn sequential(folder: &Path, program: &str) -> impl FnMut() -> f64 + use<> {
    let (folder, program) = (folder.to_owned(), program.to_owned());
    move || {
        let (mut rival, _) = start(&folder, THEIRS);
        round(&mut rival, &program)
            .1
            .expect("the first round says it")
    }
}
