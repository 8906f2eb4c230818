//! The part of filch-sync, in the copy, that asks the environment which mutant was chosen.

/// The module's path in the tree, and that of the file that declares it.
pub(super) const PLACE: &str = "crates/sync/src/mutant.rs";
pub(super) const PARENT: &str = "crates/sync/src/lib.rs";

/// The mutant that is chosen, by its number.
pub(super) const CHOSEN: &str = "FILCH_MUTANT";
/// The file to which the numbers of the mutants are written whose code runs.
pub(super) const REACHED: &str = "FILCH_MUTANTS_REACHED";

/// The text that follows that of [`PARENT`].
pub(super) const DECLARATION: &str = "\n/// Mutants.\npub mod mutant;\n";

/// The text of [`PLACE`]. There are at most 16 384 mutants in a build.
pub(super) const TEXT: &str = r#"
extern crate std;

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A choice that keeps no memory: a test may count what is left.
struct Choice {
    number: u32,
    is_recorded: bool,
}

/// True if mutant `number` is chosen.
pub fn is(number: u32) -> bool {
    static CHOICE: OnceLock<Choice> = OnceLock::new();
    let choice = CHOICE.get_or_init(|| Choice {
        number: std::env::var("FILCH_MUTANT").map_or(u32::MAX, |text| text.parse().unwrap()),
        is_recorded: std::env::var_os("FILCH_MUTANTS_REACHED").is_some(),
    });
    if choice.is_recorded {
        static SEEN: [AtomicBool; 16_384] = [const { AtomicBool::new(false) }; 16_384];
        if !SEEN[number as usize].swap(true, Ordering::Relaxed) {
            let record = std::env::var_os("FILCH_MUTANTS_REACHED").unwrap();
            let mut file = OpenOptions::new().create(true).append(true).open(record).unwrap();
            file.write_all(std::format!("{number}\n").as_bytes()).unwrap();
        }
    }
    number == choice.number
}

/// `value`, or one more if mutant `number` is chosen.
pub fn off<T: Off>(number: u32, value: T) -> T {
    if is(number) { value.more() } else { value }
}

/// A value that can be off by one.
pub trait Off {
    /// One more.
    fn more(self) -> Self;
}

macro_rules! integers {
    ($($type:ty)*) => {
        $(impl Off for $type { fn more(self) -> Self { self.wrapping_add(1) } })*
    };
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! times {
    ($($type:ty)*) => {
        $(impl Off for $type { fn more(self) -> Self { self + Duration::from_millis(1) } })*
    };
}

times!(Duration Instant);
"#;
