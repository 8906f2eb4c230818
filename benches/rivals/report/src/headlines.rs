//! The chart of the front page: a row for each of the scenarios that users ask about.

use crate::chart::{self, Row};
use crate::run::Run;

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
injector: 2 + 2 threads | injector | 2 producers, 2 consumers | filch-injector
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

/// The chart of that run, as SVG. Rows that were not measured are left out.
pub fn chart(run: &Run) -> String {
    let rows: Vec<_> = rows().filter_map(|row| find(run, row)).collect();
    chart::of(run, &rows)
}

/// The names of rows that the run has not, although it has their groups.
pub fn missing(run: &Run) -> Vec<&'static str> {
    let groups = run.groups();
    let missing = rows().filter(|row| groups.contains(&row[1]) && find(run, *row).is_none());
    missing.map(|[name, ..]| name).collect()
}

fn find(run: &Run, [name, group, scenario, contender]: [&'static str; 4]) -> Option<Row> {
    let mut scenarios = run.scenarios(group);
    let scenario = scenarios.find(|own| own.scenario == scenario)?;
    let ratio = scenario
        .ratios()
        .find(|ratio| ratio.ours.name == contender)?;
    Some(Row::of(name, &ratio))
}

#[cfg(test)]
mod tests {
    use super::{chart, missing};
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
}
