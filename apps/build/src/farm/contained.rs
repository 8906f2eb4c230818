//! Contains panics: a defect of the coordinator ends one action or one session, and nothing else.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

/// Runs the future to its end. If it panics, returns an error that says so.
///
/// State shared with others is behind locks, and is consistent whenever a lock is free.
pub(super) async fn contained<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let ended = AssertUnwindSafe(future).catch_unwind().await;
    ended.map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        let said = said.unwrap_or("a panic without a text");
        tracing::error!("a defect of the coordinator, please report it: {said}");
        format!("a defect of the coordinator: {said}")
    })
}

#[cfg(test)]
mod tests {
    use super::contained;

    #[tokio::test]
    async fn a_panic_is_an_error_that_says_what_the_panic_said() {
        assert_eq!(contained(async { 1 }).await, Ok(1));
        let text = contained(async { panic!("a text") }).await;
        assert_eq!(
            text,
            Err::<(), _>("a defect of the coordinator: a text".to_owned())
        );
        let made = contained(async {
            tokio::task::yield_now().await;
            panic!("{} and {}", 1, 2)
        });
        assert_eq!(
            made.await,
            Err::<(), _>("a defect of the coordinator: 1 and 2".to_owned())
        );
    }
}
