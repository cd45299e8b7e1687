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


def _lane_sums(
    typing_context: Any, matrix: Any, row: Any, vector: Any, width: Any, sums: Any
) -> Any:
    """Set sums[1:17] to the running sums over the lanes of matrix[row] · vector below `width`."""
    signature = types.void(matrix, types.int64, vector, types.int64, sums)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = _products(context, builder, signature.args, arguments)
        none = ir.Constant(_VECTOR, [0.0] * LANES)
        for reach in (1, 2, 4, 8):
            places = [LANES + k if k >= 0 else 0 for k in range(-reach, LANES - reach)]
            mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), places)
            lanes = builder.fadd(lanes, builder.shuffle_vector(none, lanes, mask))
        _store(context, builder, lanes, signature.args[4], arguments[4], 1)
        return context.get_dummy_value()

    return signature, generate


def _lane_of(typing_context: Any, sums: Any, r: Any) -> Any:
    """Return how many of sums[1:17] are not above r, at most 15: the lane where r falls."""
    signature = types.int64(sums, types.float32)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.gep(data, [ir.Constant(ir.IntType(64), 1)])
        lanes = builder.load(builder.bitcast(place, _VECTOR.as_pointer()), align=4)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
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
        kinds = signature.args
        matrix, vector, sums = (
            context.make_array(kinds[k])(context, builder, arguments[k]) for k in (0, 2, 4)
        )
        lanes = ir.VectorType(ir.FloatType(), LANES)
        row, width = arguments[1], arguments[3]
        stride = builder.extract_value(matrix.shape, 1)

        def number(value: int) -> Any:
            return ir.Constant(width.type, value)

        def load(pointer: Any, at: Any) -> Any:
            place = builder.bitcast(builder.gep(pointer, [at]), lanes.as_pointer())
            return builder.load(place, align=4)

        def added(vector: Any, size: int) -> Any:
            while size > 1:
                size //= 2
                low, high = (
                    builder.shuffle_vector(
                        vector,
                        ir.Constant(vector.type, ir.Undefined),
                        ir.Constant(
                            ir.VectorType(ir.IntType(32), size), list(range(first, first + size))
                        ),
                    )
                    for first in (0, size)
                )
                vector = builder.fadd(low, high)
            return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))

        rows = [
            builder.gep(matrix.data, [builder.mul(builder.add(row, number(k)), stride)])
            for k in range(ROWS)
        ]
        zero = ir.Constant(lanes, [0.0] * LANES)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in rows]
        with cgutils.for_range(builder, builder.sdiv(width, number(LANES))) as loop:
            at = builder.mul(loop.index, number(LANES))
            factor = load(vector.data, at)
            for first, total in zip(rows, totals, strict=True):
                product = builder.fmul(load(first, at), factor)
                builder.store(builder.fadd(builder.load(total), product), total)
        for k, total in enumerate(totals):
            builder.store(added(builder.load(total), LANES), builder.gep(sums.data, [number(k)]))
        return context.get_dummy_value()

    return signature, generate


lane_sums: Any = intrinsic(_lane_sums)
lane_of: Any = intrinsic(_lane_of)
row_products: Any = intrinsic(_row_products)
