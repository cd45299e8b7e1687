"""Files → Corpus: JSONL, CSV/TSV, Parquet, svmlight/XMC and the authors' .mat, plain or gzip."""

from deplda.readers.files import read_corpus, read_shards
from deplda.readers.mat import read_mat
from deplda.readers.records import CorpusBuilder, Fields
from deplda.readers.writers import write_jsonl, write_svmlight

__all__ = [
    "CorpusBuilder",
    "Fields",
    "read_corpus",
    "read_mat",
    "read_shards",
    "write_jsonl",
    "write_svmlight",
]
