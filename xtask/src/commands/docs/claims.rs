//! The table of docs/correctness.md: on the claim of each crate, the part of each checker.

use std::fmt::Write;
use std::path::PathBuf;

use serde::Deserialize;

use crate::commands::litmus::Weakenings;
use crate::support::Result;

pub(super) const PAGE: &str = "docs/correctness.md";

/// The claims, and the names that the tree does not give by itself.
pub(super) const CLAIMS: &str = "docs/claims.toml";

const BEGIN: &str = "<!-- table: claims; `cargo xtask docs` makes it -->\n";
const END: &str = "<!-- end of claims -->\n";

const HEADINGS: &str = "| claim | loom | litmus, C11 | litmus, Arm | shuttle | sanitizers | \
                        histories | stress, also on Arm |\n|---|---|---|---|---|---|---|---|\n";

const MODELS: &str = "loom-tests/tests";

/// The modules there that are about no claim of a crate.
const NO_CLAIM: [&str; 6] = ["awake", "harness", "main", "own_code", "owned", "tour"];

#[derive(Deserialize)]
struct Claims {
    claims: Vec<Claim>,
}

/// The claim of a crate, and the modules and tests that are about it.
#[derive(Deserialize)]
struct Claim {
    of: String,
    claim: String,
    loom: Vec<String>,
    shuttle: Vec<String>,
    stress: Vec<String>,
}

/// Returns the page with its table. A name that is not in the tree is an error, and so is a module
/// of models that no claim has.
pub(super) fn fill(
    page: &str,
    claims: &str,
    files: &[PathBuf],
    kernels: &Weakenings,
    sanitized: &[String],
) -> Result<String> {
    let Claims { claims } = toml::from_str(claims)?;
    let inside = |folder: &str| -> Vec<&str> {
        let below = files.iter().map(|file| file.strip_prefix(folder));
        let names = below.filter_map(|file| file.ok()?.iter().next()?.to_str());
        names.map(|name| name.trim_end_matches(".rs")).collect()
    };
    let cell = |folder: &str, names: &[String]| {
        let there = inside(folder);
        match names.iter().find(|name| !there.contains(&&***name)) {
            Some(gone) => Err(format!("{CLAIMS} has `{gone}`, and {folder} has not")),
            None if names.is_empty() => Ok("–".to_owned()),
            None => Ok(format!("`{}`", names.join("`, `"))),
        }
    };
    let claimed: Vec<_> = claims.iter().flat_map(|claim| &claim.loom).collect();
    let is_left = |name: &&str| {
        let is_claimed = claimed.iter().any(|claimed| claimed == name);
        !is_claimed && !NO_CLAIM.contains(name) && !name.starts_with("known_bugs_")
    };
    if let Some(model) = inside(MODELS).into_iter().find(is_left) {
        return Err(format!("no claim of {CLAIMS} has `{model}`, and {MODELS} has").into());
    }
    let recorded = inside("tests/linearizability/tests");
    let mut table = HEADINGS.to_owned();
    for claim in &claims {
        let of = &claim.of;
        let shown = |model| match kernels.get(of) {
            Some((kernels, all)) => {
                let shown = all.iter().filter(|shown| shown.contains(model)).count();
                format!("{shown} of {} in {kernels}", all.len())
            }
            None => "–".to_owned(),
        };
        let has = |is: bool, what| if is { what } else { "–" };
        writeln!(
            table,
            "| {of}: {} | {} | {} | {} | {} | {} | {} | {} |",
            claim.claim,
            cell(MODELS, &claim.loom)?,
            shown("rc11"),
            shown("aarch64"),
            cell("tests/shuttle/tests", &claim.shuttle)?,
            has(sanitized.contains(&format!("filch-{of}")), "both"),
            has(recorded.contains(&&*of.replace('-', "_")), "yes"),
            cell(&format!("crates/{of}/tests"), &claim.stress)?,
        )?;
    }
    let parts = page.split_once(BEGIN).zip(page.split_once(END));
    let ((before, _), (_, after)) = parts.ok_or("no place for the table of claims")?;
    Ok(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{BEGIN, END, fill};

    #[test]
    fn a_table_has_what_is_in_the_tree_and_nothing_else() {
        let files = [
            "crates/a-b/tests/stress.rs",
            "loom-tests/tests/a/mod.rs",
            "loom-tests/tests/known_bugs_a.rs",
            "tests/linearizability/tests/a_b.rs",
            "tests/shuttle/tests/pools.rs",
        ];
        let files = files.map(PathBuf::from);
        let shown = ["rc11 cxx20", "safe", "rc11 aarch64"].map(str::to_owned);
        let kernels = [("a-b".to_owned(), (1, shown.to_vec()))].into();
        let page = format!("{BEGIN}old\n{END}more");
        let filled = |claims: &str, files| {
            let filled = fill(&page, claims, files, &kernels, &["filch-a-b".to_owned()]);
            filled.map_err(|error| error.to_string())
        };
        let claims = "[[claims]]\nof = 'a-b'\nclaim = 'it works'\nloom = ['a']\n\
                      shuttle = ['pools']\nstress = []\n";
        let row = "| a-b: it works | `a` | 2 of 3 in 1 | 1 of 3 in 1 | `pools` | both | yes | – |";
        let page = filled(claims, &files).unwrap();
        assert!(
            page.contains(row) && page.ends_with("more") && !page.contains("old"),
            "{page}"
        );
        let gone = filled(&claims.replace("pools", "pool"), &files).unwrap_err();
        assert_eq!(
            gone,
            "docs/claims.toml has `pool`, and tests/shuttle/tests has not"
        );
        let gone = filled(claims, &files[2..]).unwrap_err();
        assert_eq!(
            gone,
            "docs/claims.toml has `a`, and loom-tests/tests has not"
        );
        let left = filled(&claims.replace("['a']", "[]"), &files).unwrap_err();
        assert_eq!(
            left,
            "no claim of docs/claims.toml has `a`, and loom-tests/tests has"
        );
    }
}
