//! What is published of a stored run: the tables of docs/performance.md, and the chart of the
//! front page. Both are made of it, and `cargo xtask lint` sees that nobody has edited them.

use std::fs;
use std::path::{Path, PathBuf};

use filch_report::run::Run;
use filch_report::{Folder, Reasons, headlines, page};

use crate::support::error::Result;
use crate::support::process::root;

const PAGE: &str = "docs/performance.md";
const CHART: &str = "docs/headlines.svg";
const REASONS: &str = "benches/reasons.toml";

/// Both files, as they are or as they have to be.
#[derive(Debug, PartialEq)]
struct Published {
    page: String,
    chart: String,
}

impl Published {
    fn read() -> Result<Self> {
        Ok(Self {
            page: fs::read_to_string(root().join(PAGE))?,
            // Where there is none yet, it is not what it has to be.
            chart: fs::read_to_string(root().join(CHART)).unwrap_or_default(),
        })
    }

    /// What the run makes of the page.
    fn of(page: &str, run: &Run, reasons: &Reasons) -> Result<Self> {
        Ok(Self {
            page: page::fill(page, run, reasons)?,
            chart: headlines::chart(run)?,
        })
    }

    /// The files that are not as they have to be.
    fn stale(&self, run: &Run, reasons: &Reasons) -> Result<Vec<&'static str>> {
        let right = Self::of(&self.page, run, reasons)?;
        let files = [
            (PAGE, self.page == right.page),
            (CHART, self.chart == right.chart),
        ];
        let stale = files.into_iter().filter(|(_, is_right)| !is_right);
        Ok(stale.map(|(file, _)| file).collect())
    }
}

fn reasons() -> Result<Reasons> {
    let reasons = Reasons::parse(&fs::read_to_string(root().join(REASONS))?);
    Ok(reasons.map_err(|error| format!("{REASONS}: {error}"))?)
}

/// Makes both from the run in `folder`, or from the one that the page shows already; and its own
/// report again, whose reasons may be older.
pub(super) fn write(folder: Option<&Path>) -> Result<()> {
    let mut page = fs::read_to_string(root().join(PAGE))?;
    if let Some(folder) = folder {
        let folder = folder.canonicalize()?;
        let Ok(folder) = folder.strip_prefix(root()) else {
            return Err(format!("{} is not in the repository", folder.display()).into());
        };
        page = page::showing(&page, &folder.to_string_lossy());
    }
    let folder = root().join(page::stored_run(&page)?);
    let run = Run::read_all(&folder)?;
    let reasons = reasons()?;
    let complaints = Folder::at(&folder).make(&reasons)?;
    let published = Published::of(&page, &run, &reasons)?;
    fs::write(root().join(PAGE), published.page)?;
    fs::write(root().join(CHART), published.chart)?;
    for row in headlines::missing(&run) {
        println!("{CHART}: the run has no row for {row}");
    }
    for complaint in complaints {
        println!("{REASONS}: {complaint}");
    }
    Ok(())
}

/// What is not as the stored run makes it, and what to do about it.
pub(crate) fn complaints() -> Result<Vec<(PathBuf, String)>> {
    let published = Published::read()?;
    let complaint = |file: &str, message: String| (PathBuf::from(file), message);
    let stale = page::stored_run(&published.page)
        .and_then(|folder| Run::read_all(&root().join(folder)))
        .map_err(Into::into)
        .and_then(|run| published.stale(&run, &reasons()?));
    Ok(match stale {
        Ok(files) => {
            let message = "not as the stored run makes it: `cargo xtask bench --tables`";
            let stale = files.into_iter();
            stale
                .map(|file| complaint(file, message.to_owned()))
                .collect()
        }
        Err(error) => vec![complaint(PAGE, error.to_string())],
    })
}

#[cfg(test)]
mod tests {
    use filch_report::Reasons;
    use filch_report::run::Run;

    use super::{CHART, PAGE, Published};

    const STORED: &str = r#"{
        "machine": {"cpu": "A", "cores": 2, "kernel": "L", "rustc": "r", "commit": "c",
            "date": "2026-11-26T01:02:03Z", "load": "0.1"},
        "effort": {"rounds": 6, "quick": false, "seed": 1},
        "results": [{"group": "deque", "scenario": "depth 1", "unit": "ns", "better": "lower",
            "contenders": [
                {"name": "filch-deque lazy", "role": "ours", "figures": [3, 3, 3, 3, 3, 3]},
                {"name": "other", "role": "rival", "figures": [2, 2, 2, 2, 2, 2]}
            ]}]
    }"#;

    const EMPTY: &str = "# P\n\n<!-- table: losses -->\n<!-- end of table -->\n\n\
                         <!-- table: deque -->\n<!-- end of table -->\n";

    fn stored() -> (Run, Published) {
        let folder = std::env::temp_dir().join(format!("filch-published-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("deque.json");
        std::fs::write(&file, STORED).expect("it is written");
        let run = Run::read_all(&folder).expect("it is right");
        let published = Published::of(EMPTY, &run, &Reasons::default()).expect("it is right");
        (run, published)
    }

    #[test]
    fn an_edited_table_is_found() {
        let (run, mut published) = stored();
        let stale = |published: &Published| {
            let stale = published.stale(&run, &Reasons::default());
            stale.expect("the page is whole")
        };
        assert!(stale(&published).is_empty());
        assert!(
            published
                .page
                .contains("| **1.50 (1.50 to 1.50)** | no reason is known |")
        );
        let right = published.page.clone();
        published.page = right.replace("1.50", "1.05");
        assert_eq!(stale(&published), [PAGE]);
        published.page = right.replace("# P\n", "# P\n\nProse, which is nobody's table.\n");
        assert!(stale(&published).is_empty());
        published.chart = published.chart.replace("1.50", "1.05");
        assert_eq!(stale(&published), [CHART]);
    }

    #[test]
    fn a_new_reason_makes_the_page_old() {
        let (run, published) = stored();
        let reasons = Reasons::parse(
            "[[reason]]\ngroup = 'deque'\nscenario = 'depth 1'\nbecause = 'It is slow.'",
        );
        let stale = published.stale(&run, &reasons.expect("it is right"));
        assert_eq!(stale.expect("the page is whole"), [PAGE]);
    }
}
