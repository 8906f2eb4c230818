//! The global pool: built once, by the first caller, by the environment's settings.

use std::io;
use std::thread;

use rayon_core::{ThreadPoolBuilder, current_num_threads, current_thread_index, join};

use crate::alone;

#[test]
fn a_second_global_pool_is_an_error() {
    alone::passes("global::a_second_global_pool_is_an_error", &[], || {
        ThreadPoolBuilder::new()
            .num_threads(3)
            .build_global()
            .unwrap();
        let error = ThreadPoolBuilder::new().num_threads(2).build_global();
        let error = error.unwrap_err().to_string();
        assert!(error.contains("already been initialized"), "{error}");
        assert_eq!(current_num_threads(), 3);
    });
}

/// rayon itself has no global pool after that: each later call panics.
#[test]
fn a_global_pool_that_failed_can_be_built_again() {
    let name = "global::a_global_pool_that_failed_can_be_built_again";
    alone::passes(name, &[], || {
        let refusing = ThreadPoolBuilder::new().spawn_handler(|_| Err(io::Error::other("refused")));
        let error = refusing.build_global().unwrap_err();
        assert!(error.to_string().contains("refused"), "{error}");
        ThreadPoolBuilder::new()
            .num_threads(2)
            .build_global()
            .unwrap();
        assert_eq!(join(|| 1, || 2), (1, 2));
        assert_eq!(current_num_threads(), 2);
    });
}

/// One of them builds the pool; the others wait for that.
#[test]
fn many_threads_come_first_at_once() {
    alone::passes("global::many_threads_come_first_at_once", &[], || {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(join(|| 1, || 2), (1, 2)));
            }
        });
        assert!(ThreadPoolBuilder::new().build_global().is_err());
    });
}

#[test]
fn the_environment_says_how_many_threads() {
    let name = "global::the_environment_says_how_many_threads";
    alone::passes(name, &[("RAYON_NUM_THREADS", "5")], || {
        assert_eq!(current_num_threads(), 5);
        assert_eq!(
            ThreadPoolBuilder::new()
                .build()
                .unwrap()
                .current_num_threads(),
            5
        );
        let asked = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(asked.current_num_threads(), 3);
    });
}

/// Uses the older variable, as the newer one is not a number.
#[test]
fn the_environment_may_be_nonsense() {
    let name = "global::the_environment_may_be_nonsense";
    let variables = [("RAYON_NUM_THREADS", "many"), ("RAYON_RS_NUM_CPUS", "4")];
    alone::passes(name, &variables, || assert_eq!(current_num_threads(), 4));
}

#[test]
fn the_calling_thread_may_be_one_of_the_global_pool() {
    let name = "global::the_calling_thread_may_be_one_of_the_global_pool";
    alone::passes(name, &[], || {
        let builder = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        builder.build_global().unwrap();
        assert_eq!(current_thread_index(), Some(0));
        // No other thread runs them.
        assert_eq!(join(|| 1, || 2), (1, 2));
        let mut ran = false;
        rayon_core::scope(|scope| scope.spawn(|_| ran = true));
        assert!(ran);
    });
}
