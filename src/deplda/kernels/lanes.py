"""One dot product as 16 sums side by side: fast on any vector unit, and the same bits on all.

A compiler may not reorder additions of floats by itself, and left to reorder them freely it would
round differently on machines of different width. Here the order is fixed: lane l adds the products
at l, l + 16, l + 32, … in turn, and lanes are added by halves.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
ROWS = 4


def _lane_products(
    typing_context: Any, matrix: Any, row: Any, vector: Any, width: Any, sums: Any
) -> Any:
    """Set sums[l] = Σ_j matrix[row, 16 j + l] · vector[16 j + l], all below `width`; float32."""
    signature = types.void(matrix, types.int64, vector, types.int64, sums)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        matrix, vector, sums = (
            context.make_array(kinds[k])(context, builder, arguments[k]) for k in (0, 2, 4)
        )
        lanes = ir.VectorType(ir.FloatType(), LANES)
        row, width = arguments[1], arguments[3]
        stride = builder.extract_value(matrix.shape, 1)
        first = builder.gep(matrix.data, [builder.mul(row, stride)])

        def load(pointer: Any, at: Any) -> Any:
            place = builder.bitcast(builder.gep(pointer, [at]), lanes.as_pointer())
            return builder.load(place, align=4)

        total = cgutils.alloca_once_value(builder, ir.Constant(lanes, [0.0] * LANES))
        steps = builder.sdiv(width, ir.Constant(width.type, LANES))
        with cgutils.for_range(builder, steps) as loop:
            at = builder.mul(loop.index, ir.Constant(width.type, LANES))
            product = builder.fmul(load(first, at), load(vector.data, at))
            builder.store(builder.fadd(builder.load(total), product), total)
        target = builder.bitcast(sums.data, lanes.as_pointer())
        builder.store(builder.load(total), target, align=4)
        return context.get_dummy_value()

    return signature, generate


lane_products: Any = intrinsic(_lane_products)


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


row_products: Any = intrinsic(_row_products)
