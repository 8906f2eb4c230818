//! Two stored runs, row by row: what got slower or faster, beyond noise.

use std::fmt::Write as _;

use crate::estimate::{Short, interval, median};
use crate::run::{Better, Role, Run, Scenario, Series};

/// Each of the two intervals has its median with this, so that both have with 95 % at least.
const EACH: f64 = 0.975;

/// One contender in both runs.
#[derive(Debug, PartialEq)]
pub struct Change {
    /// Group, scenario and contender.
    pub row: [String; 3],
    /// The scenario's unit.
    pub unit: String,
    /// The contender's relation to us.
    pub role: Role,
    /// The medians, before and after.
    pub medians: [f64; 2],
    /// The factor by which it is worse than before.
    pub change: f64,
    /// The interval of that with 95 % at least. `None`: there are too few rounds to say.
    pub interval: Option<[f64; 2]>,
    /// The factor by which all but ours are worse in that scenario, in the median: the machine's
    /// share.
    pub machine: Option<f64>,
}

impl Change {
    /// Returns whether the whole interval is on one side of 1.
    pub fn is_beyond_noise(&self) -> bool {
        self.interval
            .is_some_and(|[low, high]| low > 1.0 || high < 1.0)
    }
}

/// All rows that both runs have: those of ours that changed beyond noise first, the worst on top.
pub fn changes(before: &Run, after: &Run) -> Vec<Change> {
    let mut changes = Vec::new();
    for new in &after.results {
        let is_same = |old: &&Scenario| {
            (&old.group, &old.scenario, &old.unit) == (&new.group, &new.scenario, &new.unit)
        };
        if let Some(old) = before.results.iter().find(is_same) {
            of_scenario(old, new, &mut changes);
        }
    }
    changes.sort_by(|one, other| {
        let rank = |change: &Change| (!change.is_beyond_noise(), change.role != Role::Ours);
        let by_size = other.change.total_cmp(&one.change);
        rank(one).cmp(&rank(other)).then(by_size)
    });
    changes
}

fn of_scenario(old: &Scenario, new: &Scenario, changes: &mut Vec<Change>) {
    let in_both = new.contenders.iter().filter_map(|after| {
        let mut olds = old.contenders.iter();
        let before = olds.find(|series| series.name == after.name)?;
        Some((before, after))
    });
    let in_both: Vec<_> = in_both.collect();
    let change =
        |(before, after): &(&Series, &Series)| new.better.ratio(after.median(), before.median());
    let others: Vec<f64> = in_both
        .iter()
        .filter(|(_, after)| after.role != Role::Ours)
        .map(change)
        .collect();
    for pair in in_both {
        let (before, after) = pair;
        changes.push(Change {
            row: [&new.group, &new.scenario, &after.name].map(Clone::clone),
            unit: new.unit.clone(),
            role: after.role,
            medians: [before.median(), after.median()],
            change: change(&pair),
            interval: between(new.better, before, after),
            machine: (!others.is_empty()).then(|| median(&others)),
        });
    }
}

/// The runs were not interleaved: the ends are those of both intervals that are farthest apart.
fn between(better: Better, before: &Series, after: &Series) -> Option<[f64; 2]> {
    let [old_low, old_high] = interval(&before.figures, EACH)?;
    let [new_low, new_high] = interval(&after.figures, EACH)?;
    Some(match better {
        Better::Lower => [new_low / old_high, new_high / old_low],
        Better::Higher => [old_low / new_high, old_high / new_low],
    })
}

/// A run and a later one, as text.
pub fn comparison(before: &Run, after: &Run) -> String {
    let mut text = String::new();
    for (which, run) in [("before", before), ("after", after)] {
        let machine = &run.machine;
        let _ = writeln!(
            text,
            "{which}: {} · {} cores · {} · commit {} · {} · {} rounds",
            machine.cpu,
            machine.cores,
            machine.rustc,
            machine.commit,
            machine.date,
            run.effort.rounds
        );
    }
    if before.machine.cpu != after.machine.cpu {
        text.push_str("Two machines: no row says what a commit did.\n");
    }
    let changes = changes(before, after);
    let ours = changes.iter();
    let ours = ours.filter(|row| row.role == Role::Ours && row.is_beyond_noise());
    let (worse, better): (Vec<_>, Vec<_>) = ours.partition(|row| row.change > 1.0);
    let _ = writeln!(
        text,
        "{} rows in both; of ours, {} worse and {} better beyond noise\n",
        changes.len(),
        worse.len(),
        better.len()
    );
    let mut section = "";
    for change in &changes {
        let now = match (change.is_beyond_noise(), change.role, change.interval) {
            (true, Role::Ours, _) if change.change > 1.0 => "WORSE",
            (true, Role::Ours, _) => "BETTER",
            (true, ..) => "of others, beyond noise",
            (false, _, Some(_)) => "within noise",
            (false, _, None) => "too few rounds to say",
        };
        if now != section {
            let _ = writeln!(text, "{now}");
            section = now;
        }
        let _ = writeln!(text, "  {}", line(change));
    }
    text
}

fn line(change: &Change) -> String {
    let [group, scenario, contender] = &change.row;
    let [before, after] = change.medians.map(Short);
    let mut line = format!(
        "{:>5.2}  {group}: {scenario}, {contender}: {before} to {after} {}",
        change.change, change.unit
    );
    if let Some([low, high]) = change.interval {
        let _ = write!(line, "; {low:.2} to {high:.2}");
    }
    if let Some(machine) = change.machine {
        let _ = write!(line, "; the others {machine:.2}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{changes, comparison};
    use crate::run::tests::{around, run};
    use crate::run::{Better, Run};

    /// Ours is 1.5 times as slow where it was won, and a tenth faster where it was lost.
    fn after() -> Run {
        let mut after = run();
        after.results[0].contenders[0].figures = around(6.0);
        after.results[1].contenders[0].figures = around(8.1);
        after
    }

    #[test]
    fn what_got_slower_is_on_top() {
        let changes = changes(&run(), &after());
        assert_eq!(changes.len(), 12);
        assert_eq!(changes[0].row, ["deque", "won", "filch-deque"]);
        assert_eq!(changes[0].change, 1.5);
        assert_eq!(changes[0].medians, [4.0, 6.0]);
        assert_eq!(changes[0].machine, Some(1.0));
        assert_eq!(changes[1].row, ["deque", "lost", "filch-deque"]);
        assert!(changes[1].is_beyond_noise() && changes[1].change < 1.0);
        assert!(!changes[2].is_beyond_noise());
    }

    /// The rounds of each run are 8 % apart: a change of 5 % is within that, one of 10 % is not.
    #[test]
    fn noise_is_what_the_rounds_of_both_runs_show() {
        let change_to = |figure: f64| {
            let mut after = run();
            after.results[0].contenders[0].figures = around(figure);
            let mut changes = changes(&run(), &after);
            let at = changes
                .iter()
                .position(|change| change.row[2] == "filch-deque");
            changes.swap_remove(at.expect("it is in both"))
        };
        assert!(!change_to(4.2).is_beyond_noise());
        assert!(change_to(4.4).is_beyond_noise());
        let [low, high] = change_to(4.4).interval.expect("eight rounds");
        assert!((low - 1.1 * 0.96 / 1.04).abs() < 1e-9, "{low}");
        assert!((high - 1.1 * 1.04 / 0.96).abs() < 1e-9, "{high}");
    }

    #[test]
    fn where_more_is_better_less_is_worse() {
        let mut runs = [run(), after()];
        for run in &mut runs {
            run.results
                .iter_mut()
                .for_each(|scenario| scenario.better = Better::Higher);
        }
        let changes = changes(&runs[0], &runs[1]);
        assert_eq!(changes[0].row[1], "lost", "its 8.1 is less than 9");
        assert!(changes[0].change > 1.0 && changes[0].is_beyond_noise());
    }

    #[test]
    fn too_few_rounds_are_said_to_be() {
        let mut runs = [run(), after()];
        for scenario in runs.iter_mut().flat_map(|run| &mut run.results) {
            scenario
                .contenders
                .iter_mut()
                .for_each(|series| series.figures.truncate(5));
        }
        let text = comparison(&runs[0], &runs[1]);
        assert!(text.contains("0 worse and 0 better beyond noise"), "{text}");
        assert!(text.contains("too few rounds to say\n"), "{text}");
        let text = comparison(&run(), &after());
        let row = "WORSE\n   1.50  deque: won, filch-deque: 4.00 to 6.00 ns per push; 1.38 to 1.63";
        assert!(text.contains(row), "{text}");
    }
}
