//! Copies of `examples/rayon`, programs on rayon with tests of ours, for either core.

use std::fs;
use std::path::Path;

use crate::support::copies;
use crate::support::error::Result;
use crate::support::process::{files_below, root};

/// The programs' package.
const PACKAGE: &str = "examples/rayon";

/// The line of its manifest, and where what it names is.
const LINE: &str = "# patch.crates-io.rayon-core.path = \"../../compat/rayon-core\"";
const OURS: &str = "compat/rayon-core";

/// Copies the package into `place`, with the one line in its manifest if it is to be on our core.
pub(crate) fn copy(place: &Path, on_ours: bool) -> Result<()> {
    let mut copied = Vec::new();
    for extension in ["rs", "toml", "lock"] {
        for file in files_below(root(), &[PACKAGE], extension)? {
            let mut text = fs::read_to_string(root().join(&file))?;
            if on_ours && file.ends_with("Cargo.toml") {
                text = with_line(&text)?;
            }
            let copy = place.join(file.strip_prefix(PACKAGE)?);
            copies::write(text.as_bytes(), &copy)?;
            copied.push(copy);
        }
    }
    // cargo finds programs and tests by looking.
    for file in files_below(place, &["src", "tests"], "rs")? {
        let file = place.join(file);
        if !copied.contains(&file) {
            fs::remove_file(file)?;
        }
    }
    Ok(())
}

/// The manifest with the one line.
fn with_line(manifest: &str) -> Result<String> {
    let ours = root().join(OURS);
    if !ours.is_dir() {
        return Err(format!("there is no {}", ours.display()).into());
    }
    let line = format!("patch.crates-io.rayon-core.path = {ours:?}");
    let patched = manifest.replacen(LINE, &line, 1);
    if patched == manifest {
        return Err(format!("{PACKAGE}/Cargo.toml has lost its line `{LINE}`").into());
    }
    Ok(patched)
}
