//! `cargo xtask ordered`: the instructions that order memory in the code that LLVM makes for Arm of
//! the operations in `benches/rivals/ordered`. They are compiled, and do not run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::ExitCode;

use crate::support::Result;
use crate::support::process::{cargo_in, fresh_folder, root, target_directory};
use crate::support::tally::Tally;

const PAGE: &str = "docs/ordered.md";

/// The line above the rows.
const RULE: &str = "|---|---|---|---|\n";

pub(crate) const TARGET: &str = "aarch64-unknown-linux-gnu";

/// The modules of the operations: columns of the table.
const COLUMNS: [&str; 3] = ["filch", "crossbeam", "st3"];

/// The beginnings of the instructions that order memory, or are atomic.
const ORDERED: [&str; 13] = [
    "cas", "dmb", "lda", "ldclr", "ldeor", "ldset", "ldsm", "ldum", "ldx", "stl", "stset", "stx",
    "swp",
];

/// The instructions of each function, by symbol.
type Functions = BTreeMap<String, Vec<String>>;

/// Writes the table into the page.
pub(crate) fn run() -> Result<ExitCode> {
    let page = fs::read_to_string(root().join(PAGE))?;
    let (head, _) = page.split_once(RULE).ok_or("the page has no table")?;
    let rows = rows(&compile()?);
    fs::write(root().join(PAGE), format!("{head}{RULE}{rows}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Compares the rows with those of the page; each is one check.
pub(crate) fn check() -> Result<Tally> {
    let page = fs::read_to_string(root().join(PAGE))?;
    let mut tally = Tally::default();
    for row in rows(&compile()?).lines() {
        let is_known = page.lines().any(|line| line == row);
        if !is_known {
            println!("error: {PAGE} lacks `{row}`: run `cargo xtask ordered`");
        }
        tally += Tally::of(is_known);
    }
    Ok(tally)
}

/// Compiles the operations and their dependencies, and reads the assembly.
fn compile() -> Result<Functions> {
    // There is none of an earlier build.
    fresh_folder(&target_directory("ordered"))?;
    let mut cargo = cargo_in("ordered");
    cargo.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1");
    cargo.env("RUSTFLAGS", "-Ctarget-feature=+lse,+rcpc --emit=asm");
    cargo.args(["build", "--quiet", "--release", "--target", TARGET]);
    if !cargo.args(["-p", "filch-ordered"]).status()?.success() {
        return Err("the operations do not compile".into());
    }
    let mut functions = Functions::new();
    let folder = target_directory("ordered").join(format!("{TARGET}/release/deps"));
    for file in fs::read_dir(folder)? {
        let file = file?.path();
        if file.extension().is_some_and(|extension| extension == "s") {
            read(&fs::read_to_string(file)?, &mut functions);
        }
    }
    Ok(functions)
}

/// Adds the functions in a file, but for those marked `#[cold]`, which have sections of their own.
fn read(assembly: &str, functions: &mut Functions) {
    let (mut is_cold, mut symbol) = (false, "");
    for line in assembly.lines() {
        let (word, operand) = line.trim().split_once(['\t', ' ']).unwrap_or_default();
        if word == ".section" {
            is_cold = operand.trim_matches('"').starts_with(".text.unlikely");
        } else if word == ".type" {
            symbol = operand.strip_suffix(",@function").unwrap_or(symbol);
        } else if line.starts_with('\t') && !is_cold {
            let function = functions.entry(symbol.to_owned()).or_default();
            function.push(format!("{word} {operand}"));
        }
    }
}

/// Counts what stands in the code of a function, and of those that it calls, each once.
fn count<'a>(functions: &'a Functions, symbol: &'a str) -> BTreeMap<&'a str, usize> {
    let (mut counts, mut seen, mut ahead) = (BTreeMap::new(), BTreeSet::new(), vec![symbol]);
    while let Some(symbol) = ahead.pop() {
        let function = functions.get(symbol).filter(|_| seen.insert(symbol));
        for instruction in function.into_iter().flatten() {
            let (word, operand) = instruction.split_once(' ').unwrap_or_default();
            if word == "b" || word == "bl" {
                ahead.push(operand);
            } else if ORDERED.iter().any(|begin| word.starts_with(begin)) {
                let kind = if word == "dmb" { instruction } else { word };
                *counts.entry(kind).or_default() += 1;
            }
        }
    }
    counts
}

/// The column and the row of an operation, which are in its symbol with their lengths before them.
fn place(symbol: &str) -> Option<(usize, &str)> {
    COLUMNS.iter().enumerate().find_map(|(column, name)| {
        let path = format!("13filch_ordered{}{name}", name.len());
        let (_, row) = symbol.split_once(&path)?;
        let row = row.trim_start_matches(|of: char| of.is_ascii_digit());
        Some((column, row.split("17h").next()?))
    })
}

fn rows(functions: &Functions) -> String {
    let mut rows: BTreeMap<&str, [String; 3]> = BTreeMap::new();
    for symbol in functions.keys() {
        if let Some((column, row)) = place(symbol) {
            let counts = count(functions, symbol).into_iter();
            let counts = counts.map(|(instruction, times)| format!("{times} `{instruction}`"));
            let cell = counts.collect::<Vec<_>>().join(", ");
            rows.entry(row).or_default()[column] = cell;
        }
    }
    let rows = rows.into_iter();
    let rows = rows.map(|(row, cells)| format!("| {row} | {} |\n", cells.join(" | ")));
    rows.collect::<String>().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::{Functions, count, place, read};

    #[test]
    fn an_operation_has_what_it_calls_but_for_what_is_cold() {
        let mut functions = Functions::new();
        let assembly = "\t.section\t.text.a,\"ax\",@progbits\n\t.type\ta,@function\na:\n\
                        \tldapr\tx8, [x0]\n\tldr\tx8, [x0]\n\tdmb\tish\n\tbl\tc\n\tb\ta\n\
                        \t.section\t.text.unlikely.c,\"ax\",@progbits\n\t.type\tc,@function\n\
                        c:\n\tcasal\tx8, x9, [x0]\n";
        read(assembly, &mut functions);
        let counts = count(&functions, "a").into_iter();
        assert!(counts.eq([("dmb ish", 1), ("ldapr", 1)]));
        assert!(count(&functions, "c").is_empty());
    }

    #[test]
    fn a_symbol_names_column_and_row_in_either_mangling() {
        let expected = Some((0, "deque_pop"));
        assert_eq!(place("_ZN13filch_ordered5filch9deque_pop17h0E"), expected);
        assert_eq!(place("_RNvNtCs1_13filch_ordered5filch9deque_pop"), expected);
        assert_eq!(place("_ZN4core3fmt17h0E"), None);
    }
}
