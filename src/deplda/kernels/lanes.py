"""One dot product as 16 sums side by side: fast on any vector unit, and the same bits on all.

A compiler may not reorder additions of floats by itself, and left to reorder them freely it would
round differently on machines of different width. Here the order is fixed: lane l adds the products
at l, l + 16, l + 32, … in turn; lanes are added up by halves, or as running sums that double their
reach in each step.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
ROWS = 4

_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_ZEROS = ir.Constant(_VECTOR, [0.0] * LANES)


def _products(context: Any, builder: Any, kinds: Any, arguments: Any, n_rows: int) -> list[Any]:
    """Return the lanes of matrix[row + k] · vector below `width`, a float32 vector for each k."""
    matrix, vector = (context.make_array(kinds[k])(context, builder, arguments[k]) for k in (0, 2))
    row, width = arguments[1], arguments[3]
    stride = builder.extract_value(matrix.shape, 1)

    def number(value: int) -> Any:
        return ir.Constant(width.type, value)

    def load(pointer: Any, at: Any) -> Any:
        place = builder.bitcast(builder.gep(pointer, [at]), _VECTOR.as_pointer())
        return builder.load(place, align=4)

    rows = [
        builder.gep(matrix.data, [builder.mul(builder.add(row, number(k)), stride)])
        for k in range(n_rows)
    ]
    totals = [cgutils.alloca_once_value(builder, _ZEROS) for _ in rows]
    with cgutils.for_range(builder, builder.sdiv(width, number(LANES))) as loop:
        at = builder.mul(loop.index, number(LANES))
        factor = load(vector.data, at)
        for first, total in zip(rows, totals, strict=True):
            product = builder.fmul(load(first, at), factor)
            builder.store(builder.fadd(builder.load(total), product), total)
    return [builder.load(total) for total in totals]


def _added(builder: Any, vector: Any) -> Any:
    """Return the sum of the lanes, added by halves."""
    size = LANES
    while size > 1:
        size //= 2
        low, high = (
            builder.shuffle_vector(
                vector,
                ir.Constant(vector.type, ir.Undefined),
                ir.Constant(_indices(size), list(range(first, first + size))),
            )
            for first in (0, size)
        )
        vector = builder.fadd(low, high)
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


def _indices(size: int) -> Any:
    return ir.VectorType(ir.IntType(32), size)


def _lane_sums(
    typing_context: Any, matrix: Any, row: Any, vector: Any, width: Any, sums: Any
) -> Any:
    """Set sums[1:17] to the running sums over the lanes of matrix[row] · vector below `width`."""
    signature = types.void(matrix, types.int64, vector, types.int64, sums)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (lanes,) = _products(context, builder, signature.args, arguments, 1)
        for reach in (1, 2, 4, 8):
            places = [LANES + k if k >= 0 else 0 for k in range(-reach, LANES - reach)]
            mask = ir.Constant(_indices(LANES), places)
            lanes = builder.fadd(lanes, builder.shuffle_vector(_ZEROS, lanes, mask))
        data = context.make_array(signature.args[4])(context, builder, arguments[4]).data
        place = builder.gep(data, [ir.Constant(ir.IntType(64), 1)])
        builder.store(lanes, builder.bitcast(place, _VECTOR.as_pointer()), align=4)
        return context.get_dummy_value()

    return signature, generate


def _lane_of(typing_context: Any, sums: Any, r: Any) -> Any:
    """Return how many of sums[1:17] are not above r, at most 15: the lane where r falls."""
    signature = types.int64(sums, types.float32)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.gep(data, [ir.Constant(ir.IntType(64), 1)])
        lanes = builder.load(builder.bitcast(place, _VECTOR.as_pointer()), align=4)
        everywhere = ir.Constant(_indices(LANES), [0] * LANES)
        one = builder.insert_element(
            ir.Constant(_VECTOR, ir.Undefined), arguments[1], ir.Constant(ir.IntType(32), 0)
        )
        passed = builder.fcmp_ordered("<=", lanes, builder.shuffle_vector(one, one, everywhere))
        bits = builder.bitcast(passed, ir.IntType(LANES))
        # The last sum is the whole: who is past it by rounding belongs to the last lane.
        bits = builder.and_(bits, ir.Constant(ir.IntType(LANES), (1 << (LANES - 1)) - 1))
        return builder.zext(builder.ctpop(bits), ir.IntType(64))

    return signature, generate


def _row_products(
    typing_context: Any, matrix: Any, row: Any, vector: Any, width: Any, sums: Any
) -> Any:
    """Set sums[k] = Σ_j matrix[row + k, j] · vector[j], j below `width`, for four rows; float32.

    Four rows at a time, since one row's additions wait for each other.
    """
    signature = types.void(matrix, types.int64, vector, types.int64, sums)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        totals = _products(context, builder, signature.args, arguments, ROWS)
        sums = context.make_array(signature.args[4])(context, builder, arguments[4])
        for k, total in enumerate(totals):
            place = builder.gep(sums.data, [ir.Constant(ir.IntType(64), k)])
            builder.store(_added(builder, total), place)
        return context.get_dummy_value()

    return signature, generate


lane_sums: Any = intrinsic(_lane_sums)
lane_of: Any = intrinsic(_lane_of)
row_products: Any = intrinsic(_row_products)
