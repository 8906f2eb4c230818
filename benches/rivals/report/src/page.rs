//! A page of docs with tables that are made from a stored run.
//!
//! A comment says which run: `<!-- run: benches/results/NAME -->`. A table stands between
//! `<!-- table: NAME -->` and `<!-- end of table -->`; NAME is `machine`, `counts`, `headlines`,
//! `losses`, `scaling`, or a group.

use std::fmt::Write as _;

use crate::reasons::Reasons;
use crate::run::Run;
use crate::{headlines, losses, tables};

const RUN: &str = "<!-- run: ";
const TABLE: &str = "<!-- table: ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end of table -->";

/// Returns the text of a comment that begins with `mark`.
fn marked<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.strip_prefix(mark)?.strip_suffix(CLOSE)
}

/// The folder of the run that the page shows, from the repository's root.
///
/// # Errors
/// If the page does not say it, once.
pub(crate) fn stored_run(page: &str) -> Result<&str, String> {
    let mut runs = page.lines().filter_map(|line| marked(line, RUN));
    match (runs.next(), runs.next()) {
        (Some(run), None) => Ok(run),
        _ => Err(format!(
            "it has to say once which run it shows: {RUN}FOLDER{CLOSE}"
        )),
    }
}

/// The page, showing that run from now on.
pub(crate) fn showing(page: &str, folder: &str) -> String {
    let line = |line: &str| match marked(line, RUN) {
        Some(_) => format!("{RUN}{folder}{CLOSE}\n"),
        None => format!("{line}\n"),
    };
    page.lines().map(line).collect()
}

/// The page with its tables as the run gives them.
///
/// # Errors
/// If a table is not closed.
pub(crate) fn fill(page: &str, run: &Run, reasons: &Reasons) -> Result<String, String> {
    let mut filled = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(filled, "{line}");
        let Some(name) = marked(line, TABLE) else {
            continue;
        };
        let table = match name {
            "machine" => tables::machine(run),
            "counts" => tables::counts(run),
            "headlines" => headlines::table(run),
            "losses" => losses::list(run, reasons),
            "scaling" => headlines::scaling(run),
            group if run.scenarios(group).next().is_some() => tables::group(run, group),
            // On a machine without its rivals, for instance.
            _ => "Not measured.\n".to_owned(),
        };
        // Blank lines around it, which Markdown needs.
        let _ = write!(filled, "\n{table}\n{END}\n");
        if !lines.any(|line| line == END) {
            return Err(format!("the table {name} has no end: {END}"));
        }
    }
    Ok(filled)
}

/// The first group of the run that has no table in the page.
pub(crate) fn missing_group<'a>(page: &str, run: &'a Run) -> Option<&'a str> {
    let is_shown = |group: &str| page.lines().any(|line| marked(line, TABLE) == Some(group));
    let mut groups = run.groups().into_iter();
    groups.find(|group| !is_shown(group))
}

#[cfg(test)]
mod tests {
    use super::{fill, missing_group, showing, stored_run};
    use crate::reasons::tests::reasons;
    use crate::run::tests::run;

    const PAGE: &str = "# Fast\n<!-- run: benches/results/x -->\n\n<!-- table: deque -->\n\
                        <!-- end of table -->\n\nBut:\n\n<!-- table: losses -->\n\
                        | old |\n<!-- end of table -->\nEnd.\n";

    #[test]
    fn tables_are_filled_and_the_rest_stays() {
        let filled = fill(PAGE, &run(), &reasons()).expect("it is right");
        assert!(filled.starts_with("# Fast\n<!-- run: benches/results/x -->\n\n<!-- table: deque"));
        assert!(filled.ends_with("It is [slow](docs/why.md).\n\n<!-- end of table -->\nEnd.\n"));
        assert!(!filled.contains("| old |"));
        assert_eq!(
            fill(&filled, &run(), &reasons()),
            Ok(filled.clone()),
            "it is settled"
        );
        let edited = filled.replace("1.50", "1.05");
        assert_ne!(edited, filled);
        assert_eq!(fill(&edited, &run(), &reasons()), Ok(filled));
    }

    #[test]
    fn a_page_says_which_run_it_shows() {
        assert_eq!(stored_run(PAGE), Ok("benches/results/x"));
        assert_eq!(stored_run(&showing(PAGE, "other")), Ok("other"));
        assert!(stored_run("# Fast\n").is_err());
    }

    #[test]
    fn a_page_without_an_end_is_refused_and_one_without_a_group_is_told() {
        let fill = |page: &str| fill(page, &run(), &reasons());
        assert!(fill("<!-- table: deque -->\n").is_err(), "no end");
        let parker = fill(&PAGE.replace("deque", "parker")).expect("it has an end");
        assert!(parker.contains("\nNot measured.\n"), "{parker}");
        assert_eq!(missing_group(PAGE, &run()), None);
        assert_eq!(missing_group("# Fast\n", &run()), Some("deque"));
    }
}
