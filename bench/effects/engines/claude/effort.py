"""Whether a session's effort reached the model: what the client asked for, and what the provider was asked for. Pure.

An effort that was dropped on the way makes another measurement than the one that was ordered. Nothing is concluded from what
is not known.
"""

from __future__ import annotations

from collections.abc import Mapping

from bench.effects.gateway import Traffic

ANSWERED = ("ok", "cut")


def sent(asked: str | None, traffic: Traffic) -> Mapping[str, int] | None:
    """Efforts of the client by calls, where the calls did not all ask for the session's."""
    return dict(traffic.efforts) if asked is not None and set(traffic.efforts) - {asked} else None


def dropped(asked: str | None, traffic: Traffic) -> str | None:
    """Who left the effort out, or None where nothing shows that somebody did. A replay asks no provider.

    The client sends none to models that, as it thinks, take none; the gateway's library leaves it out likewise.
    """
    if asked is None or traffic.replayed:
        return None
    if traffic.efforts and set(traffic.efforts) <= {""}:
        return f"the client asked for no effort in any call, and not for {asked}"
    bare = sum(call.get("effort") == "" for call in traffic.calls if call.get("status") in ANSWERED)
    if bare > traffic.efforts.get("", 0):
        return f"the provider was asked without the effort {asked} in {bare} of {len(traffic.calls)} calls"
    return None


def notes(asked: str | None, traffic: Traffic) -> tuple[str, ...]:
    """What a reader must know of efforts that differ from the session's."""
    found = []
    told = sent(asked, traffic)
    if told is not None:
        found.append(f"effort {asked} was not sent by the client with every call: {sorted(told)}")
    others = {str(call["effort"]) for call in traffic.calls if call.get("effort")} - {str(asked)}
    if asked is not None and others and not traffic.replayed:
        found.append(f"effort {asked} was sent to the provider as {', '.join(sorted(others))}")
    return tuple(found)
