"""The numerical code is compiled before its first use."""

from deplda.kernels.compilation import cache_folder
from tests.cli.running import done


def test_compiled_code_is_where_the_command_says() -> None:
    assert done("warm-up") == f"The compiled code is in {cache_folder()}.\n"
    assert [*cache_folder().glob("fast.sample*.nbi")]
