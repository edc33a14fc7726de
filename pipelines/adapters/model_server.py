"""The connection to OpenAI-compatible model servers, and what their failures mean."""

from typing import Any

from pydantic import SecretStr

from pipelines.errors import Code, Misconfigured, Rejected, SluiceError, Transient

KEY_REFUSED = frozenset({401, 403})
BUSY = frozenset({408, 409, 429})


def connect(base_url: str, api_key: SecretStr, timeout_seconds: float) -> Any:
    """A client that waits as Retry-After says, else with growing pauses, on 408, 409, 429 and 5xx."""
    from openai import OpenAI

    key = api_key.get_secret_value() or "none"
    return OpenAI(base_url=base_url, api_key=key, timeout=timeout_seconds, max_retries=2)


def translated(error: Exception, server: str, refused: Code) -> SluiceError:
    """The error of ours for one of the SDK's; `refused` is the code when the server does not take the request."""
    import openai

    if isinstance(error, openai.APIConnectionError):
        return Transient(Code.MODEL_DOWN, f"{server} does not answer: {error}")
    if not isinstance(error, openai.APIStatusError):
        return Rejected(refused, f"the answer of {server} cannot be read: {error}"[:500])
    status = error.status_code
    if status in KEY_REFUSED:
        return Misconfigured(Code.BAD_SETTING, f"{server} refuses the key (HTTP {status})")
    if status in BUSY or status >= 500:
        return Transient(Code.MODEL_DOWN, f"{server} is busy or down (HTTP {status})")
    return Rejected(refused, f"{server} refuses the request (HTTP {status}): {error.message}"[:500])
