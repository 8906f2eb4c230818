//! The bars: what each operation took when they were written, per architecture.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::fs;
use std::io::ErrorKind;

use crate::Result;

/// A count may be above its bar by this share. Another version of the system's allocator, or of
/// `memcpy`, costs that much.
const SLACK: f64 = 0.01;

/// Instructions of each operation, by architecture.
pub(crate) struct Bars(BTreeMap<String, BTreeMap<String, f64>>);

impl Bars {
    const PATH: &'static str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.json");

    /// The bars as they are committed; none, if there is no such file.
    pub(crate) fn read() -> Result<Self> {
        match fs::read_to_string(Self::PATH) {
            Ok(text) => Ok(Self(serde_json::from_str(&text)?)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self(BTreeMap::new())),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes `counts` the bars of this architecture; those of operations that were not counted
    /// stay.
    pub(crate) fn write(counts: &[(&str, f64)]) -> Result<()> {
        let mut bars = Self::read()?;
        let here = bars.0.entry(ARCH.to_owned()).or_default();
        for (name, count) in counts {
            here.insert((*name).to_owned(), (count * 100.0).round() / 100.0);
        }
        let text = serde_json::to_string_pretty(&bars.0)?;
        Ok(fs::write(Self::PATH, text + "\n")?)
    }

    /// Fails if one of `counts` has no bar or is above it, and names all that are.
    pub(crate) fn check(&self, counts: &[(&str, f64)]) -> Result<()> {
        let Some(here) = self.0.get(ARCH) else {
            println!("no bars for {ARCH}");
            return Ok(());
        };
        let mut above = Vec::new();
        for (name, count) in counts {
            match here.get(*name) {
                Some(bar) if *count <= bar * (1.0 + SLACK) => {}
                Some(bar) => above.push(format!("{name}: {count:.2}, its bar is {bar:.2}")),
                None => above.push(format!("{name}: it has no bar")),
            }
        }
        if above.is_empty() {
            println!("{} operations, none above its bar", counts.len());
            Ok(())
        } else {
            Err(above.join("\nerror: ").into())
        }
    }
}
