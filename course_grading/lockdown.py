"""What the worker gives up before it runs a student's first line. Nothing of it can be taken back.

Four layers, each where the system has it; `lock` says which are in force.
"limits": memory, size of a file, open files, processor time, processes (POSIX).
"identity": root becomes nobody, or at least loses its capabilities.
"files": Landlock (Linux 6.2; older ones overlook that a file is emptied): writes in the worker's own folder only;
reads of Python, libraries and that folder only.
"calls": seccomp (Linux on x86-64 and arm64): no new process or program, no signal to another, no socket, no look into
another, no change of a file's owner, rights or times.
"""

import ctypes
import os
import platform
import resource
import struct
import sys
from contextlib import suppress
from pathlib import Path

NOBODY = 65534
SYSTEM_READABLE = (
    "/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", "/etc/passwd", "/etc/mime.types",
    "/etc/nsswitch.conf", "/etc/fonts", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
    "/sys/devices/system",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

# prctl
SET_PDEATHSIG, SET_SECCOMP, CAPBSET_DROP, SET_NO_NEW_PRIVS = 1, 22, 24, 38

# Landlock: what is handled by each version of its interface, and what the two kinds of places allow
WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
READ = READ_FILE | READ_DIR
OWN = (
    READ | WRITE_FILE | TRUNCATE | sum(1 << bit for bit in (4, 5, 7, 8, 10, 12, 13))
)  # make, rename, remove; no devices
ACCESS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
NETWORK, SCOPES = 0b11, 0b11
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446


def lock(
    folder: str, readable: list[str], listable: list[str], *, memory: int, file_size: int, seconds: int, identity: str
) -> list[str]:
    """Give everything up and return the layers in force. `identity`: "keep", "nobody" or "uncapped".

    readable : files and folders that may be read. listable : folders whose names may be read, and no file in them.
    """
    layers = [_limit(memory, file_size, seconds)]
    if identity == "nobody":
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        layers.append("identity")
    if sys.platform != "linux":
        return layers
    libc = ctypes.CDLL(None, use_errno=True)
    if identity == "uncapped":
        _drop_capabilities(libc)
        layers.append("identity")
    libc.prctl(SET_PDEATHSIG, 9, 0, 0, 0)  # the worker does not outlive the grader
    if libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        layers += ["files"] * _landlock(libc, folder, readable, listable) + ["calls"] * _seccomp(libc)
    return layers


def _limit(memory: int, file_size: int, seconds: int) -> str:
    """Limits on this process; memory counts from what it has mapped already."""
    mapped = 0
    with suppress(OSError):
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    wanted = {"AS": mapped + memory, "FSIZE": file_size, "NOFILE": 64, "CORE": 0, "CPU": seconds}
    if sys.platform == "linux":
        wanted["NPROC"] = _tasks(os.getuid()) + 128
    for name, value in wanted.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        hard = resource.getrlimit(kind)[1] if kind is not None else 0
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with suppress(OSError, ValueError, TypeError):  # macOS refuses some
            resource.setrlimit(kind, (value, value))
    return "limits"


def _tasks(user: int) -> int:
    """How many threads the user has now: RLIMIT_NPROC counts all of them."""
    count = 0
    for entry in os.scandir("/proc"):
        with suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == user:
                count += len(os.listdir(f"/proc/{entry.name}/task"))
    return count


def _drop_capabilities(libc) -> None:
    for capability in range(64):
        libc.prctl(CAPBSET_DROP, capability, 0, 0, 0)
    header = struct.pack("=Ii", 0x20080522, 0)
    if libc.capset(header, struct.pack("=6I", *[0] * 6)) != 0:
        raise OSError(ctypes.get_errno(), "root's capabilities could not be dropped")


def landlock_version() -> int:
    """The version of Landlock's interface; 0 where the system has none."""
    if sys.platform != "linux":
        return 0
    return max(ctypes.CDLL(None, use_errno=True).syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1), 0)


def _landlock(libc, folder: str, readable: list[str], listable: list[str]) -> bool:
    version = landlock_version()
    if version == 0:
        return False
    access = ACCESS[min(version, 5)]
    attributes = struct.pack("=QQQ", access, NETWORK * (version >= 4), SCOPES * (version >= 6))
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = libc.syscall(LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0)
    if rules < 0:
        return False
    places = [(path, READ) for path in (*SYSTEM_READABLE, *readable)]
    places += [(path, READ_DIR) for path in listable]
    places += [(path, READ_FILE | WRITE_FILE) for path in DEVICES]
    for path, allowed in [*places, (folder, OWN)]:
        _allow(libc, rules, path, allowed & access)
    done = libc.syscall(LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)
    return done == 0 and version >= 3


def _allow(libc, rules: int, path: str, allowed: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not on this system
        return
    if not os.path.isdir(path):
        allowed &= READ_FILE | WRITE_FILE | TRUNCATE
    libc.syscall(LANDLOCK_ADD, rules, 1, struct.pack("=Qi", allowed, place), 0)
    os.close(place)


# System calls that are refused, by number: (x86-64, arm64); None where the architecture has none.
REFUSED = {
    "fork": (57, None), "vfork": (58, None), "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "process_madvise": (440, 440), "kcmp": (312, 272), "setsid": (112, 157),
    "setpgid": (109, 154), "socket": (41, 198), "socketpair": (53, 199), "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "execve": (59, 221), "execveat": (322, 281), "truncate": (76, 45), "timer_create": (222, 107),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430),
    "mount_setattr": (442, 442), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "io_uring_setup": (425, 425),
    "init_module": (175, 105), "finit_module": (313, 273), "kexec_load": (246, 104), "reboot": (169, 142),
    "open_by_handle_at": (304, 265), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118),
    "sched_setattr": (314, 274), "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "migrate_pages": (256, 238), "move_pages": (279, 239),
    # Landlock does not cover the attributes of files outside the folder
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
}  # fmt: skip
CLONE, CLONE3, FCNTL, PRLIMIT = (56, 220), (435, 435), (72, 25), (302, 261)
PRCTL, IOCTL = (157, 167), (16, 29)
ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE, KILL, NO_SUCH_CALL = 0x7FFF0000, 0x00050001, 0x80000000, 0x00050026
NUMBER, ARCHITECTURE, FIRST, SECOND = 0, 4, 16, 24  # offsets of the call's number and arguments
CLONE_THREAD, SET_SIGNAL_RECEIVER = 0x10000, (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
SIGNAL_IOCTLS = (0x8901, 0x8902, 0x5452)  # FIOSETOWN, SIOCSPGRP, FIOASYNC


def _program(column: int, architecture: int) -> list[tuple[int, int, int, int]]:
    """The filter, as instructions (code, jump if true, jump if false, value)."""
    refuse, allow = (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)
    program = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    program += [(AT_LEAST, 0, 1, 0x40000000), refuse]  # x86-64 has a second table of numbers there
    for numbers in REFUSED.values():
        if numbers[column] is not None:
            program += [(EQUAL, 0, 1, numbers[column]), refuse]
    program += [(EQUAL, 0, 1, CLONE3[column]), (RETURN, 0, 0, NO_SUCH_CALL)]  # glibc then calls clone
    program += [(EQUAL, 0, 4, CLONE[column]), (LOAD, 0, 0, FIRST), (ANY_BIT, 0, 1, CLONE_THREAD), allow, refuse]
    program += [(EQUAL, 0, 4, PRLIMIT[column]), (LOAD, 0, 0, FIRST), (EQUAL, 0, 1, 0), allow, refuse]
    for call, argument, values in (
        (FCNTL, SECOND, SET_SIGNAL_RECEIVER),
        (IOCTL, SECOND, SIGNAL_IOCTLS),
        (PRCTL, FIRST, (SET_PDEATHSIG,)),
    ):
        program += [(EQUAL, 0, 2 + 2 * len(values), call[column]), (LOAD, 0, 0, argument)]
        for value in values:
            program += [(EQUAL, 0, 1, value), refuse]
        program += [allow]
    return [*program, allow]


def _seccomp(libc) -> bool:
    if platform.machine() not in ARCHITECTURES:
        return False
    code = b"".join(struct.pack("=HBBI", *line) for line in _program(*ARCHITECTURES[platform.machine()]))
    instructions = ctypes.create_string_buffer(code, len(code))
    filter_ = struct.pack("@HP", len(code) // 8, ctypes.addressof(instructions))
    return libc.prctl(SET_SECCOMP, 2, filter_, 0, 0) == 0
