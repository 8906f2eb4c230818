//! The needs of actions, in the words of several clients.

use filch_build_scheduler::Platform;

use super::failure::Failure;
use crate::reapi;

/// The names of the properties that ask for CPUs, and for memory in units of so many bytes: those
/// that clients of `BuildBuddy`, `Buildfarm` and `NativeLink` send.
const CPUS: [&str; 5] = ["EstimatedCPU", "cpu_count", "cpus", "cores", "min-cores"];
const MEMORY: [(&str, f64); 3] = [
    ("EstimatedMemory", 1.0),
    ("min-mem", 1.0),
    ("memory_kb", 1024.0),
];

/// Reads the needs of an action; it takes a CPU if it does not say.
pub(super) fn needs_of(asked: Option<&reapi::Platform>) -> Result<Platform, Failure> {
    let mut needs = Platform::default();
    for property in asked.iter().flat_map(|asked| &asked.properties) {
        let (name, value) = (property.name.as_str(), property.value.as_str());
        let number = |unit| {
            let why = format!("{name}={value} is no number of CPUs or of bytes");
            amount(value, unit).ok_or_else(|| Failure::invalid(&why))
        };
        if CPUS.contains(&name) {
            needs.cpus = needs.cpus.max(number(1000.0)?);
        } else if let Some(&(_, unit)) = MEMORY.iter().find(|(known, _)| *known == name) {
            needs.memory = needs.memory.max(number(unit)?);
        } else {
            needs.properties.insert((name.to_owned(), value.to_owned()));
        }
    }
    if needs.cpus == 0 {
        needs.cpus = 1000;
    }
    Ok(needs)
}

/// Parses a number, as `500m`, `1.5GB` or `2GiB`, of so large units.
fn amount(text: &str, unit: f64) -> Option<u64> {
    let letters = text.find(|char: char| char.is_ascii_alphabetic());
    let (digits, prefix) = text.split_at(letters.unwrap_or(text.len()));
    let factor = match prefix.trim_end_matches('B').trim_end_matches('i') {
        "" => 1.0,
        "m" => 0.001,
        "K" => 1024.0,
        "M" => 1024_f64.powi(2),
        "G" => 1024_f64.powi(3),
        "T" => 1024_f64.powi(4),
        _ => return None,
    };
    let amount = (digits.trim().parse::<f64>().ok()? * factor * unit).ceil();
    (amount > 0.0 && amount < 1e18).then_some(amount as u64)
}

#[cfg(test)]
mod tests {
    use filch_build_scheduler::{Platform, Properties};

    use super::needs_of;
    use crate::reapi;
    use crate::reapi::platform::Property;

    fn needs(asked: &[(&str, &str)]) -> Option<Platform> {
        let property = |&(name, value): &(&str, &str)| Property {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let properties = asked.iter().map(property).collect();
        needs_of(Some(&reapi::Platform { properties })).ok()
    }

    #[test]
    fn clients_ask_for_cpus_and_memory_in_their_own_words() {
        let asks = |name, value| needs(&[(name, value)]).map(|asks| (asks.cpus, asks.memory));
        let cpus = |cpus| Some((cpus, 0));
        let memory = |memory| Some((1000, memory));
        assert_eq!(asks("EstimatedCPU", "2.5"), cpus(2500));
        assert_eq!(asks("EstimatedCPU", "500m"), cpus(500));
        assert_eq!(asks("cpu_count", "8"), cpus(8000));
        assert_eq!(asks("min-cores", "4"), cpus(4000));
        assert_eq!(asks("memory_kb", "3"), memory(3 << 10));
        assert_eq!(asks("EstimatedMemory", "1.5GB"), memory(3 << 29));
        assert_eq!(asks("min-mem", "7"), memory(7));
        for (name, value) in [
            ("cpus", ""),
            ("cpus", "0"),
            ("cpus", "-1"),
            ("cpus", "NaN"),
            ("cpus", "inf"),
            ("cpus", "two"),
            ("min-mem", "1e30"),
            ("EstimatedMemory", "1XB"),
            ("EstimatedMemory", "é"),
        ] {
            assert_eq!(asks(name, value), None, "{name}={value}");
        }
    }

    #[test]
    fn a_platform_fits_what_it_has_all_of() {
        let property = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let linux = Platform {
            properties: Properties::from([
                property("OSFamily", "linux"),
                property("libc", "musl"),
                property("libc", "glibc"),
            ]),
            cpus: 4000,
            memory: u64::MAX,
        };
        let fits = |asked| linux.fits(&needs(asked).unwrap());
        assert!(fits(&[]));
        assert!(fits(&[("libc", "glibc"), ("OSFamily", "linux")]));
        assert!(fits(&[("libc", "glibc"), ("libc", "musl"), ("cpus", "4")]));
        assert!(fits(&[("min-mem", "9999999999999")]), "it does not say");
        assert!(!fits(&[("OSFamily", "Linux")]));
        assert!(!fits(&[("container-image", "docker://gcc")]));
        assert!(!fits(&[("cpus", "4.001")]));
        let small = Platform {
            memory: 100,
            ..linux
        };
        assert!(!small.fits(&needs(&[("min-mem", "101")]).unwrap()));
    }
}
