//! The worker of a context is known to live as long as the call.

use filch_engine::Worker;

pub fn case() -> Worker {
    Worker::new("spawns").in_fiber().run(|context| {
        #[cfg(misuse)]
        std::thread::spawn(move || context.is_ending()); //~ E0277 cannot be shared between threads
        #[cfg(not(misuse))]
        let _ = context.is_ending();
    })
}
