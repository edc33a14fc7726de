"""Every artifact store behaves alike."""

import uuid

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.adapters.artifacts import FolderArtifacts, FsspecArtifacts


@pytest.fixture(params=["folder", "memory", "file"])
def store(request, tmp_path):
    if request.param == "folder":
        return FolderArtifacts(tmp_path / "store")
    if request.param == "memory":
        return FsspecArtifacts(f"memory://{uuid.uuid4().hex}")
    return FsspecArtifacts(f"file://{tmp_path}/remote")


def test_what_is_put_is_got(store):
    store.put("facts/ab/abc.json", b"{}")
    assert store.get("facts/ab/abc.json") == b"{}"
    assert store.exists("facts/ab/abc.json")
    assert not store.exists("facts/ab")


def test_a_second_put_changes_nothing(store):
    store.put("facts/a", b"first")
    store.put("facts/a", b"second")
    assert store.get("facts/a") == b"first"


def test_what_is_missing_is_a_key_error(store):
    assert not store.exists("facts/none")
    with pytest.raises(KeyError):
        store.get("facts/none")
    with pytest.raises(KeyError), store.local("facts/none"):
        pass


def test_files_go_in_and_come_out_as_files(store, tmp_path):
    source = tmp_path / "in.bin"
    source.write_bytes(b"x" * 3_000_000)
    store.put_file("raw/file/x", source)
    with store.local("raw/file/x") as path:
        assert path.read_bytes() == source.read_bytes()


def test_keys_are_listed_by_prefix(store):
    for key in ("facts/ab/abc", "facts/ab/abd", "facts/b", "vectors/ab/abc"):
        store.put(key, b"1")
    assert sorted(store.keys("facts/ab/")) == ["facts/ab/abc", "facts/ab/abd"]
    assert sorted(store.keys("facts/ab/abc")) == ["facts/ab/abc"]
    assert sorted(store.keys("")) == ["facts/ab/abc", "facts/ab/abd", "facts/b", "vectors/ab/abc"]
    assert list(store.keys("figures/")) == []


def test_deleting_is_final_and_harmless_twice(store):
    store.put("facts/a", b"1")
    store.delete(["facts/a", "facts/never"])
    store.delete(["facts/a"])
    assert not store.exists("facts/a")
    store.put("facts/a", b"2")
    assert store.get("facts/a") == b"2"


@pytest.mark.parametrize("key", ["../a", "/etc/passwd", "facts/../../a", "facts//a", "", "facts/.", "a\\b"])
def test_a_key_cannot_leave_the_store(store, key):
    with pytest.raises(ValueError, match="artifact key"):
        store.put(key, b"")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_survive(store, data):
    key = f"facts/{uuid.uuid4().hex}"
    store.put(key, data)
    assert store.get(key) == data


def test_a_failed_write_leaves_nothing(tmp_path):
    store = FolderArtifacts(tmp_path)
    with pytest.raises(FileNotFoundError):
        store.put_file("facts/a", tmp_path / "gone")
    assert list(store.keys("")) == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_only_the_owner_enters_the_raw_zone(tmp_path):
    FolderArtifacts(tmp_path).put("raw/file/a", b"x")
    assert (tmp_path / "raw").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "raw/file/a").stat().st_mode & 0o077 == 0
