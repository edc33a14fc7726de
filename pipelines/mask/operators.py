"""What stands in place of a value, and the seal of the vault."""

import base64
import hashlib
import hmac

from pipelines.errors import Code, Rejected
from pipelines.mask.fold import compact
from pipelines.mask.settings import MaskSettings
from schemas.source import MaskOperator

Policy = dict[str, MaskOperator]


def operator_for(kind: str, policy: Policy, settings: MaskSettings) -> MaskOperator:
    """The source's policy, then the settings' operator of the type, then the default."""
    return policy.get(kind) or settings.operators.get(kind) or settings.default


def pseudonym(kind: str, value: str, key: bytes) -> str:
    """`<PERSON_GDK253AB>`: the first 40 bits of HMAC-SHA256 under the knowledge base's key, in base 32 (RFC 4648).

    All written forms of a value give one token; another key gives unrelated tokens.
    """
    mac = hmac.new(key, f"pseudonym|{kind}|{compact(value)}".encode(), hashlib.sha256).digest()
    return f"<{kind}_{base64.b32encode(mac[:5]).decode()}>"


def partly(kind: str, value: str) -> str:
    """`138****0000`: enough to recognise one's own value, too little to learn another's."""
    if kind == "EMAIL":
        return value[0] + "***"
    if kind == "IP":
        return value.split(".")[0] + ".*.*.*"
    if kind == "PERSON":
        first, _, rest = value.partition(" ")
        return f"{first[0]}**" if not rest else f"{first[0]}** {rest[0]}**"
    if kind == "ADDRESS":
        return value[:3] + "****"
    plain = "".join(character for character in value if character.isalnum())
    if kind == "PHONE" and len(plain) >= 11:
        return plain[:-8] + "****" + plain[-4:]
    head, tail = min(3, len(plain) // 4), min(4, len(plain) // 4)
    return plain[:head] + "*" * (len(plain) - head - tail) + plain[len(plain) - tail :]


def replacement(kind: str, value: str, operator: MaskOperator, key: bytes) -> str:
    if operator == "keep":
        return value
    if operator == "replace":
        return f"<{kind}>"
    if operator == "mask":
        return partly(kind, value)
    return pseudonym(kind, value, key)


def _fernet_key(key: bytes) -> bytes:
    """A key of its own purpose, so that seals and pseudonyms share nothing."""
    return base64.urlsafe_b64encode(hmac.new(key, b"vault", hashlib.sha256).digest())


def seal(value: str, key: bytes) -> str:
    """Authenticated encryption (Fernet: AES-128-CBC and HMAC-SHA256) of a value for the vault."""
    from cryptography.fernet import Fernet

    return Fernet(_fernet_key(key)).encrypt(value.encode("utf-8", "surrogatepass")).decode("ascii")


def unseal(sealed: str, key: bytes) -> str:
    """Raises Rejected(PII_UNMASKABLE) when the key is another one or the entry was changed."""
    from cryptography.fernet import Fernet, InvalidToken

    try:
        return Fernet(_fernet_key(key)).decrypt(sealed.encode("ascii")).decode("utf-8", "surrogatepass")
    except (InvalidToken, UnicodeError):
        raise Rejected(Code.PII_UNMASKABLE, "the vault entry does not open with this key") from None
