"""What tests of sources ask of a reader: the text of one item, and the code of what a call refuses."""

from collections.abc import Callable

import pytest

from pipelines.errors import Code, SluiceError
from pipelines.ports import SourceReader


def read(one: SourceReader, uri: str) -> str:
    with one.open(uri) as stream:
        return stream.read().decode()


def code_of(call: Callable[[], object]) -> Code:
    with pytest.raises(SluiceError) as caught:
        call()
    return caught.value.code
