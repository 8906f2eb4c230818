//! Markdown: what is lost, and why.
//!
//! A user picks one of ours. So what even the best of ours loses comes first, a line for each
//! reason; and then what one of ours loses where another one does not: the wrong choice there, or
//! a service that the other one has not.

use std::fmt::Write as _;

use crate::estimate::Short;
use crate::ratio::{Ratio, Verdict};
use crate::reasons::Reasons;
use crate::run::{Role, Run, Scenario};
use crate::tables::name;

/// The text for a loss without a reason.
const UNKNOWN: &str = "No reason is known.";

/// A lost row.
struct Loss<'a> {
    ratio: Ratio<'a>,
    /// `true` if the best of ours loses.
    by_the_best: bool,
    /// The others of ours, if the best of them loses, and they do as well.
    others: Vec<Ratio<'a>>,
}

/// Two lists, the worst first, with a line for each reason.
pub(crate) fn list(run: &Run, reasons: &Reasons) -> String {
    let mut lost: Vec<_> = run.results.iter().flat_map(lost).collect();
    lost.sort_by(|one, other| other.ratio.ratio.median.total_cmp(&one.ratio.ratio.median));
    let (by_all, by_some): (Vec<_>, Vec<_>) = lost.into_iter().partition(|loss| loss.by_the_best);
    let mut text = if by_all.is_empty() {
        "Nothing is lost by the best of ours.\n".to_owned()
    } else {
        lines(&by_all, reasons)
    };
    if !by_some.is_empty() {
        text.push_str("\nLost by one of ours, where another one is not:\n\n");
        text.push_str(&lines(&by_some, reasons));
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

/// Those of a group that have a reason in common are one line: the worst, and the number of others.
fn lines(lost: &[Loss<'_>], reasons: &Reasons) -> String {
    let mut lines: Vec<([&str; 2], &Loss<'_>, usize)> = Vec::new();
    for loss in lost {
        let reason = reasons.of(&loss.ratio).unwrap_or(UNKNOWN);
        let common = [&*loss.ratio.scenario.group, reason];
        match lines.iter_mut().find(|line| line.0 == common) {
            Some((_, _, more)) => *more += 1,
            None => lines.push((common, loss, 0)),
        }
    }
    let mut text = String::new();
    for ([group, reason], loss, more) in lines {
        let ratio = &loss.ratio;
        let mut row = format!("- **{group}**: ");
        if !loss.by_the_best {
            let _ = write!(row, "{}: ", ratio.ours.name);
        }
        let (scenario, rival) = (&ratio.scenario.scenario, &ratio.rival.name);
        let (scenario, rival, by) = (name(scenario), name(rival), Short(ratio.ratio.median));
        let _ = write!(row, "*{scenario}* **{by}** {rival}");
        for other in &loss.others {
            let _ = write!(row, " ({} {})", other.ours.name, Short(other.ratio.median));
        }
        if more > 0 {
            let _ = write!(row, ", and {more} more");
        }
        text.push_str(&wrapped(&format!("{row}. {reason}")));
    }
    text
}

/// The most columns of a line, with a plus sign to spare: at a line's beginning it would be a list.
const COLUMNS: usize = 98;

/// An item of a list in lines of at most so many columns.
fn wrapped(item: &str) -> String {
    let mut text = String::new();
    let mut columns = 0;
    for word in item.split(' ') {
        let width = word.chars().count() + 1;
        if columns + width > COLUMNS && word != "+" {
            text.push_str("\n ");
            columns = 1;
        }
        if columns > 0 {
            text.push(' ');
        }
        text.push_str(word);
        columns += width;
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::{list, wrapped};
    use crate::reasons::Reasons;
    use crate::reasons::tests::reasons;
    use crate::run::Run;
    use crate::run::tests::{around, run};

    const ROW: &str = "*lost* **1.50** best";

    #[test]
    fn a_loss_has_its_reason_beside_it() {
        let run = run();
        let line = format!("- **deque**: {ROW}. It is [slow](docs/why.md).\n");
        assert_eq!(list(&run, &reasons()), line, "one is lost");
        let line = format!("- **deque**: {ROW}. No reason is known.\n");
        assert_eq!(list(&run, &Reasons::default()), line);
    }

    #[test]
    fn a_reason_in_common_is_given_once() {
        let mut run = run();
        run.results.push(run.results[1].clone());
        run.results[3].scenario = "lost as well".into();
        run.results[3].contenders[0].figures = around(12.0);
        let list = list(&run, &Reasons::default());
        let line = "*lost as well* **2.00** best, and 1 more. No reason";
        assert!(list.contains(line) && list.lines().count() == 1, "{list}");
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
        let list = list(&with_another(1.2), &Reasons::default());
        assert_eq!(list.lines().count(), 1, "{list}");
        assert!(
            list.contains("*lost* **1.25** best (filch-deque 1.50). No"),
            "{list}"
        );
    }

    #[test]
    fn what_one_loses_where_another_does_not_stands_apart() {
        let list = list(&with_another(2.0), &Reasons::default());
        let (by_all, by_some) = list
            .split_once("\nLost by one of ours, ")
            .expect("two parts");
        assert_eq!(by_all, "Nothing is lost by the best of ours.\n");
        assert!(
            by_some.contains("filch-deque: *lost* **1.50**"),
            "{by_some}"
        );
        assert!(!by_some.contains("biased"), "it wins: {by_some}");
    }

    #[test]
    fn a_long_item_has_several_lines_and_none_begins_with_a_plus() {
        for letters in 1..96 {
            let item = format!("- {} + {}", "x".repeat(letters), "word ".repeat(20).trim());
            let text = wrapped(&item);
            assert!(text.lines().all(|line| line.len() <= 100), "{text}");
            let mut more = text.lines().skip(1);
            assert!(more.all(|line| line.starts_with("  word")), "{text}");
            assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), item);
        }
    }
}
