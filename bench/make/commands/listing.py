"""`doit list` and `doit info` are doit's own, with errors told our way."""

from __future__ import annotations

from doit.cmd_info import Info as DoitInfo
from doit.cmd_list import List as DoitList

from bench.make.commands.base import Guarded


class List(Guarded, DoitList):
    """Groups with a line of help; every step with `--all`."""


class Info(Guarded, DoitInfo):
    """What doit knows of one step."""
