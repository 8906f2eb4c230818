//! Parsers of options, and the defaults of settings, which are those of the options.

use std::num::ParseIntError;
use std::time::Duration;

use clap::{Args, Command};

/// Makes settings of the defaults of their options.
pub(crate) fn defaults<T: Args>() -> T {
    let options = T::augment_args(Command::new("defaults"));
    let given = options.get_matches_from::<_, &str>([]);
    T::from_arg_matches(&given).expect("each option has a default")
}

/// Parses a number of bytes, with a unit or without.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|unit: char| !unit.is_ascii_digit());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        unit => return Err(format!("{unit:?} is none of the units K, M, G, T")),
    };
    let number: u64 = digits.parse().map_err(|error| format!("{error}"))?;
    match number.checked_mul(1 << shift) {
        Some(0) | None => Err("out of range".into()),
        Some(size) => Ok(size),
    }
}

/// Parses a number of seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, ParseIntError> {
    text.parse().map(Duration::from_secs)
}

/// Parses a number of milliseconds.
pub(crate) fn milliseconds(text: &str) -> Result<Duration, ParseIntError> {
    text.parse().map(Duration::from_millis)
}

/// Parses a property of a platform.
pub(crate) fn property(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("not NAME=VALUE".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("17"), Ok(17));
        assert_eq!(size("3K"), Ok(3 << 10));
        assert_eq!(size("2G"), Ok(2 << 30));
        for text in ["", "G", "0", "-1", "1.5G", "1X", "99999999999T", "1é"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
