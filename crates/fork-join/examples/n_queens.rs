//! N queens: how many ways there are to place them so that none attacks another. The tree of tries
//! is unbalanced, and most of its nodes are cheap.
//!
//! ```sh
//! cargo run --release -p filch-fork-join --example n_queens
//! ```

mod compare;

use std::hint::black_box;

use filch_fork_join::Worker;

const QUEENS: u32 = if cfg!(debug_assertions) { 8 } else { 13 };

/// The fields of the next row that are attacked, a bit each.
#[derive(Clone, Copy, Default)]
struct Board {
    rows: u32,
    columns: u32,
    falling: u32,
    rising: u32,
}

impl Board {
    /// The fields of the next row that are free.
    fn free(self) -> u32 {
        !(self.columns | self.falling | self.rising) & ((1 << QUEENS) - 1)
    }

    /// With a queen on that field of the next row.
    fn place(self, field: u32) -> Self {
        Self {
            rows: self.rows + 1,
            columns: self.columns | field,
            falling: (self.falling | field) << 1,
            rising: (self.rising | field) >> 1,
        }
    }
}

fn sequential(board: Board) -> u64 {
    if board.rows == QUEENS {
        return 1;
    }
    let mut free = board.free();
    let mut ways = 0;
    while free != 0 {
        let field = free & free.wrapping_neg();
        ways += sequential(board.place(field));
        free &= free - 1;
    }
    ways
}

fn parallel(worker: &Worker, board: Board) -> u64 {
    if board.rows == QUEENS {
        return 1;
    }
    among(worker, board, board.free())
}

/// With the next queen on one of these fields: the lowest, or one of the others.
fn among(worker: &Worker, board: Board, fields: u32) -> u64 {
    if fields == 0 {
        return 0;
    }
    let first = fields & fields.wrapping_neg();
    let others = fields & (fields - 1);
    if others == 0 {
        return parallel(worker, board.place(first));
    }
    let (a, b) = worker.join(
        |w| parallel(w, board.place(first)),
        |w| among(w, board, others),
    );
    a + b
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = compare::pool()?;
    let what = format!("{QUEENS} queens");
    let empty = Board::default();
    let ways = compare::compare(
        &what,
        &pool,
        // The compiler shall not work it out.
        || sequential(black_box(empty)),
        |worker| parallel(worker, empty),
    );
    assert_eq!(ways, if QUEENS == 8 { 92 } else { 73_712 });
    println!("  {ways} ways");
    Ok(())
}
