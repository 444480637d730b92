"""System calls that no tool needs, refused with EPERM by a filter that bubblewrap loads. Pure.

A small program in classic BPF, made from one table. Sources: seccomp(2); <linux/filter.h>; numbers of x86_64 from
arch/x86/entry/syscalls/syscall_64.tbl, of aarch64 from include/uapi/asm-generic/unistd.h. Read 2026-11.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping
from typing import Final

AUDIT_ARCH: Final[Mapping[str, int]] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # <linux/audit.h>
X32_BIT: Final = 0x4000_0000  # begins the numbers of the third set of calls on x86_64

LOAD_NUMBER: Final = (0x20, 0)  # BPF_LD | BPF_W | BPF_ABS, offset in struct seccomp_data
LOAD_ARCH: Final = (0x20, 4)
JUMP_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
JUMP_GREATER_EQUAL: Final = 0x35  # BPF_JMP | BPF_JGE | BPF_K
RETURN: Final = 0x06  # BPF_RET | BPF_K
ALLOW: Final = 0x7FFF_0000  # SECCOMP_RET_ALLOW
REFUSE: Final = 0x0005_0000 | errno.EPERM  # SECCOMP_RET_ERRNO

NONE: Final = -1  # this machine has no such call
REFUSED: Final[Mapping[str, tuple[int, int]]] = {
    # the kernel's keys, which are no namespace's
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # memory and files of other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # wide doors into the kernel
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    # the machine
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "acct": (163, 89),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    "iopl": (172, NONE),
    "ioperm": (173, NONE),
    "modify_ldt": (154, NONE),
    "uselib": (134, NONE),
}
"""Each with its number on x86_64 and on aarch64."""


def call_filter(machine: str = platform.machine()) -> bytes:
    """The program for this kind of machine; empty where the table has none."""
    if machine not in AUDIT_ARCH:
        return b""
    column = list(AUDIT_ARCH).index(machine)
    numbers = sorted(row[column] for row in REFUSED.values() if row[column] != NONE)
    tests = [(JUMP_EQUAL, number) for number in numbers]
    if machine == "x86_64":
        tests.insert(0, (JUMP_GREATER_EQUAL, X32_BIT))
    # A jump counts from the line behind it: over the tests that are left and the ALLOW.
    jumps = [_line(code, value, len(tests) - at) for at, (code, value) in enumerate(tests)]
    foreign = _line(JUMP_EQUAL, AUDIT_ARCH[machine], 1)
    ends = [_line(RETURN, ALLOW), _line(RETURN, REFUSE)]
    return b"".join([_line(*LOAD_ARCH), foreign, _line(RETURN, REFUSE), _line(*LOAD_NUMBER), *jumps, *ends])


def _line(code: int, value: int, if_true: int = 0) -> bytes:
    """One struct sock_filter; where its test fails, the next line follows."""
    return struct.pack("=HBBI", code, if_true, 0, value)
