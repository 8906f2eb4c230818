//! The scenarios that users ask about: the chart of the front page, and its table. And those that
//! show how many workers share work.

use std::fmt::Write as _;

use crate::chart::{self, Row};
use crate::estimate::Short;
use crate::ratio::Ratio;
use crate::run::Run;
use crate::tables::{judged, name};

/// The rows: the name there, then group, scenario, and one of ours.
const ROWS: &str = "
deque: push and pop | deque | depth 1 | filch-deque biased
deque: push and pop, shared | deque | depth 1 | filch-deque shared
deque: fork pattern, shared | deque | fork pattern | filch-deque shared
deque: steal half | deque | steal half | filch-deque shared
deque: owner and thief | deque | bursts + thief | filch-deque shared
event queue: 4 producers, one by one | event-queue | 4 → 1, one by one | filch-event-queue
event queue: bursts of 64 | event-queue | 64 pushes, one drain, one thread | filch-event-queue
injector: one thread | injector | push + batch take, 1 thread | filch-injector
parker: ping-pong on two cores | parker | ping-pong, two cores | filch-parker + spinner
three locks for reading | data-cell | lock three for reading, one thread | filch LockSet
pool: 100 000 tasks from outside | processors | inject 100k, wait for all | filch-processors, boxed
pool: a tree of tasks | processors | tree of 2^14 leaves | filch-processors, boxed
pool: wake-up | processors | wake a sleeping pool | filch-processors
processes: spawn 100 000 | scheduler | spawn 100k, wait for all | filch-scheduler
processes: a message in a ring | scheduler | ring of 1000 | filch-scheduler
processes: fan-in | scheduler | fan-in 1000 x 1000 | filch-scheduler
processes: skynet | scheduler | skynet | filch-scheduler
processes: memory of an idle one | scheduler | idle process with its mailbox, cold | filch-scheduler
processes: request from outside | scheduler | request from outside, answer | filch-scheduler
fork/join: 13 queens | fork-join | 13 queens, threads: 2 | filch-fork-join
fork/join: UTS, binomial | fork-join | UTS, binomial, threads: 2 | filch-fork-join
engine: a task to another | engine | a task to another scheduler, at saturation | filch-engine
";

fn rows() -> impl Iterator<Item = [&'static str; 4]> {
    let rows = ROWS.trim().lines();
    rows.map(|row| {
        let mut cells = row.split(" | ");
        std::array::from_fn(|_| cells.next().expect("four cells"))
    })
}

/// The rows that were measured.
fn measured(run: &Run) -> impl Iterator<Item = (&'static str, Ratio<'_>)> {
    rows().filter_map(|row| Some((row[0], find(run, row)?)))
}

/// The chart of that run, as SVG.
pub(crate) fn chart(run: &Run) -> String {
    let rows: Vec<_> = measured(run)
        .map(|(name, ratio)| Row::of(name, &ratio))
        .collect();
    chart::of(run, &rows)
}

/// The same rows as Markdown.
pub(crate) fn table(run: &Run) -> String {
    let mut text = "| | filch, and the best rival | ratio |\n|---|---|--:|\n".to_owned();
    for (row, ratio) in measured(run) {
        let (medians, rival) = (chart::medians(&ratio), name(&ratio.rival.name));
        let _ = writeln!(text, "| {row} | {medians}, {rival} | {} |", judged(&ratio));
    }
    text
}

/// The rows of items that sleep, which need no core: a line for each number of threads.
pub(crate) fn scaling(run: &Run) -> String {
    let sleeping = run.results.iter().filter_map(|scenario| {
        let (items, threads) = scenario.scenario.split_once(" that sleep, threads: ")?;
        let ratio = scenario.ratios().next()?;
        Some((
            items,
            threads,
            [ratio.ours, ratio.rival].map(|series| Short(series.median())),
        ))
    });
    let mut text = "| threads, items | filch | rayon |\n|---|--:|--:|\n".to_owned();
    for (items, threads, [ours, rival]) in sleeping {
        let _ = writeln!(text, "| {threads}, {items} | {ours} | {rival} |");
    }
    text
}

/// The names of rows that the run has not, although it has their groups.
pub(crate) fn missing(run: &Run) -> Vec<&'static str> {
    let groups = run.groups();
    let missing = rows().filter(|row| groups.contains(&row[1]) && find(run, *row).is_none());
    missing.map(|[name, ..]| name).collect()
}

fn find<'a>(run: &'a Run, [_, group, scenario, contender]: [&str; 4]) -> Option<Ratio<'a>> {
    let mut scenarios = run.results.iter();
    let scenario = scenarios.find(|own| [&*own.group, &*own.scenario] == [group, scenario])?;
    let mut ratios = scenario.ratios();
    ratios.find(|ratio| ratio.ours.name == contender)
}

#[cfg(test)]
mod tests {
    use super::{chart, missing, scaling, table};
    use crate::run::tests::run;

    #[test]
    fn rows_that_were_not_measured_are_left_out_and_named() {
        let mut run = run();
        run.results[0].scenario = "steal half".into();
        run.results[0].contenders[0].name = "filch-deque shared".into();
        let svg = chart(&run);
        assert!(
            svg.contains("deque: steal half") && svg.contains(">0.50<") && !svg.contains("skynet"),
            "{svg}"
        );
        assert!(svg.contains("A Processor"), "it names the machine");
        let row = "| deque: steal half | 4.00 beside 8.00 ns, best | 0.50 (0.50 to 0.50) |";
        assert_eq!(table(&run).lines().nth(2), Some(row));
        assert_eq!(table(&run).lines().count(), 3);
        let missing = missing(&run);
        assert!(
            missing.contains(&"deque: fork pattern, shared"),
            "{missing:?}"
        );
        assert!(
            !missing.contains(&"processes: skynet"),
            "its group was not measured"
        );
    }

    #[test]
    fn many_threads_have_a_line_each() {
        let mut run = run();
        run.results[0].scenario = "equal items that sleep, threads: 64".into();
        let lines = scaling(&run);
        assert_eq!(
            lines.lines().nth(2),
            Some("| 64, equal items | 4.00 | 8.00 |")
        );
        assert_eq!(lines.lines().count(), 3);
    }
}
