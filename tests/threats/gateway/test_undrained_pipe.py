"""Reference failure 23: the proxy was given a pipe that nobody read, and hung after 64 KiB of log."""

from __future__ import annotations

from collections.abc import Callable

from bench.effects.gateway.process import TAIL_BYTES, Proxy


def test_a_talkative_proxy_starts_and_its_log_is_kept_in_a_file(stand_in: Callable[[str], str]):
    proxy = Proxy({}, program=stand_in("sys.stdout.write('out' * 400_000); sys.stderr.write('err' * 400_000)"))
    try:
        assert proxy.running
        assert proxy.log.stat().st_size >= 2_400_000
        assert len(proxy.tail().encode()) <= TAIL_BYTES
    finally:
        proxy.close()


def test_its_standard_input_is_empty(stand_in: Callable[[str], str]):
    proxy = Proxy({}, program=stand_in("print('read', repr(sys.stdin.read()), flush=True)"))
    try:
        assert "read ''" in proxy.tail()
    finally:
        proxy.close()
