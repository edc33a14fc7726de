"""What an entry of sources.yaml may say."""

import pytest
from pydantic import ValidationError

from pipelines.errors import Code, Misconfigured
from pipelines.settings import secret
from schemas.source import Source


def entry(**more):
    return Source(name="s", **more)


@pytest.mark.parametrize(
    "more",
    [
        {"kind": "folder", "location": "kb", "git": {}},
        {"kind": "git", "location": "x", "http": {}},
        {"kind": "sql", "location": "t"},
        {"kind": "sql", "location": "t", "sql": {"url": "mysql://u:pw@h/d", "key": "id"}},
        {"kind": "sql", "location": "t", "sql": {"url": "SLUICE_SECRET_KEY", "key": "id"}},
        {"kind": "http", "location": "ftp://x/y"},
        {"kind": "http", "location": "https://user:pw@x/y"},
        {"kind": "http", "location": "https://x", "http": {"sitemap": True, "pages": ["a"]}},
        {"kind": "http", "location": "https://x", "http": {"headers": {"Authorization": "Bearer abc"}}},
        {"kind": "git", "location": "https://user:pw@x/y.git"},
        {"kind": "s3", "location": "bucket/prefix"},
        {"kind": "s3", "location": "file:///etc"},
        {"kind": "s3", "location": "simplecache::s3://bucket"},
        {"kind": "s3", "location": "s3://b", "s3": {"secret": "wJalrXUtnFEMI"}},
        {"kind": "ftp", "location": "x"},
    ],
)
def test_a_wrong_entry_is_refused(more):
    with pytest.raises(ValidationError):
        entry(**more)


@pytest.mark.parametrize(
    "more",
    [
        {"location": "kb"},
        {"kind": "git", "location": "git@host:team/kb.git"},
        {"kind": "git", "location": "../repository"},
        {"kind": "s3", "location": "s3://bucket/a/b"},
        {"kind": "http", "location": "http://127.0.0.1:8000/a?b=c"},
        {"kind": "sql", "location": "hr.faq", "sql": {"url": "SLUICE_SOURCE_DB", "key": "id"}},
    ],
)
def test_a_right_entry_survives_the_registry(more):
    assert Source.model_validate(entry(**more).model_dump(mode="json")) == entry(**more)


def test_a_secret_comes_from_the_environment_and_is_not_shown(monkeypatch):
    monkeypatch.setenv("SLUICE_SOURCE_X", "t0ps3cret")
    assert secret("SLUICE_SOURCE_X").get_secret_value() == "t0ps3cret" and "t0ps" not in repr(secret("SLUICE_SOURCE_X"))
    monkeypatch.delenv("SLUICE_SOURCE_X")
    with pytest.raises(Misconfigured, match="SLUICE_SOURCE_X") as caught:
        secret("SLUICE_SOURCE_X")
    assert caught.value.code is Code.BAD_SETTING
