//! The scheduler's hooks: they count every life, refuse some, and panic.

use std::sync::Arc;

use filch_scheduler::{Context, ExitReason, ExitRef, LifeCycle, Process};

use crate::account::{Happening, note};
use crate::cast::{Fault, Roster, Soak};
use crate::plan::Hook;

/// Tells the roster of every life.
pub(crate) struct Hooks(pub(crate) Arc<Roster>);

impl LifeCycle<Soak> for Hooks {
    fn on_start(
        &self,
        context: &Context<'_, Soak>,
        _: &dyn Process<Soak>,
        _: &str,
    ) -> Result<(), Fault> {
        // A process has registered its PID in `init`; a future has not.
        let Some(life) = self.0.find(context.pid()) else {
            return Ok(());
        };
        match life.role.hook {
            Hook::Refuses => Err(Fault::new(false)),
            Hook::PanicsAtStart => panic!("soak: the start hook"),
            Hook::Quiet | Hook::PanicsAtEnd => {
                life.started.raise();
                note(Happening::Submitted);
                Ok(())
            }
        }
    }

    fn on_complete(
        &self,
        context: &Context<'_, Soak>,
        reason: &ExitReason,
        exit: ExitRef<'_, Soak>,
    ) {
        assert_eq!(exit.is_ok(), reason.is_normal(), "{reason}");
        self.0.ended.add(1);
        self.0.failed.add(i64::from(!reason.is_normal()));
        if let Some(life) = self.0.leave(context.pid()) {
            life.completes(reason);
            if life.role.hook == Hook::PanicsAtEnd {
                note(Happening::HookPanicked);
                panic!("soak: the end hook");
            }
        }
    }
}
