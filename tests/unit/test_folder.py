"""The local folder as a source."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.adapters.folder import FolderReader, decode_name, encode_name
from pipelines.adapters.selection import glob_pattern
from pipelines.errors import Code, Misconfigured, Rejected
from schemas.source import Source, SourceFile


def reader(root, **more):
    return FolderReader(Source(name="s", location=str(root), **more), Path("/nowhere"))


def listing(one):
    return sorted(file.uri for file in one.files())


def write(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def test_files_are_listed_with_slashes_and_open_again(tmp_path):
    write(tmp_path, "a.md", "政策/报销.md")
    one = reader(tmp_path)
    assert listing(one) == ["a.md", "政策/报销.md"]
    with one.open("政策/报销.md") as stream:
        assert stream.read().decode() == "政策/报销.md"
    assert one.problems == ()


def test_a_relative_location_starts_at_the_base(tmp_path):
    write(tmp_path, "kb/a.md")
    assert listing(FolderReader(Source(name="s", location="kb"), tmp_path)) == ["a.md"]


def test_listing_opens_no_file(tmp_path, monkeypatch):
    write(tmp_path, "a.md", "b/c.md")
    monkeypatch.setattr("builtins.open", lambda *_: pytest.fail("opened"))
    assert len(listing(reader(tmp_path))) == 2


def test_the_token_changes_with_content_time_and_file(tmp_path):
    write(tmp_path, "a.md")
    (before,) = reader(tmp_path).files()
    (again,) = reader(tmp_path).files()
    os.utime(tmp_path / "a.md", (1, 1))
    (after,) = reader(tmp_path).files()
    assert before == again
    assert before.token != after.token


@pytest.mark.parametrize(
    ("glob", "fits", "fails"),
    [
        ("*.md", ["a.md", "x/y/a.md"], ["a.mdx", "a.md/b"]),
        ("drafts/**", ["drafts/a", "drafts/x/a"], ["a/drafts/b", "drafts2/a"]),
        ("drafts/", ["x/drafts/a", "drafts/a"], ["drafts"]),
        ("a/*.md", ["a/b.md"], ["a/b/c.md"]),
        ("a/**/c.md", ["a/c.md", "a/b/c.md"], ["c.md"]),
        ("[!a].md", ["b.md"], ["a.md"]),
        ("报?.md", ["报销.md"], ["报.md"]),
    ],
)
def test_globs_read_as_people_write_them(glob, fits, fails):
    pattern = glob_pattern(glob)
    assert [uri for uri in fits + fails if pattern.fullmatch(uri)] == fits


def test_include_and_exclude_choose_files(tmp_path):
    write(tmp_path, "a.md", "b.txt", "drafts/c.md")
    assert listing(reader(tmp_path, include=("*.md",), exclude=("drafts/**",))) == ["a.md"]


def test_links_inside_are_followed_and_others_become_problems(tmp_path):
    root = tmp_path / "root"
    write(root, "a/b.md")
    write(tmp_path, "secret.md")
    (root / "out").symlink_to(tmp_path)
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "a" / "up").symlink_to(root)
    (root / "self").symlink_to("self")
    (root / "dead").symlink_to("gone")
    (root / "also").symlink_to("a")
    (root / "same.md").symlink_to("a/b.md")
    one = reader(root)
    assert listing(one) == ["a/b.md", "also/b.md", "same.md"]
    assert {(uri, code) for uri, code, _ in one.problems} == {
        ("out", Code.SCAN_OUTSIDE),
        ("out.md", Code.SCAN_OUTSIDE),
        ("a/up", Code.SCAN_LOOP),
        ("also/up", Code.SCAN_LOOP),
        ("self", Code.SCAN_LOOP),
        ("dead", Code.SCAN_UNREADABLE),
    }


@pytest.mark.parametrize("uri", ["../secret.md", "out.md", "/etc/passwd/../../etc/passwd"])
def test_nothing_outside_can_be_opened(tmp_path, uri):
    root = tmp_path / "root"
    write(root, "a.md")
    write(tmp_path, "secret.md")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(Rejected):
        reader(root).open(uri)


def test_a_name_in_gbk_bytes_is_kept_and_opens(tmp_path):
    raw = os.fsencode(tmp_path) + b"/" + "报销".encode("gbk") + b".txt"
    with open(raw, "wb") as stream:
        stream.write(b"x")
    one = reader(tmp_path)
    (uri,) = listing(one)
    assert uri == "%B1%A8%CF%FA.txt"
    with one.open(uri) as stream:
        assert stream.read() == b"x"
    assert [(where, code) for where, code, _ in one.problems] == [(uri, Code.SCAN_BAD_NAME)]


@given(st.binary(min_size=1, max_size=20).filter(lambda name: b"/" not in name and b"\0" not in name))
def test_every_name_survives_its_uri(raw):
    name = os.fsdecode(raw)
    encode_name(name).encode("utf-8")
    assert decode_name(encode_name(name)) == name


def test_a_pipe_is_a_problem_and_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    one = reader(tmp_path)
    assert listing(one) == []
    assert one.problems[0][1] is Code.SCAN_UNREADABLE
    with pytest.raises(Rejected, match="regular"):
        one.open("pipe")


def test_a_missing_source_stops_with_its_code(tmp_path):
    write(tmp_path, "file")
    for place in ("gone", "file"):
        with pytest.raises(Misconfigured) as caught:
            listing(reader(tmp_path / place))
        assert caught.value.code is Code.SCAN_SOURCE_GONE


def test_a_denied_source_or_folder_has_its_own_code(tmp_path, monkeypatch):
    write(tmp_path, "a.md", "shut/b.md")
    scandir = os.scandir

    def deny(path):
        if str(path).endswith(denied):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", deny)
    denied = "shut"
    one = reader(tmp_path)
    assert listing(one) == ["a.md"]
    assert one.problems == (("shut/", Code.SCAN_UNREADABLE, "Permission denied"),)
    denied = tmp_path.name
    with pytest.raises(Misconfigured) as caught:
        listing(reader(tmp_path))
    assert caught.value.code is Code.SCAN_SOURCE_DENIED


def test_a_listed_file_is_a_plain_value(tmp_path):
    write(tmp_path, "政策.md")
    (found,) = reader(tmp_path).files()
    assert found.uri == "政策.md" and found == SourceFile(*found)
    with pytest.raises(AttributeError):
        found.uri = "x"
