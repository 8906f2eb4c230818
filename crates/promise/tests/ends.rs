//! The waker is dropped with the future that awaits.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use filch_promise::promise;

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_waker_goes_with_the_future_that_awaits() {
    let nobody = Arc::new(Nobody);
    let waker = Waker::from(Arc::clone(&nobody));
    let (resolver, promised) = promise::<u32>();
    {
        let awaiting = pin!(promised);
        assert!(awaiting.poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(Arc::strong_count(&nobody), 3, "it is kept while it waits");
    }
    assert_eq!(Arc::strong_count(&nobody), 2, "the resolver may take long");
    resolver.resolve(1);
}
