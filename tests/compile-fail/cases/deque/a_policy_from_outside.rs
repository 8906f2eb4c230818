//! The policies are sealed: the algorithm is proved for two.

use filch_deque::Policy;

#[expect(dead_code, reason = "it is never used")]
enum Mine {}

#[cfg(misuse)]
impl Policy for Mine {} //~ E0277 Rule` is not satisfied

pub fn case<P: Policy>() {}
