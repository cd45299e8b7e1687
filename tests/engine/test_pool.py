"""What is sent to workers elsewhere: by its content, unpacked once."""

import pickle

import numpy as np

from deplda import Corpus
from deplda.engine.pool import Parcel, unpacked


def test_the_same_content_has_the_same_name() -> None:
    parcel = Parcel.of(divmod, (7,))
    assert parcel == Parcel.of(divmod, (7,))
    assert parcel.name != Parcel.of(divmod, (8,)).name
    assert unpacked(parcel.name, lambda: parcel.data)(2) == (3, 1)


def test_a_parcel_is_unpacked_once_while_it_is_among_the_last() -> None:
    parcels = [Parcel.of(divmod, (number, "pool")) for number in range(3)]
    read = list[int]()

    def unpack(number: int) -> None:
        def data() -> bytes:
            read.append(number)
            return parcels[number].data

        unpacked(parcels[number].name, data)

    for number in (0, 0, 1, 0, 2, 0, 1):
        unpack(number)
    assert read == [0, 1, 2, 1]


def test_a_corpus_is_read_only_wherever_it_goes() -> None:
    news = Corpus([[2, 1], [0, 3]], [[1, 0], [1, 1]])
    again = pickle.loads(pickle.dumps(news))  # noqa: S301
    assert again == news
    assert not again.counts.data.flags.writeable
    assert isinstance(again.counts.data, np.ndarray)
