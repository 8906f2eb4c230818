//! Markdown: what is lost, and why.
//!
//! A user picks one of ours. So what even the best of ours loses comes first, a row for each
//! scenario; and then what one of ours loses where another one does not: the wrong choice there, or
//! a service that the other one has not.

use std::fmt::Write as _;

use crate::estimate::Short;
use crate::ratio::{Ratio, Verdict};
use crate::reasons::Reasons;
use crate::run::{Role, Run, Scenario};
use crate::tables::{name, with_median};

/// The text for a loss without a reason.
const UNKNOWN: &str = "no reason is known";

const HEADING: &str =
    "| group | scenario | filch | best rival | ratio | why |\n|---|---|---|---|--:|---|\n";

/// A row.
struct Loss<'a> {
    ratio: Ratio<'a>,
    /// `true` if the best of ours loses: then the others of ours do as well.
    by_the_best: bool,
    others: Vec<Ratio<'a>>,
}

/// Two tables, the worst rows first, each with its reason.
pub(crate) fn table(run: &Run, reasons: &Reasons) -> String {
    let lost = run.results.iter().flat_map(lost);
    let (by_all, by_some): (Vec<_>, Vec<_>) = lost.partition(|loss| loss.by_the_best);
    let mut text = if by_all.is_empty() {
        "Nothing is lost by the best of ours.\n".to_owned()
    } else {
        rows(by_all, reasons)
    };
    if !by_some.is_empty() {
        text.push_str("\nLost by one of ours, where another one is not:\n\n");
        text.push_str(&rows(by_some, reasons));
    }
    text
}

/// Returns the losses of a scenario.
fn lost(scenario: &Scenario) -> Vec<Loss<'_>> {
    let best = scenario.best(Role::Ours).map(|best| &best.name);
    let ratios = scenario.ratios();
    let lost = ratios.filter(|ratio| ratio.verdict() == Verdict::Lost);
    let (mut of_best, others): (Vec<_>, Vec<_>) =
        lost.partition(|ratio| Some(&ratio.ours.name) == best);
    if let Some(ratio) = of_best.pop() {
        return vec![Loss {
            ratio,
            by_the_best: true,
            others,
        }];
    }
    let alone = |ratio| Loss {
        ratio,
        by_the_best: false,
        others: Vec::new(),
    };
    others.into_iter().map(alone).collect()
}

fn rows(mut lost: Vec<Loss<'_>>, reasons: &Reasons) -> String {
    lost.sort_by(|one, other| other.ratio.ratio.median.total_cmp(&one.ratio.ratio.median));
    let mut text = HEADING.to_owned();
    for Loss { ratio, others, .. } in lost {
        let others = others.iter();
        let others = others
            .map(|ratio| format!("; {} {}", name(&ratio.ours.name), Short(ratio.ratio.median)));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | **{}**{} | {} |",
            ratio.scenario.group,
            name(&ratio.scenario.scenario),
            with_median(ratio.ours),
            with_median(ratio.rival),
            ratio.ratio,
            others.collect::<String>(),
            reasons.of(&ratio).unwrap_or(UNKNOWN),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;
    use crate::reasons::Reasons;
    use crate::reasons::tests::reasons;
    use crate::run::Run;
    use crate::run::tests::{around, run};

    #[test]
    fn a_loss_has_its_reason_beside_it() {
        let run = run();
        let row = |reasons: &Reasons| table(&run, reasons).lines().nth(2).map(str::to_owned);
        assert_eq!(
            row(&reasons()).as_deref(),
            Some(
                "| deque | lost | filch-deque 9.00 | best 6.00 | **1.50 (1.50 to 1.50)** | \
                 It is [slow](docs/why.md). |"
            )
        );
        let unknown = row(&Reasons::default()).expect("a row");
        assert!(unknown.ends_with("| no reason is known |"), "{unknown}");
        assert_eq!(table(&run, &reasons()).lines().count(), 3, "one is lost");
    }

    /// The run with another one of ours, so many times as good as the first, where that one loses.
    fn with_another(times: f64) -> Run {
        let mut run = run();
        let lost = &mut run.results[1];
        let mut another = lost.contenders[0].clone();
        another.name = "filch-deque biased".into();
        another.figures = around(9.0 / times);
        lost.contenders.push(another);
        run
    }

    #[test]
    fn the_best_of_ours_stands_for_all_that_lose() {
        let table = table(&with_another(1.2), &Reasons::default());
        assert_eq!(table.lines().count(), 3, "{table}");
        let row =
            "| filch-deque biased 7.50 | best 6.00 | **1.25 (1.25 to 1.25)**; filch-deque 1.50 |";
        assert!(table.contains(row), "{table}");
    }

    #[test]
    fn what_one_loses_where_another_does_not_stands_apart() {
        let table = table(&with_another(2.0), &Reasons::default());
        let (by_all, by_some) = table
            .split_once("\nLost by one of ours, ")
            .expect("two parts");
        assert_eq!(by_all, "Nothing is lost by the best of ours.\n");
        assert!(
            by_some.contains("| deque | lost | filch-deque 9.00 |"),
            "{by_some}"
        );
        assert!(!by_some.contains("biased"), "it wins: {by_some}");
    }
}
