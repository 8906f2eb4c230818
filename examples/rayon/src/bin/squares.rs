//! A sum by `par_iter`, and the core that ran it.
//!
//! ```sh
//! cargo run                                                                       # on rayon's
//! cargo run --config 'patch.crates-io.rayon-core.path="../../compat/rayon-core"'  # on filch's
//! ```

use rayon::prelude::*;

fn main() {
    let numbers: Vec<u64> = (1..=1_000_000).collect();
    let parallel: u64 = numbers.par_iter().map(|number| number * number).sum();
    let sequential: u64 = numbers.iter().map(|number| number * number).sum();
    assert_eq!(parallel, sequential);
    let (core, threads) = (on_rayon::core(), rayon::current_num_threads());
    println!("the squares sum up to {parallel}: {core}'s core, {threads} threads");
}
