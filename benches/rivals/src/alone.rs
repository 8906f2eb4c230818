//! Figures of programs of their own: of memory that nothing before has used, and of pools that are
//! one for a program, or do not rest while others have their turn.

use std::env;
use std::process::Command;

use crate::groups::scheduler::resident;
use crate::groups::{build_scheduler, engine, fork_join};

const ALONE: &str = "--alone";

/// The figures that this program prints, run anew for that.
pub(crate) fn figures(what: &[&str]) -> Vec<f64> {
    let program = env::current_exe().expect("the system knows this program");
    let output = Command::new(program).arg(ALONE).args(what).output();
    let output = output.expect("it starts as this one did");
    let text = String::from_utf8_lossy(&output.stdout);
    let figures = text.split_whitespace();
    let figures: Vec<f64> = figures.map_while(|figure| figure.parse().ok()).collect();
    assert!(!figures.is_empty(), "{what:?} prints no figures");
    figures
}

/// Prints the figures, if this is such a program.
pub(crate) fn is_done() -> bool {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let [ALONE, rest @ ..] = &words[..] else {
        return false;
    };
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let figures = match *rest {
        ["bevy", threads, frames] => {
            vec![engine::frame::bevy(
                number(threads) as usize,
                number(frames),
            )]
        }
        ["waiting", contender, count] => vec![build_scheduler::bytes(contender, number(count))],
        ["fork-join", what, contender, program, size, threads] => {
            let (size, threads) = (number(size), number(threads) as usize);
            fork_join::contenders::here(what, contender, program, size, threads)
        }
        [
            what @ ("idle" | "burst" | "message"),
            contender,
            count,
            waves,
        ] => {
            vec![resident::here(
                what,
                contender,
                number(count),
                number(waves),
            )]
        }
        _ => panic!("{rest:?} is no program"),
    };
    figures.iter().for_each(|figure| println!("{figure}"));
    true
}
