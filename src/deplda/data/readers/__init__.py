"""Files → Corpus: JSON, CSV/TSV, .xlsx, Parquet, svmlight/XMC, Annif's, texts; or gzip."""

from deplda.data.fields import Fields, Where
from deplda.data.readers.annif_writers import write_annif
from deplda.data.readers.corpora import (
    first_documents,
    kept_counted,
    kept_words,
    language_in,
    read_corpus,
    read_counted,
    read_records,
    read_shards,
    separator_in,
)
from deplda.data.readers.named_rows import Written, fields_in, read_rows, read_settled
from deplda.data.readers.records import (
    CorpusBuilder,
    Record,
    Row,
    counts_in,
    id_in,
    plain_row,
)
from deplda.data.readers.sniffing import Format, guess_format
from deplda.data.readers.writers import rows_of, write_jsonl, write_rows, write_svmlight

__all__ = [
    "CorpusBuilder",
    "Fields",
    "Format",
    "Record",
    "Row",
    "Where",
    "Written",
    "counts_in",
    "fields_in",
    "first_documents",
    "guess_format",
    "id_in",
    "kept_counted",
    "kept_words",
    "language_in",
    "plain_row",
    "read_corpus",
    "read_counted",
    "read_records",
    "read_rows",
    "read_settled",
    "read_shards",
    "rows_of",
    "separator_in",
    "write_annif",
    "write_jsonl",
    "write_rows",
    "write_svmlight",
]
