"""Documents with what else is known of them: vectors, and suggestions of other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from deplda.data.corpus import Corpus
from deplda.errors import InputError


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents with further information on each: ids, embeddings, experts; X for `HybridLDA`.

    Parameters
    ----------
    X : texts, counts or a Corpus
    ids : sequence of str, optional
        The documents' names, by which suggestions in files are found; by default those of the
        Corpus, or else the rows' numbers.
    embeddings : (documents, dimensions) array, optional
        A vector for each document, of any encoder.
    experts : mapping of str to an expert, optional
        Suggestions of the programs that the model was fitted with, by the same names: files,
        `Suggestions`, or objects with ``rank`` (see `HybridLDA`).

    Examples
    --------
    >>> import deplda
    >>> given = deplda.Documents(["The judge heard the coach."], ids=["d1"])
    >>> given.ids  # by which an expert's suggestions are found
    ['d1']
    """

    X: Any
    _: KW_ONLY
    ids: Sequence[str] | None = None
    embeddings: Any = None
    experts: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, X: Any) -> Documents:
        """Return X as documents, of which nothing else is known unless it says so."""
        return X if isinstance(X, cls) else cls(X)


def ids_of(documents: Documents, n: int) -> Sequence[str]:
    """Return the names of documents: as given, of their corpus, or the rows' numbers."""
    found = documents.ids
    if found is None:
        found = documents.X.ids if isinstance(documents.X, Corpus) else [str(i) for i in range(n)]
    if len(found) != n:
        raise InputError(f"there are {len(found):,} ids for {n:,} documents; give one for each")
    return found
