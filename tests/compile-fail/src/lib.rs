//! Misuse of the primitives that must not compile, for the announced reason.
//!
//! A case is a file in `cases/CRATE/`. It is compiled twice. As it stands it must compile, which
//! shows that no typing error beside the misuse is at work. With `--cfg misuse` it must fail, with
//! exactly the errors that it announces, each on the announcing line:
//!
//! ```text
//! #[cfg(misuse)]
//! let second = worker.clone(); //~ E0599 no method named `clone` found
//! ```
//!
//! The first word is the error's code, or the name of a denied lint; the rest must occur in its
//! message. A line may announce several. `//~!` announces an error that the compiler reports
//! elsewhere, in the misused crate.
//!
//! Doc tests marked `compile_fail` will not do, as the stable rustdoc does not look at the error.
//! Nor will `trybuild`: it compares whole texts, which change with the installed components, and it
//! has no twin that compiles. Code is generated, not only checked, so that failing constants are
//! seen.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The compiler's answer to a misuse: the line of the case (`None`: elsewhere), code and message.
#[derive(Debug)]
struct Failure {
    line: Option<u64>,
    code: String,
    message: String,
}

/// Compiles the cases in `cases/CRATE`. The objects of successful ones are left in `scratch`.
///
/// # Panics
///
/// If there is none, or if one does not behave as announced.
pub fn check(name: &str, scratch: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("cases")
        .join(name);
    let entries = fs::read_dir(&directory).expect("the crate has a directory of cases");
    let mut cases: Vec<_> = entries
        .map(|entry| entry.expect("the directory can be read").path())
        .collect();
    cases.sort();
    let mut arguments = libraries();
    // One directory per crate, because the crates are checked at the same time.
    arguments.push("--out-dir".into());
    arguments.push(Path::new(scratch).join(name).into());
    let complaints: Vec<_> = cases
        .iter()
        .flat_map(|case| complaints(case, &arguments))
        .collect();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
    assert!(!cases.is_empty(), "there are no cases");
}

/// Lists the complaints about a case.
fn complaints(case: &Path, arguments: &[OsString]) -> Vec<String> {
    let text = fs::read_to_string(case).expect("a case can be read");
    let expected: Vec<_> = text.lines().zip(1..).flat_map(announced).collect();
    let mut complaints = Vec::new();
    let mut complain = |what: String| complaints.push(format!("{}: {what}", case.display()));
    if expected.is_empty() {
        complain("announces no error".to_owned());
    }
    for failure in compile(case, arguments, false) {
        complain(format!("fails without the misuse: {failure:?}"));
    }
    let failures = compile(case, arguments, true);
    for failure in &failures {
        if !expected.iter().any(|expected| expected.covers(failure)) {
            complain(format!("fails for another reason: {failure:?}"));
        }
    }
    for expected in expected {
        if !failures.iter().any(|failure| expected.covers(failure)) {
            complain(format!("THE MISUSE COMPILES: there is no {expected:?}"));
        }
    }
    complaints
}

impl Failure {
    /// Returns true if this announces `other`.
    fn covers(&self, other: &Self) -> bool {
        self.line == other.line && self.code == other.code && other.message.contains(&self.message)
    }
}

/// Returns the failures that a line announces.
fn announced((line, number): (&str, u64)) -> impl Iterator<Item = Failure> {
    line.split("//~").skip(1).map(move |announcement| {
        let elsewhere = announcement.strip_prefix('!');
        let words = elsewhere.unwrap_or(announcement).trim();
        let (code, message) = words.split_once(' ').unwrap_or((words, ""));
        Failure {
            line: elsewhere.is_none().then_some(number),
            code: code.to_owned(),
            message: message.to_owned(),
        }
    })
}

/// Compiles a case; returns the errors of the compiler.
fn compile(case: &Path, arguments: &[OsString], misuse: bool) -> Vec<Failure> {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(compiler);
    command
        .args(["--edition=2024", "--crate-name=case", "--crate-type=lib"])
        .args(["--check-cfg=cfg(misuse)", "--error-format=json"])
        .arg("--emit=obj")
        .args(arguments)
        .arg(case);
    if misuse {
        command.arg("--cfg=misuse");
    }
    let output = command.output().expect("the compiler can be started");
    let messages = String::from_utf8(output.stderr).expect("the compiler writes UTF-8");
    let failures: Vec<_> = messages
        .lines()
        .filter_map(|line| failure(&serde_json::from_str(line).ok()?, case))
        .collect();
    assert_eq!(
        output.status.success(),
        failures.is_empty(),
        "{}: the compiler says: {messages}",
        case.display()
    );
    failures
}

/// Reads one of the compiler's messages; `None` unless it is an error with a place.
fn failure(message: &Value, case: &Path) -> Option<Failure> {
    if message["level"] != "error" {
        return None;
    }
    let spans = message["spans"].as_array()?;
    let primary = spans.iter().find(|span| span["is_primary"] == true)?;
    let is_here = Path::new(primary["file_name"].as_str()?) == case;
    Some(Failure {
        line: is_here.then(|| primary["line_start"].as_u64()).flatten(),
        code: message["code"]["code"].as_str().unwrap_or("").to_owned(),
        message: message["message"].as_str()?.to_owned(),
    })
}

/// Returns the compiler's arguments for this package's dependencies: cargo builds them if
/// necessary, and names their files.
fn libraries() -> Vec<OsString> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["build", "--lib", "--message-format=json"])
        .output()
        .expect("cargo can be started");
    let messages = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    assert!(output.status.success(), "the crates do not compile");
    let mut arguments = Vec::new();
    for line in messages.lines() {
        let artifact: Value = serde_json::from_str(line).expect("cargo writes JSON");
        let Some((name, library)) = library(&artifact) else {
            continue;
        };
        let directory = library.parent().expect("a file is in a directory");
        arguments.push("-L".into());
        arguments.push(format!("dependency={}", directory.display()).into());
        if name.starts_with("filch_") {
            arguments.push("--extern".into());
            arguments.push(format!("{name}={}", library.display()).into());
        }
    }
    assert!(!arguments.is_empty(), "cargo names no library");
    arguments
}

/// Returns the name and file of the library that a message of cargo announces.
fn library(artifact: &Value) -> Option<(&str, PathBuf)> {
    let files = artifact["filenames"].as_array()?;
    let file = files
        .iter()
        .filter_map(Value::as_str)
        .find(|file| file.ends_with(".rlib"))?;
    Some((artifact["target"]["name"].as_str()?, file.into()))
}
