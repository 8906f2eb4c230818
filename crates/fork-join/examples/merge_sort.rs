//! Merge sort: the halves are sorted at the same time, and merged, also by halves.
//!
//! ```sh
//! cargo run --release -p filch-fork-join --example merge_sort
//! ```

mod compare;

use filch_fork_join::Worker;

const NUMBERS: usize = if cfg!(debug_assertions) {
    20_000
} else {
    1_000_000
};

/// Below this a half is sorted by one thread: a join costs little, but a merge of few numbers costs
/// more than it saves.
const CUT_OFF: usize = 1024;

/// A way to do the two halves of the work.
trait Both {
    fn both(&self, a: impl FnOnce(&Self) + Send, b: impl FnOnce(&Self) + Send);
}

/// One after the other.
struct Sequential;

impl Both for Sequential {
    fn both(&self, a: impl FnOnce(&Self) + Send, b: impl FnOnce(&Self) + Send) {
        a(self);
        b(self);
    }
}

impl Both for Worker {
    fn both(&self, a: impl FnOnce(&Self) + Send, b: impl FnOnce(&Self) + Send) {
        self.join(a, b);
    }
}

/// Sorts `numbers`, with room for as many.
fn sort<D: Both>(doing: &D, numbers: &mut [u32], room: &mut [u32]) {
    if numbers.len() <= CUT_OFF {
        return numbers.sort_unstable();
    }
    let middle = numbers.len() / 2;
    let (left, right) = numbers.split_at_mut(middle);
    let (left_room, right_room) = room.split_at_mut(middle);
    doing.both(
        |doing| sort(doing, left, left_room),
        |doing| sort(doing, right, right_room),
    );
    merge(doing, left, right, room);
    numbers.copy_from_slice(room);
}

/// Merges two sorted slices into `out`, which is as long as both.
fn merge<D: Both>(doing: &D, left: &[u32], right: &[u32], out: &mut [u32]) {
    if left.len() < right.len() {
        return merge(doing, right, left, out);
    }
    if out.len() <= CUT_OFF {
        return merge_here(left, right, out);
    }
    // What is below the middle of the longer slice goes into the first part of `out`.
    let middle = left.len() / 2;
    let place = right.partition_point(|number| *number < left[middle]);
    let (low, high) = out.split_at_mut(middle + place);
    doing.both(
        |doing| merge(doing, &left[..middle], &right[..place], low),
        |doing| merge(doing, &left[middle..], &right[place..], high),
    );
}

fn merge_here(left: &[u32], right: &[u32], out: &mut [u32]) {
    let (mut l, mut r) = (0, 0);
    for place in out {
        let is_left = r == right.len() || l < left.len() && left[l] <= right[r];
        let (from, next) = match is_left {
            true => (left, &mut l),
            false => (right, &mut r),
        };
        *place = from[*next];
        *next += 1;
    }
}

/// Numbers in disorder: a linear congruential generator.
fn numbers() -> Vec<u32> {
    let next = |seed: &u32| Some(seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(1), next).take(NUMBERS).collect()
}

fn sorted<D: Both>(doing: &D) -> Vec<u32> {
    let mut numbers = numbers();
    let mut room = vec![0; numbers.len()];
    sort(doing, &mut numbers, &mut room);
    numbers
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = compare::pool()?;
    let what = format!("merge sort of {NUMBERS} numbers");
    let ours = compare::compare(&what, &pool, || sorted(&Sequential), sorted);
    let mut theirs = numbers();
    theirs.sort_unstable();
    assert!(ours == theirs, "they are not sorted");
    Ok(())
}
