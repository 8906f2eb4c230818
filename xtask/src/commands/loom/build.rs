//! Building the models and finding out what there is.

use std::path::PathBuf;

use super::sources;
use crate::support::error::Result;
use crate::support::process::Tree;
use crate::support::programs;

/// One test of one file in `loom-tests/tests`.
pub(crate) struct Model {
    /// The file's name, without `.rs`.
    pub file: String,
    /// The test function's path in it.
    pub test: String,
    /// The test program that holds it.
    pub program: PathBuf,
}

impl Model {
    /// What a filter is compared with.
    pub(crate) fn full_name(&self) -> String {
        format!("{}::{}", self.file, self.test)
    }

    /// The harness's own tests: they check that empty models are refused, and have no verdict to
    /// show.
    pub(super) fn is_about_the_harness(&self) -> bool {
        self.file == "harness"
    }
}

/// Builds the programs of `loom-tests` that hold a model whose full name contains `filter`, and
/// lists these models.
pub(super) fn models_named(tree: &Tree, filter: &str) -> Result<Vec<Model>> {
    let programs = sources::programs(&tree.root)?;
    let files = sources::matching(&programs, filter);
    if files.is_empty() {
        return Err(format!("no model's name contains `{filter}`").into());
    }
    let mut models = models(tree, &files)?;
    // A model that the sources do not show would never be found by its name.
    for file in files {
        let listed = models.iter().filter(|model| model.file == file);
        let mut listed: Vec<_> = listed.map(|model| model.test.as_str()).collect();
        listed.sort_unstable();
        if listed != programs[file] {
            return Err(format!(
                "loom-tests, --test {file} lists other tests than its sources: {listed:?}, \
                 not {:?}",
                programs[file]
            )
            .into());
        }
    }
    models.retain(|model| model.full_name().contains(filter));
    Ok(models)
}

/// Builds these files of `loom-tests` with `--cfg loom`, and lists their tests, ordered by file.
pub(crate) fn models(tree: &Tree, files: &[&str]) -> Result<Vec<Model>> {
    let mut models = Vec::new();
    for (file, program) in test_programs(tree, files)? {
        for test in programs::tests(&program)? {
            models.push(Model {
                file: file.clone(),
                test,
                program: program.clone(),
            });
        }
    }
    Ok(models)
}

/// The file name and the path of each of these test programs of `loom-tests`, sorted.
fn test_programs(tree: &Tree, files: &[&str]) -> Result<Vec<(String, PathBuf)>> {
    let mut command = tree.cargo_with_cfg("loom");
    command.args([
        "test",
        "--no-run",
        "--package",
        "loom-tests",
        "--profile",
        "loom",
    ]);
    for file in files {
        command.args(["--test", file]);
    }
    programs::build(&mut command, &["test"])
}
