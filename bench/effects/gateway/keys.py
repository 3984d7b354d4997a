"""Keys for the proxy that we make ourselves: what one says is signed, so that the proxy can read a session's route from it.

A minted key never enters a sandbox: the listener outside puts it in the place of the client's placeholder.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any


def master() -> str:
    """A fresh secret of one proxy."""
    return "sk-" + secrets.token_hex(16)


def mint(secret: str, route: Mapping[str, Any]) -> str:
    """A key for one session. `route`: {session, model, api_base?, api_key?, drop?, priced_as?}, as `plugin` reads it."""
    body = base64.urlsafe_b64encode(json.dumps(dict(route), sort_keys=True).encode()).decode()
    return f"sk-{body}.{hmac.new(secret.encode(), body.encode(), hashlib.sha256).hexdigest()}"


def placeholder() -> str:
    """What a client is given: shaped like a key, worth nothing anywhere but at its own door."""
    return "sk-door-" + secrets.token_hex(12)
