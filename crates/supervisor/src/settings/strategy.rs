//! The children that begin anew when one of them has failed.

use std::ops::RangeInclusive;

use crate::plan::child_id::ChildId;

/// The children that begin anew when one of them has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The failed one.
    OneForOne,
    /// All of them: each depends on each.
    OneForAll,
    /// The failed one and those started after it: each depends on those before it.
    RestForOne,
    /// The failed one. For many children of one kind, which come and go: one that has ended without
    /// a restart is deleted, and at the end all are asked at once. (OTP: `simple_one_for_one`.)
    Dynamic,
}

impl Strategy {
    /// Returns the children that begin anew after `failed`: a stretch of the order of start.
    pub(crate) fn group(self, failed: ChildId) -> RangeInclusive<ChildId> {
        match self {
            Self::OneForOne | Self::Dynamic => failed..=failed,
            Self::OneForAll => ChildId::FIRST..=ChildId::LAST,
            Self::RestForOne => failed..=ChildId::LAST,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Strategy;
    use crate::plan::child_id::ChildId;

    #[test]
    fn each_group_is_a_stretch_of_the_order() {
        let ids: Vec<ChildId> = (0..4).map(ChildId).collect();
        let group = |strategy: Strategy| {
            let group = strategy.group(ids[2]);
            let members = ids.iter().filter(|id| group.contains(id));
            members.map(|id| id.0).collect::<Vec<_>>()
        };
        assert_eq!(group(Strategy::OneForOne), [2]);
        assert_eq!(group(Strategy::Dynamic), [2]);
        assert_eq!(group(Strategy::RestForOne), [2, 3]);
        assert_eq!(group(Strategy::OneForAll), [0, 1, 2, 3]);
    }
}
