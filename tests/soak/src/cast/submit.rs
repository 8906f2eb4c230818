//! Submits a process in some way, and checks the answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use filch_actors::prelude::*;
use filch_scheduler::{
    Handle, InitError, NotAdmitted, ProcessError, ProcessHandle, Submission, SubmitError,
};

use crate::account::{Happening, Kind, Life, Token, complain, dispose, note};
use crate::cast::{Actor, Parcel, Small, Soak, World};
use crate::plan::{Begin, Hook, Keep, Role, Size};

/// Submits a process of that role, and takes care of its handle.
pub(crate) fn submit(world: &Arc<World>, handle: &Handle<Soak>, role: Role) -> Arc<Life> {
    let life = world.birth(role);
    let bound = world.bound().filter(|_| role.is_bound);
    let actor = Actor::new(world, &life, role, bound.is_some());
    let (method, input) = (role.method(), Token::new(Kind::Input));
    let mut submission = match role.size {
        Size::Small => handle.submission(Small::new(actor), method, input),
        Size::Large => handle.submission(actor, method, input),
        Size::Boxed => handle.submission(Box::new(actor), method, input),
    };
    if let Some(thread) = &bound {
        submission = submission.bound_to(thread);
    }
    let submission = with_options(submission, role);
    match submission.submit() {
        Ok(process) => accepted(world, handle, &life, process),
        Err(error) => refused(world, &life, error),
    }
    life
}

fn with_options(mut submission: Submission<'_, Soak>, role: Role) -> Submission<'_, Soak> {
    if let Some(mailbox) = role.mailbox {
        submission = submission.mailbox(mailbox);
    }
    if role.idle_priority {
        submission = submission.idle_priority();
    }
    if role.traps_exits {
        submission = submission.trap_exits();
    }
    submission
}

fn accepted(
    world: &Arc<World>,
    handle: &Handle<Soak>,
    life: &Arc<Life>,
    process: ProcessHandle<Soak>,
) {
    if !life.role.starts() || !life.started.is_up() {
        complain(format!("{life} was accepted, and should not have been"));
    }
    if life.pid() != Some(process.pid()) {
        complain(format!("{life} has a handle of process {}", process.pid()));
    }
    match life.role.keep {
        Keep::Forget => drop(process),
        Keep::Join => {
            life.exits_due.add(1);
            world.keep(life, process);
        }
        Keep::OnExit | Keep::OnExitPanics => {
            life.exits_due.add(1);
            let (world, handle, life) = (Arc::clone(world), handle.clone(), Arc::clone(life));
            let token = Token::new(Kind::Closure);
            let told = move |exit: Result<Parcel, ProcessError<Soak>>| {
                let _token = token;
                note(Happening::ExitCalled);
                life.exits(&exit, world.shutting.is_up());
                dispose(exit);
                if life.role.keep == Keep::OnExitPanics {
                    note(Happening::CallPanicked);
                    panic!("soak: an `on_exit` call");
                }
                if !world.resting.is_up() && life.role.seed.is_multiple_of(8) {
                    submit(&world, &handle, Role::plain(life.role.seed));
                }
            };
            // If the process has ended by now, it is called here, and its panic is ours.
            let _ = catch_unwind(AssertUnwindSafe(|| process.on_exit(told)));
        }
    }
}

/// Checks the reason for which a process was not accepted.
pub(crate) fn refused(world: &World, life: &Life, error: SubmitError<Soak>) {
    // A refused process has ended before a worker could see it.
    let role = &life.role;
    let (is_right, happening) = match &error {
        SubmitError::NotAdmitted(NotAdmitted::ShutDown, _) => {
            (world.shutting.is_up(), Happening::RefusedByShutdown)
        }
        SubmitError::NotAdmitted(NotAdmitted::LimitReached(limit), _) => {
            (world.limit == Some(limit.get()), Happening::RefusedByLimit)
        }
        SubmitError::Init(InitError::Refused(_) | InitError::HookPanicked(_)) => (
            matches!(role.hook, Hook::Refuses | Hook::PanicsAtStart),
            Happening::RefusedByHook,
        ),
        SubmitError::Init(_) => (role.begin != Begin::Well, Happening::RefusedByInit),
        _ => (false, Happening::RefusedByInit),
    };
    note(happening);
    if !is_right || life.started.is_up() {
        complain(format!(
            "{life} was refused, and should not have been: {error}"
        ));
    }
    if let Some(pid) = life.pid() {
        world.roster.leave(pid);
    }
    dispose(error);
}
