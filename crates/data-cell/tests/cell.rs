//! One cell: closures that panic, values that are dropped, threads that add.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

use filch_data_cell::{DataCell, LockError};

/// Returns whether the closure panics.
fn panics<R>(closure: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(closure)).is_err()
}

fn panic_silently() {
    resume_unwind(Box::new("wanted by the test"));
}

#[test]
fn a_reader_that_panics_leaves_the_cell_free() {
    let cell = DataCell::new(1);
    assert!(panics(|| cell.try_read(|_| panic_silently())));
    assert!(!cell.is_poisoned());
    assert_eq!(cell.try_write(|value| *value += 1), Ok(()));
    assert_eq!(cell.try_end(), Ok(2));
}

#[test]
fn a_writer_that_panics_poisons() {
    let cell = DataCell::new(1);
    assert!(panics(|| cell.try_write(|value| {
        *value = 2;
        panic_silently();
    })));
    assert!(cell.is_poisoned() && !cell.is_ended());
    assert_eq!(cell.try_read(|value| *value), Err(LockError::Poisoned));
    assert_eq!(cell.try_write(|value| *value), Err(LockError::Poisoned));
    assert!(cell.clear_poison() && !cell.clear_poison());
    assert_eq!(cell.try_read(|value| *value), Ok(2));
}

#[test]
fn a_poisoned_value_can_be_taken() {
    let cell = DataCell::new(1);
    assert!(panics(|| cell.try_write(|_| panic_silently())));
    assert_eq!(cell.try_end(), Ok(1));
    assert!(cell.is_ended() && !cell.is_poisoned() && !cell.clear_poison());
    assert_eq!(cell.try_end(), Err(LockError::Ended));
}

#[test]
fn within_a_closure_the_cell_is_held() {
    let cell = DataCell::new(1);
    let inside = cell.try_read(|_| {
        assert_eq!(cell.try_write(|_| ()), Err(LockError::Held));
        assert_eq!(cell.try_end(), Err(LockError::Held));
        cell.try_read(|value| *value)
    });
    assert_eq!(inside, Ok(Ok(1)));
    let inside = cell.try_write(|_| cell.try_read(|value| *value));
    assert_eq!(inside, Ok(Err(LockError::Held)));
}

#[test]
fn a_value_is_dropped_once() {
    let value = Arc::new(());
    let cell = || DataCell::new(Arc::clone(&value));
    drop(cell());
    assert_eq!(Arc::strong_count(&value), 1, "dropped with its cell");

    let ended = cell();
    let taken = ended.try_end();
    drop(ended);
    assert_eq!(Arc::strong_count(&value), 2, "the cell has it no more");
    drop(taken);
    assert_eq!(Arc::strong_count(&value), 1);

    let poisoned = cell();
    assert!(panics(|| poisoned.try_write(|_| panic_silently())));
    drop(poisoned);
    assert_eq!(Arc::strong_count(&value), 1, "dropped though poisoned");
}

#[test]
fn it_says_what_it_is() {
    let cell = DataCell::<u32>::default();
    assert_eq!(format!("{cell:?}"), "DataCell { lock: DataLock(free), .. }");
    cell.try_write(|_| {
        let held = format!("{cell:?}");
        assert!(held.contains("held by a writer"));
    })
    .unwrap();
}

/// Two words that are always equal, and many threads. The models check more with fewer.
#[test]
fn nobody_sees_half_a_change() {
    const TIMES: u64 = if cfg!(miri) { 100 } else { 20_000 };
    let cell = DataCell::new([0_u64; 2]);
    let written: u64 = thread::scope(|scope| {
        let threads = [(); 4].map(|()| {
            scope.spawn(|| {
                let mut written = 0;
                for _ in 0..TIMES {
                    let _ = cell.try_read(|[first, second]| assert_eq!(first, second));
                    let write = cell.try_write(|both| both.iter_mut().for_each(|one| *one += 1));
                    written += u64::from(write.is_ok());
                }
                written
            })
        });
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(cell.try_end(), Ok([written; 2]));
}
