"""What LiteLLM reads to reach providers whose access is more than one `<PREFIX>_API_KEY`. A table; other variables of the
environment, whatever they are, stay where they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """`ways`: sets of variables, one whole set is enough, the plainest first; `more`: what may be set beside them."""

    ways: tuple[tuple[str, ...], ...]
    more: tuple[str, ...] = ()


_AWS = Access(
    (
        ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        ("AWS_BEARER_TOKEN_BEDROCK",),
        # The proxy's home is its own, where no profile lies.
        ("AWS_PROFILE", "AWS_CONFIG_FILE"),
        ("AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE"),
        ("AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI",),
        ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",),
    ),
    (
        "AWS_SESSION_TOKEN",
        "AWS_REGION_NAME",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ROLE_SESSION_NAME",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        "AWS_BEDROCK_RUNTIME_ENDPOINT",
    ),
)
TABLE: Mapping[str, Access] = {
    "azure": Access(
        (
            ("AZURE_API_KEY", "AZURE_API_BASE"),
            ("AZURE_AD_TOKEN", "AZURE_API_BASE"),
            ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_API_BASE"),
        ),
        ("AZURE_API_VERSION", "AZURE_API_TYPE", "AZURE_SCOPE", "AZURE_AUTHORITY_HOST"),
    ),
    "azure_ai": Access((("AZURE_AI_API_KEY", "AZURE_AI_API_BASE"),), ("AZURE_API_VERSION",)),
    "bedrock": _AWS,
    "cloudflare": Access((("CLOUDFLARE_API_KEY", "CLOUDFLARE_ACCOUNT_ID"), ("CLOUDFLARE_API_KEY", "CLOUDFLARE_API_BASE"))),
    "databricks": Access((("DATABRICKS_API_KEY", "DATABRICKS_API_BASE"),)),
    "fireworks_ai": Access((("FIREWORKS_AI_API_KEY",), ("FIREWORKS_API_KEY",), ("FIREWORKSAI_API_KEY",))),
    "gemini": Access((("GEMINI_API_KEY",), ("GOOGLE_API_KEY",))),
    "huggingface": Access((("HUGGINGFACE_API_KEY",), ("HF_TOKEN",))),
    "perplexity": Access((("PERPLEXITYAI_API_KEY",), ("PERPLEXITY_API_KEY",))),
    "sagemaker": _AWS,
    "together_ai": Access((("TOGETHERAI_API_KEY",), ("TOGETHER_AI_API_KEY",), ("TOGETHER_API_KEY",))),
    "vertex_ai": Access(
        (("VERTEXAI_PROJECT", "VERTEXAI_LOCATION"),), ("VERTEXAI_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS")
    ),
}
"""Provider, as LiteLLM's prefix → its access."""
VARIABLES = frozenset(name for access in TABLE.values() for name in (*(n for way in access.ways for n in way), *access.more))
