//! A span of `tracing` for each step, where that feature is asked for.

use tracing::debug_span;
use tracing::span::EnteredSpan;

use crate::process::life_cycle::type_name;
use crate::{Pid, Process, Protocol};

/// The span of a step that begins, until it is dropped.
pub(crate) fn enter_step<P: Protocol>(pid: Pid, process: &dyn Process<P>) -> EnteredSpan {
    debug_span!("step", %pid, r#type = type_name(process)).entered()
}
