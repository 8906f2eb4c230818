//! Five small programs on five schedulers, the page `docs/five.md`: each asserts its result, and
//! returns what it has counted.

mod builds;
mod engine;
mod fork_join;
mod processes;
mod processors;

use std::ops::Range;

const NUMBERS: Range<u64> = 0..1024;
const RING: usize = 8;
const HOPS: usize = 800;
const SHORTS: usize = 100;
const MOVES: usize = 200;

type Programs = [fn() -> String; 5];

/// Splits a range that has more than one number.
fn halves(numbers: &Range<u64>) -> Option<[Range<u64>; 2]> {
    let Range { start, end } = *numbers;
    let middle = start.midpoint(end);
    (middle > start).then_some([start..middle, middle..end])
}

fn none() -> String {
    "see the page".to_owned()
}

fn main() {
    let schedulers = [
        ("processes", processes::PROGRAMS),
        ("processors", processors::PROGRAMS),
        ("fork/join", fork_join::PROGRAMS),
        ("engine", engine::PROGRAMS),
        ("builds", builds::PROGRAMS),
    ];
    let programs = ["tree", "ring", "long job", "shared state", "failure"];
    for (number, program) in programs.into_iter().enumerate() {
        println!("{program}");
        for (scheduler, programs) in schedulers {
            println!("  {scheduler:<10}  {}", programs[number]());
        }
    }
}
