//! Markdown: what was measured where, and a table for each group.

use std::fmt::Write as _;

use crate::estimate::Short;
use crate::ratio::{Ratio, Verdict};
use crate::run::{Better, Role, Run, Scenario, Series};

/// The machine, the compiler, the commit and the effort.
pub fn machine(run: &Run) -> String {
    let (machine, rounds) = (&run.machine, run.effort.in_words());
    format!(
        "| processor | cores | system | compiler | commit | begun | load before | rounds |\n\
         |---|---|---|---|---|---|---|---|\n\
         | {} | {} | {} | {} | {} | {} | {} | {rounds} |\n",
        machine.cpu,
        machine.cores,
        machine.kernel,
        machine.rustc,
        machine.commit,
        machine.date,
        machine.load,
    )
}

/// Counts the rows by their verdicts, and the scenarios that were measured again; and says if the
/// run is one that a report would refuse.
pub(crate) fn counts(run: &Run) -> String {
    let verdicts: Vec<_> = run.ratios().map(|ratio| ratio.verdict()).collect();
    let count = |of| verdicts.iter().filter(|verdict| **verdict == of).count();
    let [won, level] = [Verdict::Won, Verdict::Level].map(count);
    let [lost, unknown] = [Verdict::Lost, Verdict::Unknown].map(count);
    let is_again = |scenario: &&Scenario| {
        let mut contenders = scenario.contenders.iter();
        contenders.any(|series| series.figures.len() > run.effort.rounds)
    };
    let unfit = run.machine.check().err();
    let unfit = unfit.map(|unfit| format!("**No full report**: {unfit}.\n"));
    format!(
        "Rows: {}. Won: {won}. Level: {level}. Lost: {lost}. Unknown: {unknown}. \
         Scenarios in more rounds: {}.\n{}",
        verdicts.len(),
        run.results.iter().filter(is_again).count(),
        unfit.unwrap_or_default()
    )
}

/// All contenders of a group: a row for each of ours, beside the best rival.
pub(crate) fn group(run: &Run, group: &str) -> String {
    of(&run.scenarios(group).collect::<Vec<_>>())
}

/// All contenders of these scenarios.
pub fn of(scenarios: &[&Scenario]) -> String {
    let mut text = String::from(
        "| | filch | median | best rival | median | ratio | others |\n\
         |---|---|--:|---|--:|--:|---|\n",
    );
    for scenario in scenarios {
        rows(scenario, &mut text);
    }
    let mut timed = scenarios.to_vec();
    timed.retain(|scenario| {
        let mut contenders = scenario.contenders.iter();
        contenders.any(|series| series.latencies.is_some())
    });
    if !timed.is_empty() {
        text.push_str("\nThe operations of all rounds:\n\n");
        latencies(&timed, &mut text);
    }
    text
}

/// A row for each of ours; the first one has what is of the scenario.
fn rows(scenario: &Scenario, text: &mut String) {
    let title = format!("{}, {}", name(&scenario.scenario), unit(scenario));
    let rival = scenario.best(Role::Rival);
    let best = rival.map_or([String::new(), String::new()], |rival| {
        [name(&rival.name), rival.estimate().to_string()]
    });
    let mut once = [
        title,
        best[0].clone(),
        best[1].clone(),
        others(scenario, rival),
    ];
    let ours: Vec<_> = scenario.of(Role::Ours).map(Some).collect();
    // Without any of ours there is a row for the others.
    let ours = if ours.is_empty() { vec![None] } else { ours };
    for ours in ours {
        let [title, rival, median, others] = std::mem::take(&mut once);
        let own = ours.map_or([String::new(), String::new()], |ours| {
            [name(&ours.name), ours.estimate().to_string()]
        });
        let ratio = ours.zip(scenario.best(Role::Rival));
        let ratio = ratio.map(|(ours, rival)| judged(&scenario.ratio(ours, rival)));
        let ratio = ratio.unwrap_or_default();
        let [name, own] = own;
        let _ = writeln!(
            text,
            "| {title} | {name} | {own} | {rival} | {median} | {ratio} | {others} |"
        );
    }
}

fn unit(scenario: &Scenario) -> String {
    match scenario.better {
        Better::Lower => scenario.unit.clone(),
        Better::Higher => format!("{}, more is better", scenario.unit),
    }
}

/// A loss stands out.
pub(crate) fn judged(ratio: &Ratio<'_>) -> String {
    match ratio.verdict() {
        Verdict::Won => ratio.ratio.to_string(),
        Verdict::Lost => format!("**{} lost**", ratio.ratio),
        Verdict::Level => format!("{} *level*", ratio.ratio),
        Verdict::Unknown => format!("{} *unknown*", ratio.ratio),
    }
}

/// The other rivals, the best first, and the floors.
fn others(scenario: &Scenario, best: Option<&Series>) -> String {
    let best = best.map(|series| &series.name);
    let mut others: Vec<_> = scenario
        .of(Role::Rival)
        .filter(|series| Some(&series.name) != best)
        .collect();
    others.sort_by(|one, other| {
        let ratio = scenario.better.ratio(one.median(), other.median());
        ratio.total_cmp(&1.0)
    });
    let mut cells: Vec<_> = others.into_iter().map(with_median).collect();
    let floors = scenario.of(Role::Floor);
    cells.extend(floors.map(|series| format!("floor: {}", with_median(series))));
    cells.join("; ")
}

pub(crate) fn with_median(series: &Series) -> String {
    format!("{} {}", name(&series.name), Short(series.median()))
}

/// A name that has a generic type in it is code.
pub(crate) fn name(name: &str) -> String {
    if name.contains('<') {
        format!("`{name}`")
    } else {
        name.to_owned()
    }
}

fn latencies(timed: &[&Scenario], text: &mut String) {
    text.push_str("| | | p50 | p99 | p99.9 | most |\n|---|---|--:|--:|--:|--:|\n");
    for scenario in timed {
        let mut title = format!("{}, {}", name(&scenario.scenario), scenario.unit);
        for series in &scenario.contenders {
            let Some(latencies) = series.latencies else {
                continue;
            };
            let quantiles = [latencies.p50, latencies.p99, latencies.p999, latencies.max];
            let _ = write!(text, "| {title} | {} |", name(&series.name));
            for quantile in quantiles {
                let _ = write!(text, " {} |", Short(quantile));
            }
            text.push('\n');
            title.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{counts, group, machine};
    use crate::run::Latencies;
    use crate::run::tests::run;

    #[test]
    fn a_loss_stands_out_in_the_table_of_its_group() {
        let table = group(&run(), "deque");
        let rows: Vec<_> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| won, ns per push | filch-deque | 4.00 (3.84 to 4.16) | best | \
                 8.00 (7.68 to 8.32) | 0.50 (0.50 to 0.50) | other 24.0; floor: nothing 1.00 |",
                "| lost, ns per push | filch-deque | 9.00 (8.64 to 9.36) | best | \
                 6.00 (5.76 to 6.24) | **1.50 (1.50 to 1.50) lost** | \
                 other 18.0; floor: nothing 1.00 |",
                "| even, ns per push | filch-deque | 5.00 (4.80 to 5.20) | best | \
                 5.00 (4.80 to 5.20) | 1.00 (0.92 to 1.08) *unknown* | \
                 other 15.0; floor: nothing 1.00 |",
            ]
        );
    }

    #[test]
    fn rows_are_counted_by_their_verdicts() {
        let mut run = run();
        let counted =
            "Rows: 3. Won: 1. Level: 0. Lost: 1. Unknown: 1. Scenarios in more rounds: 0.\n";
        assert_eq!(counts(&run), counted);
        run.effort.rounds = 4;
        assert_eq!(counts(&run), counted.replace("0.\n", "3.\n"));
        run.machine.load = "1.61".into();
        assert!(counts(&run).contains("\n**No full report**: the load average is 1.61,"));
    }

    #[test]
    fn latencies_have_a_table_of_their_own() {
        let mut run = run();
        run.results[0].contenders[0].latencies = Some(Latencies {
            p50: 1.0,
            p99: 2.5,
            p999: 30.0,
            max: 4000.0,
        });
        run.results[0].contenders[1].name = "Mutex<VecDeque>".into();
        let table = group(&run, "deque");
        let row = "| won, ns per push | filch-deque | 1.00 | 2.50 | 30.0 | 4\u{a0}000 |";
        assert!(table.lines().any(|line| line == row), "{table}");
        assert!(table.contains("`Mutex<VecDeque>` 24.0"), "{table}");
    }

    #[test]
    fn few_rounds_are_named_as_such() {
        let mut run = run();
        assert!(machine(&run).ends_with("| 0.10 | 15 |\n"));
        run.effort.rounds = 8;
        assert!(machine(&run).contains("| 8, **good for no comparison** |"));
    }
}
