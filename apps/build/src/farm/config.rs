//! The settings of a farm.

use std::time::Duration;

/// The settings of a farm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarmConfig {
    /// The properties of the workers' platform. An action that asks for another is refused.
    pub platform: Vec<(String, String)>,
    /// The number of workers that may fail to finish an action before it is reported as failed.
    pub attempts: usize,
    /// A worker that sends nothing for this long is taken for dead.
    pub silence: Duration,
    /// An action that nobody has waited for, for this long, is cancelled: until then, a client that
    /// lost its connection can come back.
    pub abandoned_after: Duration,
    /// A worker that could not run an action gets none for this long.
    pub pause: Duration,
    /// A worker is near to an action if it has an input file of this size or more.
    pub near_size: u64,
    /// The longest wait of an action for a worker that is near to it, if there is one.
    pub patience: Duration,
    /// The most files and folders in an action's input.
    pub most_inputs: usize,
}

impl Default for FarmConfig {
    fn default() -> Self {
        Self {
            platform: Vec::new(),
            attempts: 3,
            silence: Duration::from_secs(10),
            abandoned_after: Duration::from_secs(5),
            pause: Duration::from_secs(1),
            near_size: 1 << 20,
            patience: Duration::from_millis(50),
            most_inputs: 200_000,
        }
    }
}
