//! Matrix multiplication: the rows are halved until there are few, and the halves multiplied at the
//! same time.
//!
//! ```sh
//! cargo run --release -p filch-fork-join --example matrix
//! ```

mod compare;

use filch_fork_join::Worker;

const SIZE: usize = if cfg!(debug_assertions) { 64 } else { 512 };

/// Rows that one thread multiplies.
const ROWS: usize = 16;

/// `SIZE` rows, one behind the other.
type Matrix = Vec<f64>;

fn matrix(seed: usize) -> Matrix {
    let entry = |index| (index * seed % 1009) as f64 - 504.0;
    (0..SIZE * SIZE).map(entry).collect()
}

/// Adds some rows of `a`, times `b`, to the same rows of the product.
fn multiply(a: &[f64], b: &[f64], product: &mut [f64]) {
    let rows = a.chunks_exact(SIZE).zip(product.chunks_exact_mut(SIZE));
    for (a_row, row) in rows {
        for (factor, b_row) in a_row.iter().zip(b.chunks_exact(SIZE)) {
            for (sum, entry) in row.iter_mut().zip(b_row) {
                *sum += factor * entry;
            }
        }
    }
}

/// The same; the upper rows and the lower ones at the same time.
fn parallel(worker: &Worker, a: &[f64], b: &[f64], product: &mut [f64]) {
    let rows = a.len() / SIZE;
    if rows <= ROWS {
        return multiply(a, b, product);
    }
    let middle = rows / 2 * SIZE;
    let (upper, lower) = a.split_at(middle);
    let (upper_product, lower_product) = product.split_at_mut(middle);
    worker.join(
        |w| parallel(w, upper, b, upper_product),
        |w| parallel(w, lower, b, lower_product),
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = compare::pool()?;
    let (a, b) = (matrix(7), matrix(13));
    let zeros = || vec![0.0; SIZE * SIZE];
    let what = format!("product of two matrices of {SIZE} rows");
    compare::compare(
        &what,
        &pool,
        || {
            let mut product = zeros();
            multiply(&a, &b, &mut product);
            product
        },
        |worker| {
            let mut product = zeros();
            parallel(worker, &a, &b, &mut product);
            product
        },
    );
    Ok(())
}
