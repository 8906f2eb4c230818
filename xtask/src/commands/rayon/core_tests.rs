//! rayon-core's own tests as a package that depends on rayon-core, and sees what is public.

use std::fs;
use std::path::Path;

use super::copy_folder;
use crate::support::Result;
use crate::support::process::write;

/// The unit tests of rayon's core, which say `crate` for it: [`ROOT`] has its names.
const UNIT_TESTS: &[&str] = &[
    "test.rs",
    "broadcast/test.rs",
    "join/test.rs",
    "scope/test.rs",
    "spawn/test.rs",
    "thread_pool/test.rs",
];

/// Tests that look at what is not public, with the file, the name and the reason.
const LEFT_OUT: &[(&str, &str, &str)] = &[
    (
        "thread_pool/test.rs",
        "workers_stop",
        "it waits for the latches of a registry",
    ),
    ("thread_pool/test.rs", "sleeper_stop", "so does it"),
];

/// The files whose documentation has examples.
const DOCUMENTED: &[&str] = &[
    "lib.rs",
    "broadcast/mod.rs",
    "join/mod.rs",
    "scope/mod.rs",
    "spawn/mod.rs",
    "thread_pool/mod.rs",
];

const MANIFEST: &str = r#"[package]
name = "rayon-core-tests"
edition = "2021"

[workspace]

[dependencies]
rayon-core = "=1.13.0"

[dev-dependencies]
crossbeam-utils = "0.8"
libc = "0.2"
rand = "0.9"
rand_xorshift = "0.4"
scoped-tls = "1"
"#;

/// The names that the unit tests find in rayon-core, and two that are not public there.
const ROOT: &str = r#"//! The tests of rayon-core, outside of it.
pub use rayon_core::*;

#[cfg(test)]
mod registry {
    pub fn in_worker<R: Send>(op: impl FnOnce((), bool) -> R + Send) -> R {
        rayon_core::scope(|_| op((), false))
    }
}

#[cfg(test)]
mod unwind {
    pub fn halt_unwinding<R>(op: impl FnOnce() -> R) -> std::thread::Result<R> {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(op))
    }
}

mod broadcast {
    mod test;
}
mod compile_fail;
#[cfg(test)]
mod join {
    use crate::unwind;
    use rayon_core::*;
    mod test;
}
#[cfg(test)]
mod scope {
    mod test;
}
#[cfg(test)]
mod spawn {
    use rayon_core::{spawn, spawn_fifo};
    mod test;
}
mod test;
mod thread_pool {
    mod test;
}
"#;

/// Makes the package of what is in `source`.
pub(super) fn make(source: &Path, package: &Path) -> Result<()> {
    let (from, to) = (source.join("src"), package.join("src"));
    for file in UNIT_TESTS {
        let mut text = fs::read_to_string(from.join(file))?;
        for (_, test, reason) in LEFT_OUT.iter().filter(|(of, _, _)| of == file) {
            println!("left out: {test} of {file}: {reason}");
            let function = format!("\nfn {test}(");
            if !text.contains(&function) {
                return Err(format!("there is no test {test}").into());
            }
            text = text.replace(&function, &format!("\n#[cfg(any())]{function}"));
        }
        write(text.as_bytes(), &to.join(file))?;
    }
    copy_folder(&from.join("compile_fail"), &to.join("compile_fail"))?;
    copy_folder(&source.join("tests"), &package.join("tests"))?;
    let mut root = ROOT.to_owned();
    for file in DOCUMENTED {
        let name = file.replace("/mod", "").replace(".rs", "_docs");
        let examples = documentation(&fs::read_to_string(from.join(file))?);
        write(examples.as_bytes(), &to.join(format!("{name}.md")))?;
        root += &format!("#[doc = include_str!(\"{name}.md\")]\nmod {name} {{}}\n");
    }
    write(root.as_bytes(), &to.join("lib.rs"))?;
    write(MANIFEST.as_bytes(), &package.join("Cargo.toml"))
}

/// Collects the documentation comments of a file. Each item's ends with an empty line.
fn documentation(text: &str) -> String {
    let mut said = String::new();
    let mut is_inside = false;
    for line in text.lines().map(str::trim_start) {
        let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
        if let Some(comment) = comment {
            said += comment.strip_prefix(' ').unwrap_or(comment);
            said += "\n";
        } else if is_inside {
            said += "\n";
        }
        is_inside = comment.is_some();
    }
    said
}

#[cfg(test)]
mod tests {
    use super::documentation;

    #[test]
    fn documentation_keeps_its_indentation() {
        let text = "//! a\n\n    /// ```\n    ///   b\n    /// ```\n    fn c() {}\n";
        assert_eq!(documentation(text), "a\n\n```\n  b\n```\n\n");
    }
}
