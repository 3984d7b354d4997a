"""Step `runtime`: what an engine's sessions run on, in so far as it can reach their result.

params {engine, protocol, sandbox, binary? | missing?} → body {engine, version, digest, protocol, sandbox}; notes {litellm,
bubblewrap, kernel} are facts of this machine, sealed but in no consumer's key. An engine of ours has no binary: its version
is its protocol. An installed client is keyed on its program: another program is another runtime, with sessions of its own.
"""

from __future__ import annotations

from bench.effects import engines, sandbox, versions
from bench.effects.context import Context, Job, Made
from bench.effects.sandbox import runner
from bench.errors import CorpusError, StepFailed

KIND = "runtime"


def make(job: Job, context: Context) -> Made:
    """Compare what the key was made for with what is installed, and record it."""
    name = str(job.params["engine"])
    if name not in engines.ENGINES:
        known = ", ".join(sorted(engines.ENGINES))
        raise CorpusError(f"there is no engine {name!r}", where=job.name, remedy=f"known: {known}")
    engine = engines.create(name)
    protocol = engine.protocol
    _same("engine protocol", job.params["protocol"], protocol)
    _same("sandbox protocol", job.params["sandbox"], sandbox.PROTOCOL)
    version = engine.version(lambda spec: runner.run(spec, cancel=context.cancel))
    binary = engine.identity().get("binary")
    _same("binary", job.params.get("binary"), binary)
    body = {"engine": name, "version": version, "digest": binary, "protocol": protocol, "sandbox": sandbox.PROTOCOL}
    notes = versions.recorded()
    context.log(f"{name}: " + ", ".join(f"{part} {version}" for part, version in sorted(notes.items())))
    return Made(body=body, notes=notes)


def _same(part: str, keyed: object, actual: object) -> None:
    if keyed != actual:
        raise StepFailed(f"the key was made for {part} {keyed}, installed is {actual}", remedy="run doit again")
