"""One system call: two directory entries change places, or nothing happens (`renameat2` with RENAME_EXCHANGE).

There is no fallback to two renames: between them the name would be missing, or another's edit overwritten.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
from collections.abc import Callable

from bench.errors import EnvironmentRefused

_EXCHANGE = 2
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTTY, errno.EPERM})
"""What kernels and file systems answer that know no exchange (EINVAL: vfat and FUSE; EPERM: some sandboxes)."""


@functools.cache
def _call() -> Callable[..., int]:
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        raise EnvironmentRefused("this system has no atomic exchange of files", remedy="apply on Linux with glibc ≥ 2.28")
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    found: Callable[..., int] = function
    return found


def exchange(folder: int, first: str, second: str) -> None:
    """Exchange two names in the directory open as `folder`.

    Raises EnvironmentRefused where the file system cannot, OSError for what else goes wrong; then nothing has changed.
    """
    if _call()(folder, os.fsencode(first), folder, os.fsencode(second), _EXCHANGE) == 0:
        return
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        raise EnvironmentRefused(
            f"its file system has no atomic exchange ({os.strerror(number)})",
            where=second,
            remedy="keep the working tree on a local file system such as ext4, xfs, btrfs or tmpfs",
        )
    raise OSError(number, os.strerror(number), second)
