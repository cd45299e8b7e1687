"""One dot product as 16 sums side by side: fast on any vector unit, and the same bits on all.

A compiler may not reorder additions of floats by itself, and left to reorder them freely it would
round differently on machines of different width. Here the order is fixed: lane l adds the products
at l, l + 16, l + 32, … in turn, and the lanes are added up in a tree.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16


_VECTOR = ir.VectorType(ir.FloatType(), LANES)


def _products(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
    """Return the lanes of matrix[row] · vector, both up to `width`, as one vector of float32."""
    matrix, vector = (context.make_array(kinds[k])(context, builder, arguments[k]) for k in (0, 2))
    row, width = arguments[1], arguments[3]
    first = builder.gep(matrix.data, [builder.mul(row, builder.extract_value(matrix.shape, 1))])

    def load(pointer: Any, at: Any) -> Any:
        place = builder.bitcast(builder.gep(pointer, [at]), _VECTOR.as_pointer())
        return builder.load(place, align=4)

    total = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES))
    steps = builder.sdiv(width, ir.Constant(width.type, LANES))
    with cgutils.for_range(builder, steps) as loop:
        at = builder.mul(loop.index, ir.Constant(width.type, LANES))
        product = builder.fmul(load(first, at), load(vector.data, at))
        builder.store(builder.fadd(builder.load(total), product), total)
    return builder.load(total)


def _store(context: Any, builder: Any, vector: Any, kind: Any, array: Any, at: int) -> None:
    """Store a vector of float32 in an array, from `at` on."""
    data = context.make_array(kind)(context, builder, array).data
    place = builder.gep(data, [ir.Constant(ir.IntType(64), at)])
    builder.store(vector, builder.bitcast(place, vector.type.as_pointer()), align=4)


def _lane_products(
    typing_context: Any, matrix: Any, row: Any, vector: Any, width: Any, sums: Any
) -> Any:
    """Set sums[l] = Σ_j matrix[row, 16 j + l] · vector[16 j + l], all below `width`; float32."""
    signature = types.void(matrix, types.int64, vector, types.int64, sums)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = _products(context, builder, signature.args, arguments)
        _store(context, builder, lanes, signature.args[4], arguments[4], 0)
        return context.get_dummy_value()

    return signature, generate


def _lane_tree(
    typing_context: Any, matrix: Any, row: Any, vector: Any, width: Any, tree: Any
) -> Any:
    """Set tree[16:32] to the lanes' sums, and tree[h + l] = tree[2 h + l] + tree[3 h + l] above.

    h is 8, 4, 2, 1: tree[1] is the whole sum; tree[0] is not used.
    """
    signature = types.void(matrix, types.int64, vector, types.int64, tree)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums = _products(context, builder, signature.args, arguments)
        half = LANES
        while True:
            _store(context, builder, sums, signature.args[4], arguments[4], half)
            if half == 1:
                return context.get_dummy_value()
            half //= 2
            low, high = (
                builder.shuffle_vector(
                    sums, sums, ir.Constant(ir.VectorType(ir.IntType(32), half), list(places))
                )
                for places in (range(half), range(half, 2 * half))
            )
            sums = builder.fadd(low, high)

    return signature, generate


lane_products: Any = intrinsic(_lane_products)
lane_tree: Any = intrinsic(_lane_tree)
