//! The table of mutants in docs/correctness.md: written by `cargo xtask orderings --write`, and
//! compared with the sources by `cargo xtask lint`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::mutant::Mutant;
use crate::Result;
use crate::process::root;

/// Where the table is, between its marks.
pub(crate) const PAGE: &str = "docs/correctness.md";
const BEGIN: &str =
    "<!-- orderings: begin; `cargo xtask orderings --write` makes what follows -->\n";
const END: &str = "<!-- orderings: end -->\n";

const HEADINGS: &str =
    "| file | line | in | access | from | to | verdict |\n|---|--:|---|---|---|---|---|\n";

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// By this model.
    Killed(String),
    /// With the reason that its note gives.
    Explained(String),
    /// Without a reason.
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
    rows: Vec<([String; 5], Verdict)>,
}

impl Ledger {
    /// What the page says; nothing, if there is no table yet.
    pub(super) fn read() -> Result<Self> {
        let page = fs::read_to_string(root().join(PAGE))?;
        let (_, table, _) = parts(&page)?;
        Ok(Self::parse(table))
    }

    fn parse(table: &str) -> Self {
        let rows = table.lines().filter_map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let [file, _, function, access, from, to, verdict] = cells[..] else {
                return None;
            };
            let file = Path::new("crates").join(file.trim_matches('`'));
            if file.extension().is_none_or(|extension| extension != "rs") {
                return None;
            }
            let name = [
                file.display().to_string(),
                function.trim_matches('`').to_owned(),
                access.to_owned(),
                from.to_owned(),
                to.to_owned(),
            ];
            Some((name, Verdict::read(verdict)))
        });
        Self {
            rows: rows.collect(),
        }
    }

    /// The verdict on each of `mutants`: of the row with its name, the first for the first of that
    /// name, and so on.
    pub(super) fn verdicts(&self, mutants: &[Mutant]) -> Vec<Verdict> {
        let mut open: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (name, verdict) in self.rows.iter().rev() {
            open.entry(name).or_default().push(verdict);
        }
        let mut verdict_on = |mutant: &Mutant| {
            let verdict = open.get_mut(&mutant.name()).and_then(Vec::pop);
            verdict.cloned().unwrap_or(Verdict::NotRun)
        };
        mutants.iter().map(&mut verdict_on).collect()
    }

    /// What is wrong with the table, as the sources are now.
    pub(super) fn complaints(&self, mutants: &[Mutant]) -> Vec<String> {
        let mut complaints = Vec::new();
        // By file: what the table and the sources do not have in common.
        let mut differences: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut differs = |file: &str, what| {
            differences.entry(file.to_owned()).or_default().push(what);
        };
        let mut rows: Vec<_> = self.rows.iter().map(|(name, _)| name).collect();
        for (mutant, verdict) in mutants.iter().zip(self.verdicts(mutants)) {
            let name = mutant.name();
            if let Some(row) = rows.iter().position(|row| **row == name) {
                rows.remove(row);
            }
            match verdict {
                Verdict::Killed(_) => {}
                Verdict::Explained(_) if mutant.reason.is_some() => {}
                Verdict::Explained(_) => complaints.push(format!(
                    "{mutant}: it survived, and its note no longer says what loom cannot show"
                )),
                Verdict::Survived => complaints.push(format!(
                    "{mutant}: it survived without a reason: model it, weaken it for good, or explain it"
                )),
                Verdict::NotRun => differs(&name[0], format!("no verdict on {mutant}")),
            }
        }
        for [file, function, access, from, to] in rows {
            let row = format!("{file} has no more {function}: {access} {from} → {to}");
            differs(file, row);
        }
        let by_file = differences.into_iter().map(|(file, differences)| {
            format!(
                "the table of ordering mutants is not about the sources any more; renew it by `cargo xtask orderings \
                 --write {file}`:\n    {}",
                differences.join("\n    ")
            )
        });
        complaints.extend(by_file);
        complaints
    }
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
        let [file, function, access, from, to] = mutant.name();
        let file = file.trim_start_matches("crates/");
        text += &format!(
            "| `{file}` | {} | `{function}` | {access} | {from} | {to} | {} |\n",
            mutant.line(),
            verdict.text().replace('|', "\\|"),
        );
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
    use std::path::Path;

    use super::{Ledger, Verdict, table};
    use crate::orderings::mutant;

    const TEXT: &str = "\
fn f() {
    // ORDERING: loom cannot show it.
    x.load(Ordering::Acquire);
    // ORDERING: pairs with g.
    x.load(Ordering::Acquire);
}
";

    #[test]
    fn what_is_written_is_read_again() {
        let mutants = mutant::of(Path::new("crates/deque/src/top.rs"), TEXT);
        let verdicts = [
            Verdict::Explained("loom cannot show it".to_owned()),
            Verdict::Killed("deque::claims::a".to_owned()),
        ];
        let ledger = Ledger::parse(&table(&mutants, &verdicts));
        assert_eq!(ledger.verdicts(&mutants), verdicts);
        assert_eq!(ledger.complaints(&mutants), [""; 0]);
    }

    #[test]
    fn lines_may_move_and_orderings_may_not() {
        let file = Path::new("crates/deque/src/top.rs");
        let mutants = mutant::of(file, TEXT);
        let killed = vec![Verdict::Killed("a".to_owned()); mutants.len()];
        let ledger = Ledger::parse(&table(&mutants, &killed));
        let moved = mutant::of(file, &format!("// One more line.\n{TEXT}"));
        assert_eq!(ledger.complaints(&moved), [""; 0]);
        let another = mutant::of(file, &TEXT.replacen("load", "swap", 1));
        let complaints = ledger.complaints(&another);
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].contains("orderings --write crates/deque/src/top.rs"));
        assert!(complaints[0].contains("no verdict on crates/deque/src/top.rs:3 f: swap Acquire"));
        assert!(complaints[0].contains("has no more f: load Acquire → Relaxed"));
    }

    #[test]
    fn survivors_need_a_reason() {
        let mutants = mutant::of(Path::new("crates/deque/src/top.rs"), TEXT);
        let verdicts = [Verdict::Survived, Verdict::Explained("it was".to_owned())];
        let ledger = Ledger::parse(&table(&mutants, &verdicts));
        assert_eq!(ledger.complaints(&mutants).len(), 2);
    }
}
