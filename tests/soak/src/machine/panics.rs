//! Panics: the planned ones are silent, any other one is a finding.

use std::panic;

use crate::account::findings::complain;

/// What planned panics begin with.
const PLANNED: &str = "soak: ";

/// Sorts all panics of this program from now on.
pub(crate) fn watch() {
    panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or("no text");
        if !message.starts_with(PLANNED) {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            complain(format!(
                "a panic that nobody planned, at {place}: {message}"
            ));
        }
    }));
}
