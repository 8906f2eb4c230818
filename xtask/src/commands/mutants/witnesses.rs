//! The tests and models that are there: a verdict names one that showed the mutant.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::commands::loom;
use crate::support::error::Result;
use crate::support::process::{files_below, root};

/// Tests and models that a verdict may name.
pub(super) struct Witnesses {
    models: BTreeSet<String>,
    /// The text of the crate's sources and tests.
    text: String,
}

impl Witnesses {
    /// Those of the crate in `crates/NAME`.
    pub(super) fn of(name: &str) -> Result<Self> {
        let folder = Path::new("crates").join(name);
        let mut text = String::new();
        for file in files_below(root(), &[&folder.to_string_lossy()], "rs")? {
            text += &fs::read_to_string(root().join(file))?;
        }
        let models = loom::names()?;
        Ok(Self { models, text })
    }

    /// True if there is a test or a model of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        let test = name.rsplit("::").next().unwrap_or_default();
        self.models.contains(name) || self.text.contains(&format!("fn {test}("))
    }
}
