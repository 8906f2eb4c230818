//! `cargo xtask litmus`: kernels of the lock-free protocols, judged by the memory models.
//!
//! `loom-tests/litmus/README.md` describes the kernels and the models. herd7 says which of these
//! show the outcome that must not be, of a kernel and of each of its weakenings. A verdict is kept
//! with fingerprints of the kernel and of the functions that it stands for.

mod kernel;
mod program;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Args;

use crate::commands::mutants::function::{self, fingerprint};
use crate::support::process::{fresh_folder, git, known_files, root, runs};
use crate::support::{Result, parallel, table::Table, tally::Tally};
use kernel::Kernel;

#[derive(Args)]
pub(crate) struct Options {
    /// Keep the verdicts that are as expected, for the code as it is now.
    #[arg(long)]
    write: bool,

    /// Only the kernels whose name, `deque/pop-vs-claim`, contains this.
    #[arg(default_value = "")]
    kernel: String,
}

const FOLDER: &str = "loom-tests/litmus";
pub(crate) const VERDICTS: &str = "loom-tests/litmus/verdicts.toml";

/// By name: the texts of kernels, or fingerprints.
type Named = BTreeMap<String, String>;

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let Some(herd) = herd()? else {
        let from = git(&["log", "-1", "--format=%h of %as", "--", VERDICTS])?;
        print!("There is no herd7, which `.ci/herd7` fetches: the verdicts are those of {from}");
        let stale = complaints()?;
        stale.iter().for_each(|stale| println!("{stale}"));
        return Ok(Tally::of(stale.is_empty()).exit_code());
    };
    let (mut kernels, mut verdicts) = (kernels()?, read_verdicts()?);
    verdicts.retain(|name, _| kernels.contains_key(name));
    kernels.retain(|name, _| name.contains(&options.kernel));
    let mut cases = Vec::new();
    for (name, text) in &kernels {
        cases.extend(kernel::cases(text).into_iter().map(|case| (name, case)));
    }
    let found = parallel::map(&cases, |(name, (_, text, _))| judge(&herd, name, text))?;
    let (mut tally, mut right) = (Tally::default(), kernels.clone());
    let mut table = Table::new(&["kernel", "case", "shown by"]);
    for ((name, (what, _, expected)), mut found) in cases.iter().zip(found) {
        tally += Tally::of(found == *expected);
        if found != *expected {
            right.remove(*name);
            found += &format!(", EXPECTED: {expected}");
        }
        table.row([name.to_string(), what.clone(), found]);
    }
    print!("{table}");
    if options.write {
        for (name, text) in right {
            verdicts.insert(name, prints(&text)?);
        }
        let head = "# Made by `cargo xtask litmus --write`.\n\n".to_owned();
        fs::write(root().join(VERDICTS), head + &toml::to_string(&verdicts)?)?;
    }
    tally.report()
}

/// Lists the kernels that have changed since they were judged, or whose code has.
pub(crate) fn complaints() -> Result<Vec<String>> {
    let (verdicts, mut complaints) = (read_verdicts()?, Vec::new());
    for (name, text) in kernels()? {
        let known = verdicts.get(&name);
        let mut changed =
            prints(&text).unwrap_or_else(|error| Named::from([(error.to_string(), String::new())]));
        changed.retain(|what, print| known.and_then(|known| known.get(what)) != Some(print));
        if !changed.is_empty() {
            let changed = Vec::from_iter(changed.into_keys()).join(", ");
            complaints.push(format!(
                "{name} was judged before these changed: {changed}. If it still stands for the \
                 code: `cargo xtask litmus --write {name}`"
            ));
        }
    }
    Ok(complaints)
}

/// By folder: how many kernels it has, and which models show each of their weakenings.
pub(crate) type Weakenings = BTreeMap<String, (usize, Vec<String>)>;

pub(crate) fn weakenings() -> Result<Weakenings> {
    let mut weakenings = Weakenings::new();
    for (name, text) in kernels()? {
        let folder = name.split('/').next().unwrap_or_default().to_owned();
        let (kernels, shown) = weakenings.entry(folder).or_default();
        *kernels += 1;
        shown.extend(kernel::cases(&text).into_iter().skip(1).map(|case| case.2));
    }
    Ok(weakenings)
}

/// The fingerprints that each kernel had when it was judged.
fn read_verdicts() -> Result<BTreeMap<String, Named>> {
    let text = fs::read_to_string(root().join(VERDICTS)).unwrap_or_default();
    Ok(toml::from_str(&text)?)
}

fn kernels() -> Result<Named> {
    let mut kernels = Named::new();
    for file in known_files()? {
        let name = file.strip_prefix(FOLDER).ok().and_then(Path::to_str);
        if let Some(name) = name.and_then(|name| name.strip_suffix(".litmus")) {
            kernels.insert(name.to_owned(), fs::read_to_string(root().join(&file))?);
        }
    }
    Ok(kernels)
}

/// Tells which models show the outcome of a kernel that is about a mutant of an ordering, which is
/// its file, its function, its word and its change. `None`: no kernel is.
pub(crate) fn shown(mutants: &[[String; 4]]) -> Result<Vec<Option<[bool; 3]>>> {
    let mut shown = vec![None; mutants.len()];
    for text in kernels()?.values() {
        let (code, steps) = (Kernel::parse(text)?.code, kernel::weakenings(text));
        for (access, _) in &steps {
            let is_its = |at: &usize| {
                let [file, function, _, change] = &mutants[*at];
                let names = code.iter().filter(|(of, _)| file.ends_with(of));
                let mut names = names.flat_map(|(_, names)| names.split([',', ':', ' ']));
                change.replace("_weak", "") == access.1 && names.any(|name| name == function)
            };
            let mut found: Vec<_> = (0..mutants.len()).filter(is_its).collect();
            // An access may be several steps; of several, with a step each, each needs what all do.
            let is_one = found.len() == 1;
            let same = || steps.iter().filter(|(other, _)| other == access);
            found.retain(|&at| is_one || mutants[at][2] == access.0);
            let is_known = found.len() <= same().count();
            let models = ["rc11", "cxx20", "aarch64"].map(|model| match is_one {
                true => same().any(|(_, models)| models.contains(model)),
                false => same().all(|(_, models)| models.contains(model)),
            });
            for at in found.into_iter().filter(|_| is_known) {
                let before: [bool; 3] = shown[at].unwrap_or_default();
                shown[at] = Some([0, 1, 2].map(|model| before[model] | models[model]));
            }
        }
    }
    Ok(shown)
}

/// The fingerprints of a kernel and of the functions that it stands for.
fn prints(text: &str) -> Result<Named> {
    let mut prints = Named::from([("the kernel".to_owned(), fingerprint(text))]);
    for (file, names) in Kernel::parse(text)?.code {
        let file = Path::new("crates").join(file);
        let functions = function::of(&file, &fs::read_to_string(root().join(&file))?)?;
        for name in names.split(", ") {
            let function = functions.iter().find(|function| function.name == name);
            let function = function.ok_or_else(|| format!("no {name} in {}", file.display()))?;
            prints.insert(name.to_owned(), function.fingerprint.clone());
        }
    }
    Ok(prints)
}

/// RC11 with the release sequences of C++20, which are Rust's.
const RC11: &str = "target/litmus/rc11.cat";

/// Finds the herd7 that `FILCH_HERD7` names, an installed one, or that of `.ci/herd7`, and makes
/// [`RC11`] from its own.
fn herd() -> Result<Option<String>> {
    let fetched = root().join("target/herd7/herd7").display().to_string();
    let named = std::env::var("FILCH_HERD7").ok();
    let mut herds = named.into_iter().chain(["herd7".to_owned(), fetched]);
    let Some(herd) = herds.find(|herd| runs(herd, "-version")) else {
        return Ok(None);
    };
    let library = Command::new(&herd).arg("-libdir").output()?.stdout;
    let library = Path::new(String::from_utf8(library)?.trim()).join("rc11.cat");
    let model = fs::read_to_string(library)?;
    // In C++11, later stores by the same thread continued a release sequence.
    let (before, after) = (model.split_once("let rs = [W]; (sb & loc)?; "))
        .ok_or("herd7's rc11.cat is not the one that is known")?;
    fresh_folder(&root().join("target/litmus"))?;
    fs::write(root().join(RC11), format!("{before}let rs = {after}"))?;
    Ok(Some(herd))
}

/// Returns which models show the kernel's outcome.
fn judge(herd: &str, name: &str, text: &str) -> Result<String> {
    let kernel = Kernel::parse(text).map_err(|line| format!("{name}: {line}"))?;
    let [new, old] = [false, true].map(|old| program::arm(&kernel, old));
    let (c, mut shown) = (program::c(&kernel), Vec::new());
    for (model, test, options) in [
        ("rc11", &c, &["-model", RC11][..]),
        ("cxx20", &c, &["-model", RC11, "-skipcheck", "no-thin-air"]),
        ("aarch64", &new, &[]),
        ("aarch64", &old, &[]),
    ] {
        let name = name.replace('/', "-");
        let file = format!("target/litmus/{name}-{model}-{}.litmus", fingerprint(test));
        fs::write(root().join(&file), test)?;
        // A kernel that takes longer is too large.
        let mut herd = Command::new(herd);
        herd.args(["-timeout", "100"]).args(options).arg(&file);
        let output = String::from_utf8(herd.current_dir(root()).output()?.stdout)?;
        let is_shown = shows(&output).ok_or_else(|| format!("no verdict: herd7 {file}"))?;
        shown.extend(is_shown.then_some(model));
    }
    shown.dedup();
    if shown.is_empty() {
        shown.push("safe");
    }
    Ok(shown.join(" "))
}

/// Returns whether the outcome was seen, or a data race; `None` if nothing was.
fn shows(output: &str) -> Option<bool> {
    let mut lines = output.lines();
    let seen = lines.find_map(|line| line.strip_prefix("Observation kernel "))?;
    let is_race = output.contains("\nFlag *undef*");
    (seen != "Never 0 0").then(|| is_race || !seen.starts_with("Never "))
}

#[cfg(test)]
mod tests {
    use super::kernel::{Kernel, cases};
    use super::{program, shows};

    #[test]
    fn a_kernel_becomes_tests_weakenings_and_a_verdict() {
        let text = "code a.rs: f, B::g\nstart full = 2\nwriter\n    slot.write(5)\n    \
                    full.store(1, Release) // Relaxed: rc11; dropped: safe\nreader\n    \
                    a = full.load(Acquire)\n    if a == 1: b = slot.read()\n\
                    never reader.a == 1 && reader.b == 0";
        let kernel = Kernel::parse(text).unwrap();
        let [new, old] = [false, true].map(|old| program::arm(&kernel, old));
        let c = program::c(&kernel);
        assert!(c.contains("if (a == 1) { b = *slot; }"), "{c}");
        assert!(c.ends_with("exists (1:a=1 /\\ 1:b=0)\n"), "{c}");
        assert!(new.contains("STLR W10,[X13] | LDR W1,[X13] ;"), "{new}");
        assert!(old.contains("MOV W10,#5 | LDAR W0,[X12] ;"), "{old}");
        assert!(Kernel::parse(&text.replace("read()", "read")).is_err());
        let cases = cases(text);
        assert_eq!(cases[1].0, "writer: full.store(1, Release) Relaxed");
        assert!(cases[1].1.contains("full.store(1, Relaxed)\n") && cases[1].2 == "rc11");
        assert!(!cases[2].1.contains("full.store") && cases[2].2 == "safe");
        let never = "\nObservation kernel Never 0 3";
        assert_eq!(shows(never), Some(false));
        assert_eq!(shows(&("\nFlag *undef*".to_owned() + never)), Some(true));
        assert_eq!(shows("Observation kernel Never 0 0"), None);
    }
}
