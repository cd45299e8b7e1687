"""Compile, into Numba's cache, the kernels that most tests use: once, not in each test process.

``python -m tests.warm sampled`` and ``… expected`` compile a half each, and can run side by side.
"""

import sys
import warnings

from deplda.models.precompile import precompile_expected, precompile_sampled

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"sampled": precompile_sampled, "expected": precompile_expected}[sys.argv[1]]()
