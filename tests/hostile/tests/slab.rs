//! The slab with panicking destructors, without memory, and with values too large for a stack.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use filch_slab::{AllocateError, Slab};
use hostile_tests::{Squad, explosion_of, held, largest, on_a_small_stack, refusing};

/// Slots on several pages, the last ones behind a directory: a page has 2 048 bombs.
const MANY: u32 = 10_000;

#[test]
fn a_destructor_that_panics_keeps_no_other_from_running() {
    thread_local!(static SQUAD: Squad = Squad::new([5000]));
    SQUAD.with(|squad| {
        let before = held();
        let slab = Slab::new(|index| SQUAD.with(|squad| squad.bomb(index)));
        for _ in 0..MANY {
            slab.allocate().unwrap();
        }
        assert_eq!(explosion_of(|| drop(slab)), Some(5000));
        // The slots of the last page that were never allocated were constructed, too.
        squad.assert_dropped(2048 * 5 - 1);
        assert_eq!(held(), before, "memory is left behind");
    });
}

#[test]
fn a_make_that_panics_leaves_nothing_behind() {
    thread_local!(static SQUAD: Squad = Squad::new([]));
    let slab = Slab::new(|index| {
        if index == 7000 {
            resume_unwind(Box::new(()));
        }
        SQUAD.with(|squad| squad.bomb(index))
    });
    for _ in 0..3 * 2048 - 1 {
        slab.allocate().unwrap();
    }
    let before = held();
    catch_unwind(AssertUnwindSafe(|| slab.allocate())).unwrap_err();
    assert_eq!(held(), before, "memory is left behind");
    assert_eq!(SQUAD.with(|squad| squad.dropped().len()), 7000 - 6143);
    assert_eq!(slab.high_water(), 6143);
}

#[test]
fn it_never_asks_for_more_than_a_page() {
    let slab = Slab::new(|_| [0_u8; 172]);
    let slots = 1 << 20;
    let before = held();
    let ((), largest) = largest(|| {
        for slot in 1..=slots {
            slab.allocate().unwrap();
            // After every allocation: apart from the slots, at most a page is held, and 16 bytes
            // for each page that there is or will be.
            let pages = (held() - before) as usize;
            let bound = 176 * slot + (64 << 10) + 2 * 16 * (slot / 256);
            assert!(pages <= bound, "{pages} bytes for {slot} slots");
        }
    });
    assert!(largest <= 64 << 10, "{largest} bytes at once");
}

#[test]
fn without_memory_it_says_so_and_goes_on_afterwards() {
    let slab = Slab::new(|_| [0_u64; 15]);
    refusing(1, || {
        assert_eq!(slab.allocate(), Err(AllocateError::NoMemory));
        assert_eq!(slab.high_water(), 0);
    });
    // The pages grow up to this one, the ninth, which is full.
    for _ in 0..511 {
        slab.allocate().unwrap();
    }
    // First the directory is refused, then its first page.
    for refused in [1, 1 << 12] {
        let before = held();
        let error = refusing(refused, || slab.allocate());
        assert_eq!(error, Err(AllocateError::NoMemory));
        assert!(held() <= before + 64, "memory is left behind");
        // A released slot can be allocated.
        slab.release(5);
        assert_eq!(refusing(1, || slab.allocate()), Ok(5));
    }
    assert_eq!(slab.allocate(), Ok(511));
    assert_eq!(slab.get(511), Some(&[0; 15]));
}

#[test]
fn values_that_are_larger_than_the_stack_are_built_where_they_stay() {
    const SIZE: usize = 1 << 20;
    on_a_small_stack(128 << 10, || {
        let slab = Slab::<[u8; SIZE]>::in_place(
            |index, place| {
                // SAFETY: any bytes are a value of this type.
                unsafe {
                    place.as_mut_ptr().write_bytes(index as u8, 1);
                    place.assume_init_mut()
                }
            },
            100,
        );
        for index in 0..9 {
            assert_eq!(slab.allocate(), Ok(index));
        }
        for index in 0..9 {
            assert_eq!(slab.get(index).unwrap()[SIZE - 1], index as u8);
        }
    });
}

#[test]
fn what_is_not_written_to_its_place_is_noticed() {
    let slab = Slab::<u64>::in_place(|_, _| Box::leak(Box::new(1)), 1);
    catch_unwind(AssertUnwindSafe(|| slab.allocate())).unwrap_err();
    assert_eq!(slab.high_water(), 0);
}

#[test]
fn a_reserved_slot_needs_no_memory() {
    let slab = Slab::<u64>::with_limit(u64::from, 8);
    assert_eq!(refusing(1, || slab.reserve()), Err(AllocateError::NoMemory));
    for index in 0..8 {
        slab.reserve().unwrap();
        assert_eq!(refusing(1, || slab.allocate()), Ok(index));
    }
    assert_eq!(slab.reserve(), Err(AllocateError::Full));
    slab.release(5);
    assert_eq!(refusing(1, || slab.reserve()), Ok(()));
    assert_eq!(slab.allocate(), Ok(5));
}
