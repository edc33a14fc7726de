"""Every reader of sources keeps the same promises, over a real place each."""

import pytest

from pipelines.adapters.remote import Patience
from pipelines.errors import Code, Misconfigured, Rejected
from pipelines.wiring import make_reader
from schemas.source import Source
from tests.fakes_sources import PLACES, secrets_of

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
REMOTE = sorted(set(PLACES) - {"folder"})


@pytest.fixture(params=sorted(PLACES))
def place(request, tmp_path):
    made = PLACES[request.param](tmp_path)
    for name in NAMES:
        made.write(name, f"# {name}\n\nThis is the text of {name}.\n")
    yield made
    made.close()


@pytest.fixture
def reader(place, tmp_path):
    def make(**more):
        source = Source(name="s", **{**place.entry, **more})
        return make_reader(source, tmp_path, tmp_path / "state", secrets_of(place), Patience(lambda _: None))

    return make


def content(one, uri):
    with one.open(uri) as stream:
        return stream.read().decode()


def tokens(one):
    return {file.uri: file.token for file in one.files()}


def test_every_item_is_listed_once(place, reader):
    assert sorted(file.uri for file in reader().files()) == sorted(map(place.uri, NAMES))


def test_what_is_listed_opens_with_its_content(place, reader):
    one = reader()
    assert len(tokens(one)) == len(NAMES) and not one.problems
    assert all(f"This is the text of {name}." in content(one, place.uri(name)) for name in NAMES)


def test_it_also_opens_while_it_is_listed(place, reader):
    one = reader()
    texts = {file.uri: content(one, file.uri) for file in one.files()}
    assert all(f"text of {name}." in texts[place.uri(name)] for name in NAMES)


def test_tokens_stay_over_readers_while_nothing_changes(reader):
    assert tokens(reader()) == tokens(reader())


def test_tokens_fit_the_registry(reader):
    assert all(0 < len(token) <= 128 for token in tokens(reader()).values())


def test_only_the_token_of_what_changed_changes(place, reader):
    before = tokens(reader())
    place.write("beta", "# beta\n\nThis is another text of beta, and longer.\n")
    after = tokens(reader())
    assert {uri for uri in after if after[uri] != before[uri]} == {place.uri("beta")}


def test_what_is_gone_is_not_listed(place, reader):
    before = tokens(reader())
    place.remove("gamma")
    assert before.keys() - tokens(reader()).keys() == {place.uri("gamma")}


def test_globs_choose(place, reader):
    assert sorted(tokens(reader(include=("*alpha*", "*beta*"), exclude=("*beta*",)))) == [place.uri("alpha")]


def test_a_source_that_is_not_there_says_so(place, reader):
    place.vanish()
    with pytest.raises(Misconfigured) as caught:
        tokens(reader())
    assert caught.value.code is Code.SCAN_SOURCE_GONE


def test_an_item_that_was_never_listed_is_refused(reader):
    one = reader()
    tokens(one)
    for uri in ("../../etc/passwd", "nothing.md"):
        with pytest.raises(Rejected):
            one.open(uri)


def test_too_large_an_item_is_refused_alone(place, reader):
    place.write("beta", "# beta\n\n" + "many words and more of them\n" * 50_000)
    one = reader(max_megabytes=1)
    tokens(one)
    with pytest.raises(Rejected) as caught:
        one.open(place.uri("beta"))
    assert caught.value.code is Code.SCAN_TOO_LARGE
    assert "text of alpha" in content(one, place.uri("alpha"))
