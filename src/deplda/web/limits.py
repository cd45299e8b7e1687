"""How much one client may ask for, and how much the service takes on at once."""

from __future__ import annotations

from dataclasses import dataclass, fields

from deplda.errors import InputError


@dataclass(frozen=True, slots=True)
class Limits:
    """What is rejected with a 4xx answer, and when the service says that it is busy (503).

    Parameters
    ----------
    body_bytes : int
        Of a request, and of a line of a stream.
    large_body_bytes : int
        Maximum size of a request of Annif's API or Label Studio, and of a file to be read.
    stream_bytes : int
        Maximum size of the lines of a stream that wait for the model, and of its answers that wait
        for the client.
    held_bytes : int
        Maximum size of all request bodies and streams held in memory, in each process. If there
        are more, the client that has kept the service waiting longest is disconnected.
    documents, file_documents : int
        In one request, and in a file to be read.
    characters : int
        Of one text; of a longer one in the manner of Annif, so many are read.
    words, tokens : int
        Different words of a document given as counts; tokens that the model knows of any document.
    labels, explained : int
        Labels suggested, and labels explained, for one document.
    learned : int
        Documents to learn from in one request.
    learn_bytes : int
        Of a file of documents to learn from; a document that would make it larger is answered 507.
    page : int
        Labels or topics on one page of a list.
    waiting : int
        Requests that wait for a thread; the next one is answered 503.
    seconds : float
        From a request's body to its answer; then it is answered 503.
    reading_seconds : float
        In which a client has to send its request, from the first byte to the last; then it is
        answered 408, or hung up on if it has not come to the end of the headers. Of a stream, in
        which it has to send the next line, while one can be taken; then the stream ends.
    sending_seconds : float
        In which a client has to take what is written to it; then it is hung up on.
    idle_seconds : float
        From an answer to the next request's first byte; then the connection is closed.
    connections : int
        Maximum number of connections, in each process. If there are more, the client that has kept
        the service waiting longest is disconnected. Clients whose request is being answered stay.
    """

    body_bytes: int = 4 << 20
    large_body_bytes: int = 20 << 20
    stream_bytes: int = 4 << 20
    held_bytes: int = 256 << 20
    documents: int = 32
    file_documents: int = 10_000
    characters: int = 200_000
    words: int = 20_000
    tokens: int = 200_000
    labels: int = 1_000
    explained: int = 30
    learned: int = 1_000
    learn_bytes: int = 1 << 30
    page: int = 500
    waiting: int = 64
    seconds: float = 30.0
    reading_seconds: float = 15.0
    sending_seconds: float = 30.0
    idle_seconds: float = 5.0
    connections: int = 1_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name == "waiting" else 1
            if isinstance(value, bool) or not isinstance(value, int | float) or value < least:
                raise InputError(f"{field.name} is {value!r}; it must be a number from {least}")
        if self.held_bytes < self.large_body_bytes:
            raise InputError(
                f"held_bytes is {self.held_bytes}; it must be at least large_body_bytes, "
                f"{self.large_body_bytes}"
            )
