//! Panics: the planned ones are silent, any other one is a finding.

use std::panic;

use crate::account::complain;

/// The beginning of planned panics.
const PLANNED: &str = "soak: ";

/// Sorts all panics of this program from now on into planned ones and findings.
pub(crate) fn watch() {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let message = text.unwrap_or("no text");
        if !message.starts_with(PLANNED) {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            complain(format!(
                "a panic that nobody planned, at {place}: {message}"
            ));
        }
    }));
}
