from io import BytesIO

import pyarrow
import pyarrow.parquet
import pytest

from deplda.data.readers.footer import row_groups


def parquet() -> BytesIO:
    table = pyarrow.table(
        {
            "id": [f"d{n}" for n in range(300)],
            "n": pyarrow.array(range(300), pyarrow.int64()),
            "labels": [["x", "y"]] * 300,
            "counts": pyarrow.array(
                [[("a", 1.5)]] * 300, pyarrow.map_(pyarrow.string(), pyarrow.float64())
            ),
        }
    )
    buffer = BytesIO()
    pyarrow.parquet.write_table(table, buffer, row_group_size=20, write_page_index=True)
    return buffer


def test_it_says_what_pyarrow_says_of_a_good_file() -> None:
    buffer = parquet()
    metadata = pyarrow.parquet.ParquetFile(buffer).metadata
    found = row_groups(buffer)
    assert [group.n_rows for group in found] == [20] * 15
    for number, group in enumerate(found):
        theirs = metadata.row_group(number)
        columns = [theirs.column(place) for place in range(theirs.num_columns)]
        assert group.columns == [
            (each.path_in_schema, each.num_values, each.total_uncompressed_size) for each in columns
        ]


def test_a_damaged_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="damaged"):
        row_groups(BytesIO(bytes(100)))
    with pytest.raises(ValueError, match="damaged"):
        row_groups(BytesIO(b"\x19" * 92 + (92).to_bytes(4, "little") + b"PAR1"))
    with pytest.raises(ValueError, match="more than 64 bits"):
        row_groups(BytesIO(b"\x15" + b"\xff" * 91 + (92).to_bytes(4, "little") + b"PAR1"))
    with pytest.raises(ValueError, match="kind 15"):
        row_groups(BytesIO(b"\x1f" * 92 + (92).to_bytes(4, "little") + b"PAR1"))
