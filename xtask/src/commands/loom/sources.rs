//! The models that there are, as the sources of `loom-tests` say: a program that holds none of
//! those that are asked for need not be built.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::error::Result;
use crate::support::process::files_below;

/// The tests of each test program, by the program's name; sorted.
pub(super) type Programs = BTreeMap<String, Vec<String>>;

const TESTS: &str = "loom-tests/tests";

/// Reads the sources below `root`.
pub(super) fn programs(root: &Path) -> Result<Programs> {
    let mut programs = Programs::new();
    for file in files_below(root, &[TESTS], "rs")? {
        let text = fs::read_to_string(root.join(&file))?;
        let (program, module) = place(file.strip_prefix(TESTS)?);
        let tests = programs.entry(program).or_default();
        tests.extend(tests_of(&text).map(|test| format!("{module}{test}")));
        tests.sort();
    }
    Ok(programs)
}

/// The programs that hold a test whose `program::test` contains `filter`.
pub(super) fn matching<'p>(programs: &'p Programs, filter: &str) -> Vec<&'p str> {
    let holds = |(program, tests): &(&String, &Vec<String>)| {
        let mut names = tests.iter().map(|test| format!("{program}::{test}"));
        names.any(|name| name.contains(filter))
    };
    programs
        .iter()
        .filter(holds)
        .map(|(program, _)| program.as_str())
        .collect()
}

/// The program that a file belongs to, and its module there: `("deque", "claims::")` for
/// `deque/claims.rs`.
fn place(file: &Path) -> (String, String) {
    let path = file.with_extension("");
    let mut parts = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    let program = parts.next().unwrap_or_default().into_owned();
    let modules = parts.filter(|part| part != "main" && part != "mod");
    (
        program,
        modules.map(|module| format!("{module}::")).collect(),
    )
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Programs, matching, place, tests_of};

    #[test]
    fn a_files_tests_belong_to_a_program_and_a_module() {
        let placed = |file| place(Path::new(file));
        assert_eq!(placed("walk.rs"), ("walk".into(), String::new()));
        assert_eq!(placed("deque/main.rs"), ("deque".into(), String::new()));
        assert_eq!(
            placed("deque/claims.rs"),
            ("deque".into(), "claims::".into())
        );
        assert_eq!(placed("a/b/mod.rs"), ("a".into(), "b::".into()));
    }

    #[test]
    fn attributes_may_stand_between_the_mark_and_the_function() {
        let text = "fn no() {}\n#[test]\nfn one() {}\n\
                    #[test]\n#[should_panic(expected = \"x\")]\nfn two() {\n";
        assert!(tests_of(text).eq(["one", "two"]));
    }

    #[test]
    fn only_programs_that_can_match_are_named() {
        let tests = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let programs = Programs::from([
            ("deque".to_owned(), tests(&["claims::one", "lazy::two"])),
            ("known_bugs_deque".to_owned(), tests(&["textbook::one"])),
            ("slab".to_owned(), tests(&["pages_one"])),
        ]);
        assert_eq!(matching(&programs, "deque"), ["deque", "known_bugs_deque"]);
        assert_eq!(matching(&programs, "deque::lazy"), ["deque"]);
        assert_eq!(matching(&programs, "pages"), ["slab"]);
        assert_eq!(matching(&programs, "three"), [""; 0]);
    }
}
