"""Loads the pipeline for dodo.py; a bad corpus ends the process with one line and its exit code, not a traceback."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import doit

from bench.effects import console, env
from bench.errors import BenchError
from bench.make import variables
from bench.make.pipeline import Pipeline


def pipeline(dodo: str) -> Pipeline:
    """The pipeline of the workspace that holds this dodo file. Raises SystemExit with the exit code of design section 7."""
    console.tolerate()
    os.umask(0o077)  # what a command writes is for this user alone
    try:
        return Pipeline(Path(dodo).resolve().parent, sys.argv[1:], given())
    except BenchError as error:
        if env.debug():
            raise
        console.say_err(f"error: {error}")
        raise SystemExit(error.exit_code) from None


def given() -> dict[str, Any]:
    """The variables of the command line, which doit has parsed by now. Raises UsageError for an unknown one."""
    from doit import doit_cmd

    found = dict(getattr(doit_cmd, "_CMDLINE_VARS", None) or {})
    variables.refuse_unknown(found)
    return {name: doit.get_var(name) for name in found}
