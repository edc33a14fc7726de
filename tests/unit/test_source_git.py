"""Repositories, on disk and behind http."""

import gc
import os
import warnings

import pytest

from pipelines.adapters.remote import Patience
from pipelines.errors import Code, Rejected, SluiceError
from pipelines.wiring import make_reader
from schemas.source import Source
from tests.fakes_sources import GitPlace, GitServerPlace, secrets_of


@pytest.fixture(params=[GitPlace, GitServerPlace])
def place(request, tmp_path):
    made = request.param(tmp_path)
    yield made
    made.close()


@pytest.fixture
def reader(place, tmp_path):
    def make(location=None, **git):
        entry = {**place.entry, "location": location or place.entry["location"], "git": {**place.entry["git"], **git}}
        source = Source(name="s", **entry)
        return make_reader(source, tmp_path, tmp_path / "state", secrets_of(place), Patience(lambda _: None))

    return make


def code_of(one):
    with pytest.raises(SluiceError) as caught:
        list(one.files())
    return caught.value.code


def test_a_token_is_the_content_so_that_a_way_back_is_no_change(place, reader):
    place.write("a", "one")
    (before,) = reader().files()
    place.write("a", "two")
    place.write("a", "one")
    (after,) = reader().files()
    assert before.token == after.token


def test_links_are_followed_inside_and_refused_outside(place, reader, tmp_path):
    os.symlink("a.md", place.root / "inside.md")
    os.symlink("/etc/passwd", place.root / "outside.md")
    place.write("a", "one")
    one = reader()
    found = {file.uri: file.token for file in one.files()}
    assert found["inside.md"] == found["a.md"] and "outside.md" not in found
    assert [(uri, code) for uri, code, _ in one.problems] == [("outside.md", Code.SCAN_OUTSIDE)]


def test_a_folder_and_a_tag_choose(place, reader):
    (place.root / "docs").mkdir()
    place.write("docs/a", "one")
    place._git("tag", "--annotate", "--message=v1", "v1")
    place.write("docs/b", "two")
    assert [file.uri for file in reader(folder="docs", ref="v1").files()] == ["a.md"]
    assert len(list(reader(folder="docs").files())) == 2
    assert code_of(reader(folder="nothing")) is Code.SCAN_SOURCE_GONE
    assert code_of(reader(ref="v2")) is Code.SCAN_SOURCE_GONE


def test_what_git_lfs_keeps_is_refused_alone(place, reader):
    place.write("big", "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 3\n")
    one = reader()
    list(one.files())
    with pytest.raises(Rejected, match="LFS"):
        one.open("big.md")


def test_names_of_any_bytes_are_kept(place, reader):
    place.write("政策 %41", "one")
    with open(os.path.join(os.fsencode(place.root), b"caf\xe9.md"), "w") as file:
        file.write("two")
    place._commit()
    one = reader()
    assert sorted(file.uri for file in one.files()) == ["caf%E9.md", "政策 %41.md"]
    with one.open("caf%E9.md") as stream:
        assert stream.read() == b"two"


@pytest.fixture
def served(tmp_path):
    made = GitServerPlace(tmp_path)
    made.write("a", "one")
    yield made
    made.close()


def mirrored(served, tmp_path, location=None):
    source = Source(name="s", **{**served.entry, "location": location or served.entry["location"]})
    return make_reader(source, tmp_path, tmp_path / "state", secrets_of(served), Patience(lambda _: None))


def test_a_damaged_mirror_is_made_anew(served, tmp_path):
    list(mirrored(served, tmp_path).files())
    (mirror,) = (tmp_path / "state").iterdir()
    for pack in mirror.glob("objects/pack/*"):
        pack.chmod(0o600)
        pack.unlink()
    (file,) = mirrored(served, tmp_path).files()
    assert file.uri == "a.md"


def test_a_repository_that_the_server_does_not_have_is_gone_and_a_dead_server_is_down(served, tmp_path):
    url = served.entry["location"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # dulwich leaves the refused answer open
        assert code_of(mirrored(served, tmp_path, url.replace("kb.git", "no.git"))) is Code.SCAN_SOURCE_GONE
        assert code_of(mirrored(served, tmp_path, "http://127.0.0.1:9/kb.git")) is Code.SCAN_SOURCE_DOWN
        gc.collect()


@pytest.mark.parametrize(("token", "listed"), [("t0ps3cret", True), ("wrong", False), (None, False)])
def test_a_token_opens_a_private_repository(served, tmp_path, token, listed):
    served.password = "t0ps3cret"
    if token:
        served.entry["git"]["token"], served.secrets = "SLUICE_SOURCE_GIT", {"SLUICE_SOURCE_GIT": token}
    one = mirrored(served, tmp_path)
    if listed:
        assert len(list(one.files())) == 1
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        assert code_of(one) is Code.SCAN_SOURCE_DENIED
        gc.collect()


def test_a_folder_without_a_repository_is_gone(tmp_path):
    source = Source(name="s", kind="git", location=str(tmp_path))
    assert code_of(make_reader(source, tmp_path, tmp_path / "state")) is Code.SCAN_SOURCE_GONE
