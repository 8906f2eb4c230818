//! The growth of the peak of resident memory by a pool: its threads' stacks as deep as they are
//! used, and what it allocates. Each figure is that of a program of its own.

use super::contenders::{chili_pool, pool};
use super::programs::{
    Node, chili as on_chili, filch, forte as on_forte, rayon as on_rayon, sequential,
};
use super::ways::{Rayon, Sequential};
use super::{forte, lace, of};
use crate::alone;
use crate::harness::Scenario;
use crate::memory;
use crate::pools::rayon_pool;

const FIB: &str = "fib";
const TREE: &str = "tree";

pub(super) fn scenarios(threads: usize, fib: u32, depth: u32) -> Vec<Scenario> {
    let name = format!("peak memory of fib({fib})");
    let fib = all(&name, FIB, fib, threads).contender("lace", figure("lace", FIB, fib, threads));
    let name = format!("peak memory beside a tree of depth {depth}");
    vec![fib, all(&name, TREE, depth, threads)]
}

fn all(name: &str, program: &'static str, size: u32, threads: usize) -> Scenario {
    let figure = |contender| figure(contender, program, size, threads);
    ["filch-fork-join", "chili", "rayon", "forte"]
        .into_iter()
        .fold(of(name, threads, "KiB"), |scenario, contender| {
            scenario.contender(contender, figure(contender))
        })
        .floor("sequential", figure("sequential"))
}

fn figure(
    contender: &'static str,
    program: &'static str,
    size: u32,
    threads: usize,
) -> impl FnMut() -> f64 {
    let (size, threads) = (size.to_string(), threads.to_string());
    move || alone::figures(&["peak", contender, program, &size, &threads])[0]
}

macro_rules! run {
    ($contender:expr, $threads:expr, $program:ident($argument:expr)) => {
        match $contender {
            "filch-fork-join" => pool($threads).install(|w| filch::$program(w, $argument)),
            "chili" => on_chili::$program(&mut chili_pool($threads).scope(), $argument),
            "rayon" => rayon_pool($threads).install(|| on_rayon::$program(Rayon, $argument)),
            "forte" => forte::with_pool($threads, |w| on_forte::$program(w, $argument)),
            _ => sequential::$program(Sequential, $argument),
        }
    };
}

/// The figure, in KiB, of the program that runs this.
pub(crate) fn raised(contender: &str, program: &str, size: u32, threads: usize) -> f64 {
    let tree = (program == TREE).then(|| Node::full(size));
    let before = memory::peak();
    let result = match &tree {
        Some(tree) => run!(contender, threads, sum(tree)),
        None if contender == "lace" => lace::fib_once(threads, size),
        None => run!(contender, threads, fib(size)),
    };
    let raised = memory::peak() - before;
    let expected = match tree {
        Some(_) => (1 << size) - 1,
        None => sequential::fib(Sequential, size),
    };
    assert_eq!(result, expected);
    raised as f64 / 1024.0
}
