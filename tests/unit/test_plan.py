"""What a listing means for the registry."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.scan import plan as planning
from pipelines.scan.plan import Known, breaker, hash_stream
from schemas.source import Source, SourceFile


def file(uri, token="t"):
    return SourceFile(uri=uri, token=token, size=1, modified=0.0)


def known(**contents):
    return {uri: Known(document=f"doc-{uri}", sha256=sha) for uri, sha in contents.items()}


def plan(before, *arguments, **options):
    """`before`: what the registry has by uri, all under the token `t`."""
    return planning.plan(dict.fromkeys(before, "t"), before.__getitem__, *arguments, **options)


def never(uri):
    raise AssertionError(f"opened {uri}")


def uris(found):
    return [one.file.uri for one in found]


def test_unchanged_files_are_not_opened():
    made = plan(known(a="1", b="2"), [file("a"), file("b")], never)
    assert (made.unchanged, made.opened, made.hashed, made.seen) == (2, 0, 0, 2)


def test_each_kind_of_difference_is_told_apart():
    before = known(same="1", edited="2", touched="3", old="4", gone="5")
    listed = [file("same"), file("edited", "u"), file("touched", "u"), file("renamed", "u"), file("fresh", "u")]
    made = plan(before, listed, {"edited": "2b", "touched": "3", "renamed": "4", "fresh": "6"}.__getitem__)
    assert uris(made.new) == ["fresh"]
    assert uris(made.changed) == ["edited"]
    assert uris(made.touched) == ["touched"]
    assert [(one.before, one.file.uri, one.document) for one in made.renamed] == [("old", "renamed", "doc-old")]
    assert made.removed == ("gone",)
    assert (made.unchanged, made.opened, made.hashed) == (1, 4, 4)


def test_a_moved_file_keeps_its_own_document_among_equal_ones():
    before = known(**{"x/a": "1", "x/b": "1"})
    made = plan(before, [file("y/b"), file("y/a")], lambda _: "1")
    assert {(one.before, one.file.uri) for one in made.renamed} == {("x/a", "y/a"), ("x/b", "y/b")}


def test_a_copy_is_a_new_document():
    made = plan(known(a="1"), [file("a"), file("b")], lambda _: "1")
    assert uris(made.new) == ["b"]
    assert made.renamed == made.removed == ()


def test_what_cannot_be_read_now_stays_as_it_is():
    made = plan(known(a="1"), [file("a", "u"), file("b")], lambda _: "")
    assert made.unreadable == ("a", "b")
    assert made.new == made.changed == made.removed == ()
    assert (made.opened, made.hashed) == (2, 0)


def test_documents_below_a_folder_with_a_problem_are_not_removed():
    made = plan(known(**{"shut/a": "1", "b": "2", "c": "3"}), [file("c")], never, held=lambda: ["shut/"])
    assert made.removed == ("b",)
    assert made.held == 1


@pytest.mark.parametrize(
    ("before", "left", "held", "kind"),
    [
        (10, 8, (), None),
        (10, 7, (), "deleted"),
        (10, 0, (), "empty"),
        (1000, 951, (), None),
        (1000, 949, (), "deleted"),
        (10, 5, ("n9",), "permission_lost"),
        (0, 0, (), None),
    ],
)
def test_the_breaker_trips_on_share_number_and_emptiness(before, left, held, kind):
    registry = known(**{f"n{number}": str(number) for number in range(before)})
    made = plan(registry, [file(f"n{number}") for number in range(left)], never, held=lambda: held)
    trip = breaker(made, Source(name="s", location="x"))
    assert (trip and trip.kind) == kind
    if trip:
        assert trip.would_remove == len(made.removed)
        assert str(trip.would_remove) in trip.reason


contents = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("123"))


@given(contents, contents)
def test_every_file_and_every_document_has_exactly_one_fate(before, now):
    listed = [file(uri, sha) for uri, sha in now.items()]
    made = planning.plan(before, lambda uri: Known(uri, before[uri]), listed, now.__getitem__)
    fates = uris([*made.new, *made.changed, *made.touched, *made.renamed])
    assert len(fates) + made.unchanged == len(set(fates)) + made.unchanged == len(now)
    moved = [one.before for one in made.renamed]
    assert sorted([*moved, *made.removed]) == sorted(set(before) - set(now))
    assert all(before[one.before] == one.sha256 for one in made.renamed)


def test_a_stream_is_hashed_and_copied_on_its_way():
    copy = io.BytesIO()
    assert hash_stream(io.BytesIO(b"abc"), copy).startswith("ba7816bf")
    assert copy.getvalue() == b"abc"
