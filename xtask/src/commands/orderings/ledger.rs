//! The table of mutants in docs/correctness.md: written by `cargo xtask orderings --write`, and
//! compared with the sources by `cargo xtask lint`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::moves;
use super::mutant::{Mutant, Name};
use crate::support::error::Result;
use crate::support::process::root;

/// The page with the table, between its marks.
pub(crate) const PAGE: &str = "docs/correctness.md";
const BEGIN: &str =
    "<!-- orderings: begin; `cargo xtask orderings --write` makes what follows -->\n";
const END: &str = "<!-- orderings: end -->\n";

const HEADINGS: &str = "| file | in | access | from | to | verdict |\n|---|---|---|---|---|---|\n";

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
    pub(super) fn text(&self) -> String {
        match self {
            Self::Killed(model) => format!("killed by `{model}`"),
            Self::Explained(reason) => format!("survived: {reason}"),
            Self::Survived => "SURVIVED".to_owned(),
            Self::NotRun => "not run".to_owned(),
        }
    }

    fn read(text: &str) -> Self {
        let killer = text.strip_prefix("killed by `");
        match (killer, text.strip_prefix("survived: ")) {
            (Some(model), _) => Self::Killed(model.trim_end_matches('`').to_owned()),
            (_, Some(reason)) => Self::Explained(reason.to_owned()),
            _ if text == "SURVIVED" => Self::Survived,
            _ => Self::NotRun,
        }
    }
}

/// The rows of the table: each mutant's name, and its verdict. A name that occurs twice does so in
/// the order of the source.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ledger {
    text: String,
    rows: Vec<(Name, Verdict)>,
}

impl Ledger {
    /// Reads the page; nothing, if there is no table yet.
    pub(super) fn read() -> Result<Self> {
        let page = fs::read_to_string(root().join(PAGE))?;
        let (_, table, _) = parts(&page)?;
        Ok(Self::parse(table))
    }

    fn parse(table: &str) -> Self {
        let rows = table.lines().filter_map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let [file, function, access, from, to, verdict] = cells[..] else {
                return None;
            };
            let file = Path::new("crates").join(file.trim_matches('`'));
            if file.extension().is_none_or(|extension| extension != "rs") {
                return None;
            }
            let name = Name {
                file: file.display().to_string(),
                function: function.trim_matches('`').to_owned(),
                access: access.to_owned(),
                from: from.to_owned(),
                to: to.to_owned(),
            };
            Some((name, Verdict::read(&verdict.replace("\\|", "|"))))
        });
        Self {
            rows: rows.collect(),
            text: table.to_owned(),
        }
    }

    /// The verdict on each of `mutants`: that of the row with its name, or of the row that it had
    /// before its file or its function was moved or renamed.
    pub(super) fn verdicts(&self, mutants: &[Mutant]) -> Vec<Verdict> {
        let rows = moves::rows(&self.names(), &names(mutants));
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

    fn names(&self) -> Vec<Name> {
        self.rows.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Lists what is wrong with the table, as the sources are now; `models` are the names of all
    /// models.
    pub(super) fn complaints(&self, mutants: &[Mutant], models: &BTreeSet<String>) -> Vec<String> {
        let verdicts = self.verdicts(mutants);
        let complaint = |(mutant, verdict): (&Mutant, &Verdict)| {
            let what = match verdict {
                Verdict::Killed(model) if !models.contains(model) => {
                    format!("it was killed by `{model}`, which is no model any more")
                }
                Verdict::Killed(_) => return None,
                Verdict::Explained(_) if mutant.reason.is_some() => return None,
                Verdict::Explained(_) => {
                    "it survived, and its note no longer says what loom cannot show".to_owned()
                }
                Verdict::Survived => {
                    "it survived: model it, weaken it for good, or explain it".to_owned()
                }
                Verdict::NotRun => "no verdict".to_owned(),
            };
            let file = mutant.file.display();
            Some(format!(
                "{mutant}: {what}; `cargo xtask orderings --write {file}` judges it"
            ))
        };
        let mut complaints: Vec<_> = mutants
            .iter()
            .zip(&verdicts)
            .filter_map(complaint)
            .collect();
        if self.text != table(mutants, &verdicts) {
            let stale = "the table of ordering mutants is not about the sources any more: `cargo \
                         xtask orderings --list --write` carries over what has moved";
            complaints.push(stale.to_owned());
        }
        complaints
    }
}

fn names(mutants: &[Mutant]) -> Vec<Name> {
    mutants.iter().map(Mutant::name).collect()
}

/// Writes the table into the page.
pub(super) fn write(mutants: &[Mutant], verdicts: &[Verdict]) -> Result<()> {
    let place = root().join(PAGE);
    let page = fs::read_to_string(&place)?;
    let (before, _, after) = parts(&page)?;
    fs::write(
        place,
        format!("{before}{}{after}", table(mutants, verdicts)),
    )?;
    Ok(())
}

/// The page up to the table, the table, the rest; the marks are not part of the table.
fn parts(page: &str) -> Result<(&str, &str, &str)> {
    let begin = page.find(BEGIN).map(|begin| begin + BEGIN.len());
    let end = page.find(END);
    match (begin, end) {
        (Some(begin), Some(end)) if begin <= end => {
            Ok((&page[..begin], &page[begin..end], &page[end..]))
        }
        _ => Err(format!("{PAGE} lacks its marks, {BEGIN}and {END}").into()),
    }
}

fn table(mutants: &[Mutant], verdicts: &[Verdict]) -> String {
    let mut text = format!("\n{}", tally_by_crate(mutants, verdicts));
    text += "\n";
    text += HEADINGS;
    for (mutant, verdict) in mutants.iter().zip(verdicts) {
        let Name {
            file,
            function,
            access,
            from,
            to,
        } = mutant.name();
        let file = file.trim_start_matches("crates/");
        let verdict = verdict.text().replace('|', "\\|");
        text += &format!("| `{file}` | `{function}` | {access} | {from} | {to} | {verdict} |\n");
    }
    text + "\n"
}

fn tally_by_crate(mutants: &[Mutant], verdicts: &[Verdict]) -> String {
    let mut crates: BTreeMap<String, Vec<&Verdict>> = BTreeMap::new();
    for (mutant, verdict) in mutants.iter().zip(verdicts) {
        let name = mutant.file.components().nth(1);
        let name = name.map_or(String::new(), |name| name.as_os_str().display().to_string());
        crates.entry(name).or_default().push(verdict);
    }
    let mut text = "| crate | mutants | killed | survived, explained | survived | not run |\n\
        |---|--:|--:|--:|--:|--:|\n"
        .to_owned();
    let all = ("**all**".to_owned(), verdicts.iter().collect());
    for (name, verdicts) in crates.into_iter().chain([all]) {
        let count =
            |is: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count();
        text += &format!(
            "| {name} | {} | {} | {} | {} | {} |\n",
            verdicts.len(),
            count(|verdict| matches!(verdict, Verdict::Killed(_))),
            count(|verdict| matches!(verdict, Verdict::Explained(_))),
            count(|verdict| *verdict == Verdict::Survived),
            count(|verdict| *verdict == Verdict::NotRun),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::{Ledger, Verdict, table};
    use crate::commands::orderings::mutant;

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
        let mutants = mutant::of(Path::new("crates/deque/src/top.rs"), TEXT);
        let verdicts = [
            Verdict::Explained("ORDERING: loom cannot show it".to_owned()),
            Verdict::Killed("a".to_owned()),
        ];
        let ledger = Ledger::parse(&table(&mutants, &verdicts));
        assert_eq!(ledger.verdicts(&mutants), verdicts);
        assert_eq!(ledger.complaints(&mutants, &models()), [""; 0]);
    }

    #[test]
    fn lines_may_move_and_orderings_may_not() {
        let file = Path::new("crates/deque/src/top.rs");
        let mutants = mutant::of(file, TEXT);
        let killed = vec![Verdict::Killed("a".to_owned()); mutants.len()];
        let ledger = Ledger::parse(&table(&mutants, &killed));
        let moved = mutant::of(file, &format!("// One more line.\n{TEXT}"));
        assert_eq!(ledger.complaints(&moved, &models()), [""; 0]);
        let another = mutant::of(file, &TEXT.replacen("load", "swap", 1));
        let complaints = ledger.complaints(&another, &models());
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        assert!(complaints[0].contains("top.rs:3 f: swap Acquire → Relaxed: no verdict"));
        assert!(complaints[0].contains("orderings --write crates/deque/src/top.rs"));
        assert!(complaints[1].contains("not about the sources any more"));
    }

    #[test]
    fn a_verdict_follows_its_file_and_the_table_is_to_be_written_again() {
        let mutants = mutant::of(Path::new("crates/deque/src/top.rs"), TEXT);
        let verdicts = [
            Verdict::Explained("ORDERING: loom cannot show it".to_owned()),
            Verdict::Killed("a".to_owned()),
        ];
        let ledger = Ledger::parse(&table(&mutants, &verdicts));
        let moved = mutant::of(Path::new("crates/deque/src/owner/top.rs"), TEXT);
        assert_eq!(ledger.verdicts(&moved), verdicts);
        assert_eq!(ledger.complaints(&moved, &models()).len(), 1);
        let again = Ledger::parse(&table(&moved, &ledger.verdicts(&moved)));
        assert_eq!(again.complaints(&moved, &models()), [""; 0]);
    }

    #[test]
    fn a_killer_that_is_gone_is_found() {
        let mutants = mutant::of(Path::new("crates/deque/src/top.rs"), TEXT);
        let killed = vec![Verdict::Killed("b".to_owned()); mutants.len()];
        let ledger = Ledger::parse(&table(&mutants, &killed));
        let complaints = ledger.complaints(&mutants, &models());
        assert!(complaints[0].contains("was killed by `b`, which is no model"));
    }

    #[test]
    fn survivors_need_a_reason() {
        let mutants = mutant::of(Path::new("crates/deque/src/top.rs"), TEXT);
        let verdicts = [Verdict::Survived, Verdict::Explained("it was".to_owned())];
        let ledger = Ledger::parse(&table(&mutants, &verdicts));
        assert_eq!(ledger.complaints(&mutants, &models()).len(), 2);
    }
}
