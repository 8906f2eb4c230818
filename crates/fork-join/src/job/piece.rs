//! Jobs as a pool of processors has them.

use std::ptr::NonNull;

use filch_processors::Piece;

use super::job_ref::JobRef;

/// What runs a piece that was a job, on the thread that has the piece.
pub(crate) trait RunsPieces<W: 'static> {
    /// Runs the job. No panic comes out of it.
    fn run(job: JobRef<W>);
}

impl<W> JobRef<W> {
    /// The same job, for a pool of processors: where the piece is run, `R` runs the job.
    pub(crate) fn into_piece<R: RunsPieces<W>>(self) -> Piece {
        /// # Safety
        /// It was a job, which the caller has, and calls this with once.
        unsafe fn run<W: 'static, R: RunsPieces<W>>(job: NonNull<()>) {
            // SAFETY: the caller's.
            R::run(unsafe { JobRef::new(job.cast()) });
        }

        // SAFETY: a piece is run once, and so is the job, which may run on any thread at any time
        // (contract of `JobRef::new`).
        unsafe { Piece::new(self.0.cast(), run::<W, R>) }
    }
}
