//! What seals the policies is not public.

use filch_deque::Policy;
#[cfg(misuse)]
use filch_deque::Rule; //~ E0432 unresolved import `filch_deque::Rule`
#[cfg(misuse)]
use filch_deque::policy::Rule as Inner; //~ E0603 module `policy` is private

pub fn case<P: Policy>() {}
