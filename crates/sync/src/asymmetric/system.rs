//! The system's call for a fence in all threads of the process.
#![cfg_attr(
    any(
        all(
            target_os = "linux",
            any(target_arch = "x86_64", target_arch = "aarch64")
        ),
        windows
    ),
    expect(unsafe_code, reason = "the system's calls")
)]

pub(super) use imp::{fence_all, register};

#[cfg(not(windows))]
mod imp {
    /// `MEMBARRIER_CMD_PRIVATE_EXPEDITED`.
    const FENCE: usize = 1 << 3;
    /// `MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED`.
    const REGISTER: usize = 1 << 4;

    /// Asks for the right to [`fence_all`]; returns whether it is granted: not by Miri.
    pub(crate) fn register() -> bool {
        !cfg!(miri) && membarrier(REGISTER) == 0
    }

    /// Makes each running thread of the process pass a full fence; returns whether it worked.
    pub(crate) fn fence_all() -> bool {
        membarrier(FENCE) == 0
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn membarrier(command: usize) -> isize {
        let result: isize;
        // SAFETY: a system call that touches no memory of the caller; the kernel changes no other
        // register than those named.
        unsafe {
            core::arch::asm!(
                "syscall",
                inlateout("rax") 324_isize => result,
                in("rdi") command,
                in("rsi") 0,
                in("rdx") 0,
                lateout("rcx") _,
                lateout("r11") _,
                options(nostack),
            );
        }
        result
    }

    #[cfg(all(target_os = "linux", target_arch = "aarch64"))]
    fn membarrier(command: usize) -> isize {
        let result: isize;
        // SAFETY: as on x86-64.
        unsafe {
            core::arch::asm!(
                "svc 0",
                in("x8") 283,
                inlateout("x0") command => result,
                in("x1") 0,
                in("x2") 0,
                options(nostack),
            );
        }
        result
    }

    /// Fails: no other system has this call.
    #[cfg(not(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )))]
    fn membarrier(_: usize) -> isize {
        -1
    }
}

#[cfg(windows)]
mod imp {
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn FlushProcessWriteBuffers();
    }

    /// Succeeds: this system needs no registration.
    pub(crate) fn register() -> bool {
        true
    }

    /// Makes each running thread of the process pass a full fence.
    pub(crate) fn fence_all() -> bool {
        // SAFETY: it takes nothing, returns nothing and cannot fail.
        unsafe { FlushProcessWriteBuffers() };
        true
    }
}
