//! Compares two stored runs, and publishes one: the tables of docs/performance.md and the chart of
//! the front page. A test sees that nobody has edited these.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use filch_report::compare::comparison;
use filch_report::run::Run;
use filch_report::{Reasons, headlines, page};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
const PAGE: &str = "docs/performance.md";
const CHART: &str = "docs/headlines.svg";
const REASONS: &str = "benches/reasons.toml";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["--compare", before, after] => compare(before, after),
        ["--tables"] => write(None),
        ["--tables", folder] => write(Some(folder)),
        _ => Err("--compare BEFORE AFTER, or --tables [FOLDER]".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(before: &str, after: &str) -> Result<(), String> {
    let [before, after] = [before, after].map(|path| Run::read_all(Path::new(path)));
    print!("{}", comparison(&before?, &after?));
    Ok(())
}

/// A file of the repository.
fn read(file: &str) -> Result<String, String> {
    let text = fs::read_to_string(Path::new(ROOT).join(file));
    text.map_err(|error| format!("{file}: {error}"))
}

fn reasons() -> Result<Reasons, String> {
    Reasons::parse(&read(REASONS)?).map_err(|error| format!("{REASONS}: {error}"))
}

/// The page and the chart, as the run makes them.
fn published(
    page: &str,
    run: &Run,
    reasons: &Reasons,
) -> Result<[(&'static str, String); 2], String> {
    Ok([
        (PAGE, page::fill(page, run, reasons)?),
        (CHART, headlines::chart(run)),
    ])
}

/// Makes both from the run in `folder`, or from the one that the page shows already.
fn write(folder: Option<&str>) -> Result<(), String> {
    let said = |error: std::io::Error| error.to_string();
    let root = Path::new(ROOT).canonicalize().map_err(said)?;
    let mut page = read(PAGE)?;
    if let Some(folder) = folder {
        let folder = Path::new(folder).canonicalize().map_err(said)?;
        let Ok(folder) = folder.strip_prefix(&root) else {
            return Err(format!("{} is not in the repository", folder.display()));
        };
        page = page::showing(&page, &folder.to_string_lossy());
    }
    let run = Run::read_all(&root.join(page::stored_run(&page)?))?;
    let reasons = reasons()?;
    for (file, text) in published(&page, &run, &reasons)? {
        fs::write(root.join(file), text).map_err(said)?;
    }
    for row in headlines::missing(&run) {
        println!("{CHART}: the run has no row for {row}");
    }
    for complaint in reasons.complaints(&run) {
        println!("{REASONS}: {complaint}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use filch_report::page;
    use filch_report::run::Run;

    use super::{ROOT, published, read, reasons};

    #[test]
    fn what_is_published_is_as_the_stored_run_makes_it() {
        let page = read(super::PAGE).expect("it is there");
        let folder = page::stored_run(&page).expect("it says so");
        let run = Run::read_all(&Path::new(ROOT).join(folder)).expect("it is right");
        let reasons = reasons().expect("they are right");
        for (file, text) in published(&page, &run, &reasons).expect("it can be made") {
            let is_right = read(file).is_ok_and(|shown| shown == text);
            assert!(is_right, "{file} is not: `cargo xtask bench --tables`");
        }
    }
}
