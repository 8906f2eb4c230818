//! Values in place and in a box, and their destructors.

use std::sync::Arc;

use super::InlineBox;

trait Check: Send {
    /// Looks at the value, and changes it.
    fn check(&mut self);
}

/// `SIZE` bytes, aligned like `A`.
struct Sample<A, const SIZE: usize> {
    bytes: [u8; SIZE],
    _aligned: [A; 0],
    _alive: Arc<()>,
}

impl<A: Send, const SIZE: usize> Check for Sample<A, SIZE> {
    fn check(&mut self) {
        assert!(std::ptr::from_ref(self).is_aligned());
        assert!(self.bytes.iter().all(|&byte| byte == 7));
        self.bytes.fill(8);
    }
}

fn inline<V: Check + 'static>(value: V) -> InlineBox<dyn Check> {
    // SAFETY: the address stays as it is.
    unsafe { InlineBox::new(value, |room| room.cast::<V>(), |value| Box::new(value)) }
}

fn lives_and_is_dropped_once<A: Send + 'static, const SIZE: usize>() {
    let alive = Arc::new(());
    let sample = || Sample::<A, SIZE> {
        bytes: [7; SIZE],
        _aligned: [],
        _alive: Arc::clone(&alive),
    };
    let mut value = inline(sample());
    assert_eq!(size_of_val(&*value), size_of::<Sample<A, SIZE>>());
    // It moves.
    let boxed = InlineBox::<dyn Check>::boxed(Box::new(sample()));
    let mut moved = Box::new(std::mem::replace(&mut value, boxed));
    for value in [&mut *moved, &mut value] {
        value.check();
    }
    assert_eq!(Arc::strong_count(&alive), 3);
    drop(moved);
    assert_eq!(Arc::strong_count(&alive), 2);
    let taken_out = value.into_boxed();
    assert_eq!(size_of_val(&*taken_out), size_of::<Sample<A, SIZE>>());
    drop(taken_out);
    assert_eq!(Arc::strong_count(&alive), 1);
    let taken_out = inline(sample()).into_boxed();
    assert_eq!(Arc::strong_count(&alive), 2);
    drop(taken_out);
    assert_eq!(Arc::strong_count(&alive), 1);
}

/// A failure: a value is taken for one of another type, or dropped twice, or never.
#[test]
fn any_value_comes_out_as_what_it_was() {
    let alive = Arc::new(());
    for large in [false, true] {
        let value: InlineBox<_, 2> = if large {
            InlineBox::any((Arc::clone(&alive), [7_u64; 9]))
        } else {
            InlineBox::any((Arc::clone(&alive), 7_u8))
        };
        let value = value.downcast::<Arc<()>>().expect_err("it is another type");
        let taken = match large {
            false => value.downcast::<(Arc<()>, u8)>().map(|value| value.0),
            true => value.downcast::<(Arc<()>, [u64; 9])>().map(|value| value.0),
        };
        assert!(Arc::ptr_eq(&taken.expect("that is its type"), &alive));
        assert_eq!(Arc::strong_count(&alive), 1);
    }
    drop(InlineBox::<_, 2>::any(Arc::clone(&alive)));
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[repr(align(32))]
struct Wide;

#[test]
fn small_large_and_overaligned_values() {
    lives_and_is_dropped_once::<u8, 0>();
    lives_and_is_dropped_once::<u64, 24>();
    lives_and_is_dropped_once::<u64, 25>();
    lives_and_is_dropped_once::<u64, 1000>();
    lives_and_is_dropped_once::<Wide, 1>();
}

#[test]
fn it_is_small_and_may_be_sent() {
    assert!(size_of::<InlineBox<dyn Check>>() <= 5 * size_of::<usize>());
    fn send<T: Send>() {}
    send::<InlineBox<dyn Check>>();
}
