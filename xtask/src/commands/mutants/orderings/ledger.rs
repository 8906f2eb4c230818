//! The table of mutants in docs/correctness.md: written by `cargo xtask orderings --write`, and
//! compared with the sources by `cargo xtask lint`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::moves;
use super::mutant::{Mutant, Name};
use crate::commands::litmus;
use crate::support::Result;
use crate::support::process::root;

/// The page with the table, between its marks.
pub(crate) const PAGE: &str = "docs/correctness.md";
const BEGIN: &str = "<!-- table: orderings; `cargo xtask orderings --write` makes it -->\n";
const END: &str = "<!-- end -->\n";

const HEADINGS: &str = "| file | in | access | from | to | RC11 | C++20 | Arm | loom |\n\
                        |---|---|---|---|---|---|---|---|---|\n";

const TALLY: &str = "| crate | mutants | killed | survived, explained | survived | not run |\n\
                     |---|--:|--:|--:|--:|--:|\n";

/// The verdict on a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Killed by this model.
    Killed(String),
    /// Survived, with the reason that its note gives.
    Explained(String),
    /// Survived without a reason.
    Survived,
    /// The code is newer than the last run.
    NotRun,
}

impl Verdict {
    fn text(&self) -> String {
        match self {
            Self::Killed(model) => format!("killed by `{model}`"),
            Self::Explained(reason) => format!("survived: {}", reason.replace('|', "\\|")),
            Self::Survived => "SURVIVED".to_owned(),
            Self::NotRun => "not run".to_owned(),
        }
    }

    fn read(text: &str) -> Self {
        if let Some(model) = text.strip_prefix("killed by `") {
            Self::Killed(model.trim_end_matches('`').to_owned())
        } else if let Some(reason) = text.strip_prefix("survived: ") {
            Self::Explained(reason.replace("\\|", "|"))
        } else if text == "SURVIVED" {
            Self::Survived
        } else {
            Self::NotRun
        }
    }

    /// The heading under which it is counted.
    pub(super) fn kind(&self) -> usize {
        match self {
            Self::Killed(_) => 0,
            Self::Explained(_) => 1,
            Self::Survived => 2,
            Self::NotRun => 3,
        }
    }
}

/// The rows of the table: each mutant's name, and its verdict. A name that occurs twice does so in
/// the order of the source.
pub(super) struct Ledger {
    text: String,
    rows: Vec<(Name, Verdict)>,
}

impl Ledger {
    /// Reads the page.
    pub(super) fn read() -> Result<Self> {
        let page = fs::read_to_string(root().join(PAGE))?;
        Ok(Self::parse(parts(&page)?[1]))
    }

    fn parse(table: &str) -> Self {
        let rows = table.lines().filter_map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let [file, function, access, from, to, _, _, _, verdict] = cells[..] else {
                return None;
            };
            let name = Name {
                file: format!("crates/{}", file.trim_matches('`')),
                function: function.trim_matches('`').to_owned(),
                change: format!("{access} {from} → {to}"),
            };
            // Not the headings.
            let is_row = name.file.ends_with(".rs");
            is_row.then(|| (name, Verdict::read(verdict)))
        });
        Self {
            rows: rows.collect(),
            text: table.to_owned(),
        }
    }

    /// The verdict on each of `mutants`: that of the row with its name, or of the row that it had
    /// before its file or its function was moved or renamed.
    pub(super) fn verdicts(&self, mutants: &[Mutant]) -> Vec<Verdict> {
        let known: Vec<_> = self.rows.iter().map(|(name, _)| name).collect();
        let names: Vec<_> = mutants.iter().map(|mutant| &mutant.name).collect();
        let rows = moves::rows(&known, &names);
        let verdict_on = |(mutant, row): (&Mutant, Option<usize>)| {
            let verdict = row.map_or(Verdict::NotRun, |row| self.rows[row].1.clone());
            match (verdict, &mutant.reason) {
                // In the words of today.
                (Verdict::Explained(_), Some(reason)) => Verdict::Explained(reason.clone()),
                (verdict, _) => verdict,
            }
        };
        mutants.iter().zip(rows).map(verdict_on).collect()
    }

    /// Lists what is wrong with the table, as the sources are now, with the names of all `models`.
    pub(super) fn complaints(&self, mutants: &[Mutant], models: &BTreeSet<String>) -> Vec<String> {
        let verdicts = self.verdicts(mutants);
        let mut complaints = Vec::new();
        for (mutant, verdict) in mutants.iter().zip(&verdicts) {
            let what = match verdict {
                Verdict::Killed(model) if models.contains(model) => continue,
                Verdict::Explained(_) if mutant.reason.is_some() => continue,
                Verdict::Killed(model) => format!("`{model}`, which killed it, is no model"),
                Verdict::Explained(_) => {
                    "it survived, and its note no longer says what loom cannot show".to_owned()
                }
                Verdict::Survived => {
                    "it survived: model it, weaken it for good, or explain it".to_owned()
                }
                Verdict::NotRun => "no verdict".to_owned(),
            };
            let file = &mutant.name.file;
            complaints.push(format!(
                "{mutant}: {what}; `cargo xtask orderings --write {file}` judges it"
            ));
        }
        if table(mutants, &verdicts).ok().as_ref() != Some(&self.text) {
            let stale = "the table of ordering mutants is not about the sources any more: `cargo \
                         xtask orderings --list --write` carries over what has moved";
            complaints.push(stale.to_owned());
        }
        complaints
    }
}

/// Writes the table into the page.
pub(super) fn write(mutants: &[Mutant], verdicts: &[Verdict]) -> Result<()> {
    let place = root().join(PAGE);
    let page = fs::read_to_string(&place)?;
    let [before, _, after] = parts(&page)?;
    let table = table(mutants, verdicts)?;
    Ok(fs::write(place, format!("{before}{table}{after}"))?)
}

/// The page up to the table, the table, the rest; the marks are not part of the table.
fn parts(page: &str) -> Result<[&str; 3]> {
    let begin = page.find(BEGIN).map(|begin| begin + BEGIN.len());
    match (begin, page.find(END)) {
        (Some(begin), Some(end)) if begin <= end => {
            Ok([&page[..begin], &page[begin..end], &page[end..]])
        }
        _ => Err(format!("{PAGE} lacks its marks, {BEGIN}and {END}").into()),
    }
}

fn table(mutants: &[Mutant], verdicts: &[Verdict]) -> Result<String> {
    let key = |Mutant { name: n, word, .. }: &Mutant| {
        [&n.file, &n.function, word, &n.change].map(String::clone)
    };
    let shown = litmus::shown(&mutants.iter().map(key).collect::<Vec<_>>())?;
    let mut crates = BTreeMap::new();
    let mut all = [0; 4];
    let mut rows = String::new();
    for ((mutant, verdict), shown) in mutants.iter().zip(verdicts).zip(&shown) {
        let says = |is_shown| if is_shown { "yes" } else { "no" };
        let models = shown.map_or([""; 3], |models| models.map(says)).join(" | ");
        let Name { file, function, .. } = &mutant.name;
        let file = file.trim_start_matches("crates/");
        let name = file.split('/').next().unwrap_or_default();
        crates.entry(name).or_insert([0; 4])[verdict.kind()] += 1;
        all[verdict.kind()] += 1;
        let (from, to) = mutant.name.change.split_once(" → ").unwrap_or_default();
        let (access, from) = from.rsplit_once(' ').unwrap_or_default();
        let verdict = verdict.text();
        let access = format!("{access} | {from} | {to} | {models}");
        rows += &format!("| `{file}` | `{function}` | {access} | {verdict} |\n");
    }
    let mut text = "\n".to_owned() + TALLY;
    for (name, counts) in crates.into_iter().chain([("**all**", all)]) {
        let sum: usize = counts.iter().sum();
        let [killed, explained, survived, not_run] = counts;
        text += &format!("| {name} | {sum} | {killed} | {explained} | {survived} | {not_run} |\n");
    }
    Ok(format!("{text}\n{HEADINGS}{rows}\n"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::mutant::tests::of;
    use super::{Ledger, Verdict, table};

    const TEXT: &str = "\
fn f() {
    // ORDERING: loom cannot show it.
    x.load(Ordering::Acquire);
    // ORDERING: pairs with g.
    x.load(Ordering::Acquire);
}
";

    fn models() -> BTreeSet<String> {
        BTreeSet::from(["a".to_owned()])
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mutants = of("crates/deque/src/top.rs", TEXT);
        let verdicts = [
            Verdict::Explained("ORDERING: loom cannot show it".to_owned()),
            Verdict::Killed("a".to_owned()),
        ];
        let ledger = Ledger::parse(&table(&mutants, &verdicts).unwrap());
        assert_eq!(ledger.verdicts(&mutants), verdicts);
        assert_eq!(ledger.complaints(&mutants, &models()), [""; 0]);
    }

    #[test]
    fn lines_may_move_and_orderings_may_not() {
        let file = "crates/deque/src/top.rs";
        let mutants = of(file, TEXT);
        let killed = vec![Verdict::Killed("a".to_owned()); mutants.len()];
        let ledger = Ledger::parse(&table(&mutants, &killed).unwrap());
        let moved = of(file, &format!("// One more line.\n{TEXT}"));
        assert_eq!(ledger.complaints(&moved, &models()), [""; 0]);
        let another = of(file, &TEXT.replacen("load", "swap", 1));
        let complaints = ledger.complaints(&another, &models());
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        assert!(complaints[0].contains("top.rs:3 f: swap Acquire → Relaxed: no verdict"));
        assert!(complaints[0].contains("orderings --write crates/deque/src/top.rs"));
        assert!(complaints[1].contains("not about the sources any more"));
    }

    #[test]
    fn a_verdict_follows_its_file_and_the_table_is_to_be_written_again() {
        let mutants = of("crates/deque/src/top.rs", TEXT);
        let verdicts = [
            Verdict::Explained("ORDERING: loom cannot show it".to_owned()),
            Verdict::Killed("a".to_owned()),
        ];
        let ledger = Ledger::parse(&table(&mutants, &verdicts).unwrap());
        let moved = of("crates/deque/src/owner/top.rs", TEXT);
        assert_eq!(ledger.verdicts(&moved), verdicts);
        assert_eq!(ledger.complaints(&moved, &models()).len(), 1);
        let again = Ledger::parse(&table(&moved, &ledger.verdicts(&moved)).unwrap());
        assert_eq!(again.complaints(&moved, &models()), [""; 0]);
    }

    #[test]
    fn a_killer_that_is_gone_is_found() {
        let mutants = of("crates/deque/src/top.rs", TEXT);
        let killed = vec![Verdict::Killed("b".to_owned()); mutants.len()];
        let ledger = Ledger::parse(&table(&mutants, &killed).unwrap());
        let complaints = ledger.complaints(&mutants, &models());
        assert!(complaints[0].contains("`b`, which killed it, is no model"));
    }

    #[test]
    fn survivors_need_a_reason() {
        let mutants = of("crates/deque/src/top.rs", TEXT);
        let verdicts = [Verdict::Survived, Verdict::Explained("it was".to_owned())];
        let ledger = Ledger::parse(&table(&mutants, &verdicts).unwrap());
        assert_eq!(ledger.complaints(&mutants, &models()).len(), 2);
    }
}
