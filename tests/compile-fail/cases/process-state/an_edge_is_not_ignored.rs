//! An edge may be refused, and its answer may be a duty.

#![deny(unused_must_use)]

#[cfg(not(misuse))]
use filch_process_state::Ending;
use filch_process_state::{IllegalTransition, ProcessState};

#[cfg(misuse)]
pub fn case(process: &ProcessState) -> Result<(), IllegalTransition> {
    process.submit(); //~ unused_must_use unused `Result` that must be used
    process.start(); //~ unused_must_use unused `Result` that must be used
    process.complete(); //~ unused_must_use unused `Result` that must be used
    process.yield_now()?; //~ unused_must_use that must be used
    process.block()?; //~ unused_must_use that must be used
    process.idle()?; //~ unused_must_use that must be used
    process.complete()?; //~ unused_must_use that must be used
    process.dispose()?; //~ unused_must_use that must be used
    Ok(())
}

#[cfg(not(misuse))]
pub fn case(process: &ProcessState) -> Result<(), IllegalTransition> {
    process.submit()?;
    process.start()?;
    let _ = process.yield_now()?;
    while process.complete()? == Ending::Drain {}
    Ok(())
}
