//! Only edges change the word.

use filch_process_state::{ProcessState, State};

pub fn case(process: &ProcessState) -> State {
    #[cfg(misuse)]
    let _ = &process.word; //~ E0616 field `word` of struct `ProcessState` is private
    process.state()
}
