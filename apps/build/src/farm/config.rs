//! What a farm may be told before it starts.

use std::time::Duration;

/// What a farm may be told before it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarmConfig {
    /// The properties of the workers' platform. An action that asks for another is refused.
    pub platform: Vec<(String, String)>,
    /// How many workers may fail to bring an action to its end, before it is reported as failed.
    pub attempts: usize,
    /// A worker is taken for dead after that long without a message.
    pub silence: Duration,
    /// An action that nobody has waited for, for that long, is cancelled. So a client that lost its
    /// connection can come back.
    pub abandoned_after: Duration,
    /// A worker that could not run an action is given none for that long.
    pub pause: Duration,
    /// An input file of that size makes a worker that has it near to the action.
    pub near_size: u64,
    /// How long an action waits for a worker that is near to it, if there is one.
    pub patience: Duration,
    /// How many files and folders an action may have for its input.
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
