//! The report of a stored run, in Markdown: all tables.

use std::fmt::Write as _;

use crate::reasons::Reasons;
use crate::run::Run;
use crate::{losses, tables};

/// The report of a stored run.
pub(crate) fn of(run: &Run, reasons: &Reasons) -> String {
    let mut text = format!(
        "# {}, {}, {} cores\n\n{}\n",
        run.machine.date.split('T').next().unwrap_or_default(),
        run.machine.cpu,
        run.machine.cores,
        tables::machine(run)
    );
    text.push_str(LEGEND);
    let losses = losses::table(run, reasons);
    // Reasons are written for a page of docs.
    let losses = losses.replace("](", "](../../../docs/");
    let _ = write!(text, "\n## What is lost\n\n{losses}");
    let complaints = reasons.complaints(run);
    if !complaints.is_empty() {
        text.push_str("\nReasons without a loss, in benches/reasons.toml:\n\n");
        for complaint in complaints {
            let _ = writeln!(text, "- {complaint}");
        }
    }
    let mut groups = run.groups();
    groups.dedup();
    for name in groups {
        let _ = write!(text, "\n## {name}\n\n");
        let curves = tables::curves(run, name);
        if run.scenarios(name).next().is_some() {
            text.push_str(&tables::group(run, name));
            text.push_str(&curves);
        } else {
            text.push_str(curves.trim_start());
        }
    }
    text
}

/// The legend of the tables.
const LEGEND: &str = "\
Medians of the rounds; in brackets, where the median of infinitely many rounds would be, with 95 %
at least (the sign test's interval, of order statistics). The ratio is that of ours to the best
rival, round by round: above 1 is a **loss**. *even*: 1 is in the interval.
";

#[cfg(test)]
mod tests {
    use super::of;
    use crate::reasons::tests::reasons;
    use crate::run::tests::run;

    #[test]
    fn a_report_says_which_reasons_have_no_loss() {
        let report = of(&run(), &reasons());
        assert!(
            report.contains("- no loss any longer: deque, won\n"),
            "{report}"
        );
    }
}
