//! Building the models and finding out what there is.

use super::sources;
use crate::support::error::Result;
use crate::support::process::Tree;
use crate::support::programs::{self, Test};

/// Builds the programs of `loom-tests` that hold a model whose full name contains `filter`, and
/// lists these models.
pub(super) fn models_named(tree: &Tree, filter: &str) -> Result<Vec<Test>> {
    let programs = sources::programs(&tree.root)?;
    let files = sources::matching(&programs, filter);
    if files.is_empty() {
        return Err(format!("no model's name contains `{filter}`").into());
    }
    let mut models = models(tree, &files)?;
    // A model that the sources do not show would never be found by its name.
    for file in files {
        let listed = models.iter().filter(|model| model.file == file);
        let mut listed: Vec<_> = listed.map(|model| model.name.as_str()).collect();
        listed.sort_unstable();
        if listed != programs[file] {
            let shown = &programs[file];
            let message = format!("--test {file} lists {listed:?}, its sources show {shown:?}");
            return Err(message.into());
        }
    }
    models.retain(|model| model.to_string().contains(filter));
    Ok(models)
}

/// Builds these files of `loom-tests` with `--cfg loom`, and lists their tests, ordered by file.
pub(crate) fn models(tree: &Tree, files: &[&str]) -> Result<Vec<Test>> {
    let mut build = tree.cargo_with_cfg("loom");
    build.args(["test", "--no-run", "--package", "loom-tests"]);
    build.args(["--profile", "loom"]);
    for file in files {
        build.args(["--test", file]);
    }
    programs::tests(&mut build, &["test"])
}
