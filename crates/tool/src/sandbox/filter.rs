//! System calls that no command is given: those that look into other processes, that go around the rest of the sandbox, or that
//! open sockets to services of this machine.
//!
//! A filter sees numbers and not what pointers point to, so that it cannot tell a connection to the container engine from
//! one to a test's own socket: sockets with a path (`AF_UNIX`) are refused altogether, pairs of them (`socketpair`) are
//! not, for they lead nowhere. `io_uring` is refused because what is asked through it passes no filter.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use super::plan::Network;

/// Which sockets a command may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Those of the internet protocols. Where they lead is decided by a namespace, or by consent.
    Internet,
    /// None.
    None,
}

/// Whether a command may change what is known about a file: its permissions, owner, times and attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metadata {
    /// As far as the file system lets it.
    Open,
    /// Never.
    Kept,
}

impl From<Network> for Sockets {
    /// Where there is no namespace to end in, a socket is the network.
    fn from(network: Network) -> Self {
        match network {
            Network::On => Self::Internet,
            Network::Off => Self::None,
        }
    }
}

const INTERNET: [i32; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

const REFUSED: &[i64] = &[
    // other processes
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // ways around a filter or the sandbox
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_open_by_handle_at,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_pivot_root,
    libc::SYS_setns,
    // the kernel's keyrings are no namespace's
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // the machine itself
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
];

/// A user namespace of its own would give a command powers to try on the kernel. A filter does not see what `clone3` asks for, which
/// lies behind a pointer: it is told to be missing, and libraries fall back to `clone`, whose first argument says it.
const MAKING_NAMESPACES: [i64; 2] = [libc::SYS_unshare, libc::SYS_clone];
const NEW_USER: u64 = libc::CLONE_NEWUSER as u64;

/// Calls that change a file without opening it for writing. Those without a name in `libc` are the newest ones.
const CHANGING_METADATA: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

/// The requests that terminals and pipes understand have this letter; others reach the attributes of files.
const TERMINAL_REQUESTS: u64 = (b'T' as u64) << 8;

/// On x86-64 every call has a second number, that of the x32 machine.
#[cfg(target_arch = "x86_64")]
const TWIN: i64 = 0x4000_0000;
#[cfg(not(target_arch = "x86_64"))]
const TWIN: i64 = 0;

/// The filter as a program for the kernel.
pub(super) fn program(sockets: Sockets, metadata: Metadata) -> Result<BpfProgram, String> {
    compile(sockets, metadata).map_err(|error| format!("the filter of system calls cannot be made: {error}"))
}

/// The same as the bytes that bubblewrap reads.
pub(super) fn bytes(sockets: Sockets, metadata: Metadata) -> Result<Vec<u8>, String> {
    let program = program(sockets, metadata)?;
    Ok(program
        .iter()
        .flat_map(|step| {
            let [code, more] = step.code.to_ne_bytes();
            let [a, b, c, d] = step.k.to_ne_bytes();
            [code, more, step.jt, step.jf, a, b, c, d]
        })
        .collect())
}

fn compile(sockets: Sockets, metadata: Metadata) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    // A call without conditions is refused whatever its arguments are.
    let socket = match sockets {
        Sockets::None => Vec::new(),
        Sockets::Internet => {
            let other_than = |family: i32| argument(0, SeccompCmpOp::Ne, family.unsigned_abs().into());
            vec![SeccompRule::new(INTERNET.into_iter().map(other_than).collect::<Result<_, _>>()?)?]
        }
    };
    rules.insert(libc::SYS_socket, socket);
    // Text put into a terminal is read as input by the next program that reads there.
    let typing = argument(1, SeccompCmpOp::Eq, u64::from(libc::TIOCSTI as u32))?;
    let mut requests = vec![SeccompRule::new(vec![typing])?];
    if metadata == Metadata::Kept {
        rules.extend(CHANGING_METADATA.iter().map(|call| (*call, Vec::new())));
        // A filter can compare bits but not say "other than", so each bit of the letter is compared with its opposite.
        for bit in (8..16).map(|at| 1u64 << at) {
            let other = argument(1, SeccompCmpOp::MaskedEq(bit), !TERMINAL_REQUESTS & bit)?;
            requests.push(SeccompRule::new(vec![other])?);
        }
    }
    rules.insert(libc::SYS_ioctl, requests);
    // The limits of other processes, ours among them.
    let of_others = argument(0, SeccompCmpOp::Ne, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![of_others])?]);
    let new_user = argument(0, SeccompCmpOp::MaskedEq(NEW_USER), NEW_USER)?;
    for call in MAKING_NAMESPACES {
        rules.insert(call, vec![SeccompRule::new(vec![new_user.clone()])?]);
    }
    let twins: Vec<_> = rules.iter().map(|(call, rule)| (call | TWIN, rule.clone())).collect();
    rules.extend(twins);
    let refusal = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, refusal, machine)?.try_into()?;
    Ok(clone3_is_missing().into_iter().chain(filter).collect())
}

/// The first steps: `clone3`, whose number is the same on every machine, is answered with "not implemented".
fn clone3_is_missing() -> [sock_filter; 4] {
    let step = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    let is = |call: i64, jt, jf| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, jt, jf, call as u32);
    [
        // The number of the call is the first field of what a filter sees.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        is(libc::SYS_clone3, 1, 0),
        is(libc::SYS_clone3 | TWIN, 0, 1),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
    ]
}

fn argument(at: u8, is: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(at, SeccompCmpArgLen::Dword, is, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_compiles_for_this_machine_and_fits_into_a_pipe() {
        for (sockets, metadata) in [(Sockets::Internet, Metadata::Open), (Sockets::None, Metadata::Kept)] {
            let bytes = bytes(sockets, metadata).unwrap();
            assert_eq!(bytes.len(), program(sockets, metadata).unwrap().len() * 8);
            assert!(!bytes.is_empty() && bytes.len() < 4096 * 8, "{}", bytes.len());
        }
    }
}
