//! Processes that sort lists by fork/join, on the threads on which they run.
//!
//! A plain process would keep its worker for as long as a long list takes. This one forks: idle
//! workers help, and the other processes go on.
//!
//! `cargo run --release -p filch --example requests [REQUESTS]`

use std::error::Error;
use std::time::Instant;

use filch::fork_join::{Pool, join};
use filch::scheduler::{Event, Process, Protocol, Scheduler, from_fn};

/// The vocabulary.
enum Sorting {}

impl Protocol for Sorting {
    type Input = ();
    /// A list.
    type Message = Vec<u64>;
    type Command = ();
    type Reply = ();
    /// The middle number of each list.
    type Output = Vec<u64>;
    type Error = String;
}

/// Makes a process that sorts as many lists as that.
fn sorter(lists: usize) -> impl Process<Sorting> {
    let mut middles = Vec::new();
    from_fn::<Sorting, _>(move |_, events, out| {
        for event in events {
            if let Event::Message(mut list) = event {
                sort(&mut list);
                let middle = list.get(list.len() / 2).ok_or("a list of nothing")?;
                middles.push(*middle);
            }
        }
        match middles.len() < lists {
            true => out.idle(),
            false => out.done(std::mem::take(&mut middles)),
        }
        Ok(())
    })
}

/// Quicksort: another worker may sort one part at the same time.
fn sort(list: &mut [u64]) {
    if list.len() <= 32 {
        return list.sort_unstable();
    }
    let pivot = list.len() / 2;
    let (less, _, more) = list.select_nth_unstable(pivot);
    join(|| sort(less), || sort(more));
}

/// Makes a list that looks random.
fn list(seed: u64, length: usize) -> Vec<u64> {
    let mut state = seed;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state >> 33
    };
    std::iter::repeat_with(next).take(length).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let requests = std::env::args()
        .nth(1)
        .map_or(Ok(4), |requests| requests.parse())?;
    let scheduler = Scheduler::<Sorting>::builder().build()?;
    // From now on `join` works in each step.
    let _pool = Pool::on(&scheduler.pool())?;

    // A few long lists for one client, many short ones for the other.
    let sizes = [(requests, 300_000), (50 * requests, 1_000)];
    let begun = Instant::now();
    let mut sorters = Vec::new();
    for (lists, length) in sizes {
        let sorter = scheduler.submit(sorter(lists), "run", ())?;
        for seed in 0..lists {
            scheduler.send(sorter.pid(), list(seed as u64, length))?;
        }
        sorters.push(sorter);
    }
    for (sorter, (lists, length)) in sorters.into_iter().zip(sizes) {
        let middles = sorter.join()?;
        println!("{lists} lists of {length}: {:.1?}", begun.elapsed());
        for (seed, middle) in middles.into_iter().enumerate() {
            let mut sorted = list(seed as u64, length);
            sorted.sort_unstable();
            assert_eq!(middle, sorted[length / 2]);
        }
    }
    let stats = scheduler.stats().total();
    println!(
        "{} steps, {} external tasks",
        stats.steps, stats.processor.external_tasks
    );
    Ok(())
}
