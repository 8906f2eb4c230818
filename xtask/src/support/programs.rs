//! Test programs and examples: built by cargo, run by us.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Result;
use super::process::{root, sources};

/// One test of a program.
pub(crate) struct Test {
    /// The program's name: that of its target.
    pub(crate) file: String,
    /// The test function's path in it.
    pub(crate) name: String,
    pub(crate) program: PathBuf,
}

impl Test {
    /// The outermost module that it stands in.
    pub(crate) fn module(&self) -> &str {
        self.name.split("::").next().unwrap_or_default()
    }

    /// Runs it alone, in `folder`.
    pub(crate) fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--exact", &self.name, "--nocapture", "--test-threads=1"]);
        command.current_dir(folder);
        command
    }
}

/// The tests in the programs that `cargo` builds and does not run, made from these kinds of
/// targets; ordered by file.
pub(crate) fn tests(cargo: &mut Command, kinds: &[&str]) -> Result<Vec<Test>> {
    let mut tests = Vec::new();
    for (file, program) in build(cargo, kinds)? {
        let mut list = Command::new(&program);
        let listing = list.args(["--list", "--format", "terse"]).output()?;
        if !listing.status.success() {
            return Err(format!("{} does not list its tests", program.display()).into());
        }
        let names = String::from_utf8(listing.stdout)?;
        let names = names.lines().filter_map(|line| line.strip_suffix(": test"));
        tests.extend(names.map(|name| Test {
            file: file.clone(),
            name: name.to_owned(),
            program: program.clone(),
        }));
    }
    Ok(tests)
}

/// The tests of the one program that `cargo` builds from the sources in `folder`, whose names
/// contain `filter`; all, without one. That program must have just the tests that the
/// sources show.
pub(crate) fn select(cargo: &mut Command, folder: &str, filter: Option<&str>) -> Result<Vec<Test>> {
    let mut tests = tests(cargo, &["test"])?;
    let built = tests.iter().map(|test| test.name.clone()).collect();
    if let Some(name) = names(folder)?.symmetric_difference(&built).next() {
        return Err(format!("{name}: the sources show no such test, or no module has it").into());
    }
    let filter = filter.unwrap_or_default();
    tests.retain(|test| test.name.contains(filter));
    if tests.is_empty() {
        return Err(format!("no test's name contains `{filter}`").into());
    }
    Ok(tests)
}

/// Reads the names of the tests from the sources in a folder, which need not be built for it.
pub(crate) fn names(folder: &str) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for file in sources(folder)? {
        let text = fs::read_to_string(root().join(&file))?;
        let module = place(file.strip_prefix(folder)?);
        names.extend(tests_of(&text).map(|test| format!("{module}{test}")));
    }
    Ok(names)
}

/// The module that a file is: `deque::claims::` for `deque/claims.rs`.
fn place(file: &Path) -> String {
    let file = file.with_extension("");
    let parts = file.iter().filter_map(OsStr::to_str);
    let parts = parts.filter(|part| *part != "main" && *part != "mod");
    parts.map(|part| format!("{part}::")).collect()
}

/// The names of the functions under `#[test]`.
fn tests_of(text: &str) -> impl Iterator<Item = &str> {
    let mut lines = text.lines().map(str::trim_start);
    std::iter::from_fn(move || {
        lines.find(|line| *line == "#[test]")?;
        let function = lines.find_map(|line| line.strip_prefix("fn "))?;
        function.split('(').next()
    })
}

/// Runs `cargo`, which builds and does not run, and returns the name and the path of each program
/// made from one of these kinds of targets, sorted.
pub(crate) fn build(cargo: &mut Command, kinds: &[&str]) -> Result<Vec<(String, PathBuf)>> {
    cargo.args(["--message-format", "json-render-diagnostics"]);
    let output = cargo.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err("the programs do not compile".into());
    }
    let mut programs = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        programs.extend(program(&serde_json::from_str(line)?, kinds));
    }
    programs.sort();
    Ok(programs)
}

/// Reads one of cargo's messages; `None` unless it announces a program of these kinds.
fn program(message: &Value, kinds: &[&str]) -> Option<(String, PathBuf)> {
    let target = &message["target"];
    let mut own = target["kind"].as_array()?.iter().filter_map(Value::as_str);
    let is_wanted = own.any(|kind| kinds.contains(&kind));
    let executable = message["executable"].as_str()?;
    let name = target["name"].as_str()?;
    is_wanted.then(|| (name.to_owned(), PathBuf::from(executable)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{place, tests_of};

    #[test]
    fn a_file_is_a_module() {
        let placed = |file| place(Path::new(file));
        assert_eq!(placed("walk.rs"), "walk::");
        assert_eq!(placed("deque/mod.rs"), "deque::");
        assert_eq!(placed("deque/claims.rs"), "deque::claims::");
        assert_eq!(placed("main.rs"), "");
    }

    #[test]
    fn attributes_may_stand_between_the_mark_and_the_function() {
        let text = "fn no() {}\n#[test]\nfn one() {}\n\
                    #[test]\n#[should_panic(expected = \"x\")]\nfn two() {\n";
        assert!(tests_of(text).eq(["one", "two"]));
    }
}
