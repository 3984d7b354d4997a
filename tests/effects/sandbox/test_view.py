"""What the inside looks like."""

from __future__ import annotations

import os
from pathlib import Path

from bench.effects.sandbox import view


def test_nothing_made_up_names_this_host_or_user() -> None:
    words = {word for data in view.ETC.values() for word in data.decode().replace(":", " ").split()}
    assert os.uname().nodename not in words - {"localhost", "sandbox"}
    assert Path.home().name not in words - {"root", "agent"}


def test_no_directory_of_the_host_that_may_hold_keys_is_shown() -> None:
    assert view.ETC_FROM_HOST == ("alternatives",)
    bundle = view.certificates()
    assert bundle is None or bundle.is_file()


def test_system_directories_are_those_of_this_machine() -> None:
    assert view.system_folders()[0] == "/usr"
    assert {path for path, _text in view.system_links()} | set(view.system_folders()) >= {"/usr", "/bin", "/lib"}
