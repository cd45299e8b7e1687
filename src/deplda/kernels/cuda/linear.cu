// Linear SVMs of many labels at once: Newton's method on the primal.
//
// The objective and its derivatives are those of deplda.kernels.linear. A matrix has a column for
// each label, `width` of them, a multiple of 32: a warp's lanes are 32 labels side by side, and bit
// c % 32 of awake[c / 32] says whether label c takes part. What becomes of a label does not depend
// on those beside it. Sparse rows are those of documents, with a constant 1 for the intercept at
// the end of each, or those of words, cut into pieces, which are added up in their order.
//
// What decides when a label is solved, scores and gradients, is in double precision; directions,
// which need be good to a tenth, are not.
#include "warp.cuh"

struct alignas(8) Entry {
    int column;
    float value;
};

// Of blocks that have some labels to themselves: threads are rows × labels.
const int LABELS = 8, ROWS = 64;

// Where a lane is in a matrix: a warp for each row and 32 labels.
struct Place {
    int row, slice, lane, label;
    long long at;
};

__device__ inline Place place_of(int width)
{
    int lane = threadIdx.x % LANES, row = blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
    int slice = blockIdx.y, label = slice * LANES + lane;
    return {row, slice, lane, label, (long long)row * width + label};
}

// The sum over the rows of a block, label by label; `sums` has a number for each thread.
__device__ inline double sum_rows(double x, double *sums)
{
    __syncthreads(); // the last sum has been read
    sums[threadIdx.x] = x;
    for (int half = ROWS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half * LABELS)
            sums[threadIdx.x] += sums[threadIdx.x + half * LABELS];
    }
    __syncthreads();
    return sums[threadIdx.x % LABELS];
}

// Σ_e x_e m[column of e, label] over a row's entries.
template <class Number> __device__ inline Number row_sum(
    const long long *starts, const Entry *entries, int row, const float *matrix, int width,
    int label)
{
    Number total = 0;
    long long end = starts[row + 1];
#pragma unroll 4
    for (long long e = starts[row]; e < end; e++) {
        Entry own = entries[e];
        total += (Number)own.value * (Number)matrix[(long long)own.column * width + label];
    }
    return total;
}

// Set pulls to 2 C_i ξ_i y_i, and bits of `within` where ξ_i > 0; a warp for each document and 32
// labels. Costs are those of y = -1, then those of y = 1.
extern "C" __global__ void look(
    int n, int width, const unsigned *awake, const signed char *signs, const double *scores,
    const double *document_weights, const double *costs, double *pulls, unsigned *within)
{
    Place p = place_of(width);
    if (p.row >= n || awake[p.slice] == 0)
        return;
    int y = signs[p.at];
    double slack = y == 0 ? 0.0 : 1.0 - y * scores[p.at];
    double cost = document_weights[p.row] * costs[(y > 0) * width + p.label];
    pulls[p.at] = slack > 0.0 ? 2.0 * cost * y * slack : 0.0;
    unsigned is_within = __ballot_sync(ALL, slack > 0.0);
    if (p.lane == 0)
        within[(long long)p.row * gridDim.y + p.slice] = is_within;
}

// Set factors to 2 C_i x_i·d of the documents within; a warp for each document and 32 labels.
extern "C" __global__ void curve(
    int n, int width, const unsigned *awake, const long long *starts, const Entry *entries,
    const signed char *signs, const double *document_weights, const double *costs,
    const unsigned *within, const float *step, float *factors)
{
    Place p = place_of(width);
    if (p.row >= n)
        return;
    unsigned mine = awake[p.slice] & within[(long long)p.row * gridDim.y + p.slice];
    if (!(mine >> p.lane & 1))
        return;
    float total = row_sum<float>(starts, entries, p.row, step, width, p.label);
    double cost = document_weights[p.row] * costs[(signs[p.at] > 0) * width + p.label];
    factors[p.at] = (float)(2.0 * cost) * total;
}

// Set changes to x_i·d of all documents; a warp for each document and 32 labels.
extern "C" __global__ void change(
    int n, int width, const unsigned *awake, const long long *starts, const Entry *entries,
    const float *direction, double *changes)
{
    Place p = place_of(width);
    if (p.row < n && awake[p.slice] >> p.lane & 1)
        changes[p.at] = row_sum<double>(starts, entries, p.row, direction, width, p.label);
}

// Set parts to Σ f_i x_i over the documents within, piece by piece of the words' rows.
//
// A warp for each piece and 32 labels. Each lane fetches an entry and which labels it is within of;
// entries are then gone through in their order, four at a time, those within of none left out.
template <class Number> __device__ inline void add_pieces(
    int n_pieces, int width, const unsigned *awake, const long long *starts, const Entry *entries,
    const unsigned *within, const Number *factors, Number *parts)
{
    Place p = place_of(width);
    unsigned wanted = awake[p.slice];
    if (p.row >= n_pieces || wanted == 0)
        return;
    Number total = 0;
    long long end = starts[p.row + 1];
    for (long long first = starts[p.row]; first < end; first += LANES) {
        Entry own = {0, 0.0f};
        unsigned mine = 0;
        if (first + p.lane < end) {
            own = entries[first + p.lane];
            mine = wanted & within[(long long)own.column * gridDim.y + p.slice];
        }
        unsigned any = __ballot_sync(ALL, mine != 0);
        for (int k = 0; k < LANES; k += 4) {
            if (!(any >> k & 15u))
                continue;
            Number values[4], found[4];
#pragma unroll
            for (int u = 0; u < 4; u++) {
                int column = __shfl_sync(ALL, own.column, k + u);
                values[u] = __shfl_sync(ALL, own.value, k + u);
                bool is_within = __shfl_sync(ALL, mine, k + u) >> p.lane & 1;
                found[u] = is_within ? factors[(long long)column * width + p.label] : (Number)0;
            }
#pragma unroll
            for (int u = 0; u < 4; u++)
                total += values[u] * found[u];
        }
    }
    if (wanted >> p.lane & 1)
        parts[p.at] = total;
}

extern "C" __global__ void add_pulls(
    int n_pieces, int width, const unsigned *awake, const long long *starts, const Entry *entries,
    const unsigned *within, const double *factors, double *parts)
{
    add_pieces(n_pieces, width, awake, starts, entries, within, factors, parts);
}

extern "C" __global__ void add_factors(
    int n_pieces, int width, const unsigned *awake, const long long *starts, const Entry *entries,
    const unsigned *within, const float *factors, float *parts)
{
    add_pieces(n_pieces, width, awake, starts, entries, within, factors, parts);
}

// The sum of a row's pieces.
template <class Number> __device__ inline double pieces_sum(
    const int *piece_starts, const Number *parts, int row, int width, int label)
{
    double total = 0.0;
    for (int q = piece_starts[row]; q < piece_starts[row + 1]; q++)
        total += parts[(long long)q * width + label];
    return total;
}

// Set weights to Σ 2 C_i ξ_i y_i x_i, errors to ‖gradient‖ = ‖w − weights‖, and what conjugate
// gradients begin with: rest = step = −gradient, direction = 0, the square of rest, and what it is
// to come down to. A block for each 8 labels; so in all kernels below.
extern "C" __global__ void __launch_bounds__(ROWS * LABELS) settle(
    int n_columns, int width, const unsigned char *awake, const int *piece_starts,
    const double *parts, const double *w, double ease, double *weights, float *rest, float *step,
    float *direction, double *errors, double *squares, double *goals)
{
    __shared__ double sums[ROWS * LABELS];
    if (awake[blockIdx.x] == 0)
        return;
    int row = threadIdx.x / LABELS, l = threadIdx.x % LABELS, label = blockIdx.x * LABELS + l;
    bool is_mine = awake[blockIdx.x] >> l & 1;
    double error = 0.0, square = 0.0;
    for (int j = row; is_mine && j < n_columns; j += ROWS) {
        long long at = (long long)j * width + label;
        double sum = pieces_sum(piece_starts, parts, j, width, label), gradient = w[at] - sum;
        float negative = (float)-gradient;
        weights[at] = sum;
        rest[at] = step[at] = negative;
        direction[at] = 0.0f;
        error += gradient * gradient;
        square += (double)negative * negative;
    }
    error = sum_rows(error, sums);
    square = sum_rows(square, sums);
    if (row == 0 && is_mine) {
        errors[label] = sqrt(error);
        squares[label] = square;
        goals[label] = ease * ease * square;
    }
}

// A step of conjugate gradients, from the parts of Σ 2 C_i x_i x_iᵀ step: adds to direction. Labels
// whose rest has come down to their goals fall asleep.
extern "C" __global__ void __launch_bounds__(ROWS * LABELS) conjugate(
    int n_columns, int width, unsigned char *awake, const int *piece_starts, const float *parts,
    const double *goals, float *rest, float *step, float *image, float *direction, double *squares)
{
    __shared__ double sums[ROWS * LABELS];
    unsigned own = awake[blockIdx.x];
    if (own == 0)
        return;
    int row = threadIdx.x / LABELS, l = threadIdx.x % LABELS, label = blockIdx.x * LABELS + l;
    bool is_mine = own >> l & 1;
    int end = is_mine ? n_columns : 0;
    double total = 0.0, before = squares[label];
    for (int j = row; j < end; j += ROWS) {
        long long at = (long long)j * width + label;
        double sum = step[at] + pieces_sum(piece_starts, parts, j, width, label);
        image[at] = (float)sum;
        total += step[at] * sum;
    }
    float length = (float)(before / sum_rows(total, sums));
    double after = 0.0;
#pragma unroll 4
    for (int j = row; j < end; j += ROWS) {
        long long at = (long long)j * width + label;
        float left = rest[at] - length * image[at];
        direction[at] += length * step[at];
        rest[at] = left;
        after += (double)left * left;
    }
    after = sum_rows(after, sums);
    float ratio = (float)(after / before);
#pragma unroll 4
    for (int j = row; j < end; j += ROWS) {
        long long at = (long long)j * width + label;
        step[at] = rest[at] + ratio * step[at];
    }
    if (row == 0 && is_mine)
        squares[label] = after;
    unsigned still = __ballot_sync(ALL, is_mine && after > goals[label]);
    if (threadIdx.x == 0) // whose warp's first lanes are the labels
        awake[blockIdx.x] = (unsigned char)(still & own);
}

const double FAR = 1e300;

// What the slope along a direction says of where its zero is: kept between too short and too long.
struct Line {
    double low = 0.0, high = FAR, t = 0.0, first = -1.0;

    // Move t by a step of Newton's; return whether it is to be moved again.
    __device__ bool moves(double slope, double curvature)
    {
        if (first < 0.0)
            first = fabs(slope);
        else if (fabs(slope) <= 1e-3 * first)
            return false;
        if (slope > 0.0)
            high = t;
        else
            low = t;
        t -= slope / curvature;
        if (!(low < t && t < high))
            t = high < FAR ? 0.5 * (low + high) : 2.0 * low;
        return true;
    }
};

// Add to w and to scores t times the direction and the changes, at the t ≥ 0 where the objective is
// least: as deplda.kernels.linear.line_minimum. Sets lengths to t.
extern "C" __global__ void __launch_bounds__(ROWS * LABELS) move(
    int n, int n_columns, int width, const unsigned char *awake, const signed char *signs,
    const double *document_weights, const double *costs, const double *changes,
    const float *direction, int most, double *scores, double *w, double *lengths)
{
    __shared__ double sums[ROWS * LABELS];
    __shared__ bool goes_on[LABELS];
    if (awake[blockIdx.x] == 0)
        return;
    int row = threadIdx.x / LABELS, l = threadIdx.x % LABELS, label = blockIdx.x * LABELS + l;
    bool is_mine = awake[blockIdx.x] >> l & 1, is_moving = is_mine;
    int end = is_mine ? n : 0, columns_end = is_mine ? n_columns : 0;
    double ridge_slope = 0.0, ridge_curve = 0.0;
    double negative = costs[label], positive = costs[width + label];
    for (int j = row; j < columns_end; j += ROWS) {
        double d = direction[(long long)j * width + label];
        ridge_slope += w[(long long)j * width + label] * d;
        ridge_curve += d * d;
    }
    ridge_slope = sum_rows(ridge_slope, sums);
    ridge_curve = sum_rows(ridge_curve, sums);
    Line line; // the same in all rows of a label
    for (int tried = 0; tried < most; tried++) {
        double slope = 0.0, curvature = 0.0, t = line.t;
#pragma unroll 2
        for (int i = row; is_moving && i < end; i += ROWS) {
            long long at = (long long)i * width + label;
            int y = signs[at];
            double by = changes[at], slack = 1.0 - y * (scores[at] + t * by);
            if (y != 0 && slack > 0.0) {
                double pull = 2.0 * document_weights[i] * (y > 0 ? positive : negative) * by;
                slope -= pull * y * slack;
                curvature += pull * by;
            }
        }
        slope = ridge_slope + t * ridge_curve + sum_rows(slope, sums);
        curvature = ridge_curve + sum_rows(curvature, sums);
        is_moving = is_moving && line.moves(slope, curvature);
        if (row == 0)
            goes_on[l] = is_moving;
        __syncthreads();
        bool is_any = false;
        for (int other = 0; other < LABELS; other++)
            is_any = is_any || goes_on[other];
        if (!is_any)
            break;
    }
    for (int i = row; i < end; i += ROWS)
        scores[(long long)i * width + label] += line.t * changes[(long long)i * width + label];
    for (int j = row; j < columns_end; j += ROWS)
        w[(long long)j * width + label] += line.t * direction[(long long)j * width + label];
    if (row == 0 && is_mine)
        lengths[label] = line.t;
}

// Count the held-out documents that are scored right, those that surely are not and will not be,
// and those whose score may yet change its sign.
extern "C" __global__ void __launch_bounds__(ROWS * LABELS) judge(
    int n, int width, const unsigned char *awake, const signed char *held, const double *scores,
    const double *document_lengths, const double *errors, int *counts)
{
    __shared__ double sums[ROWS * LABELS];
    if (awake[blockIdx.x] == 0)
        return;
    int row = threadIdx.x / LABELS, l = threadIdx.x % LABELS, label = blockIdx.x * LABELS + l;
    bool is_mine = awake[blockIdx.x] >> l & 1;
    double found[3] = {0.0, 0.0, 0.0};
    for (int i = row; is_mine && i < n; i += ROWS) {
        long long at = (long long)i * width + label;
        if (held[at] == 0)
            continue;
        bool is_right = (scores[at] > 0.0) == (held[at] > 0);
        bool is_sure = fabs(scores[at]) > document_lengths[i] * errors[label];
        found[0] += is_right;
        found[1] += is_sure && !is_right;
        found[2] += !is_sure;
    }
    for (int k = 0; k < 3; k++) {
        double total = sum_rows(found[k], sums);
        if (row == 0 && is_mine)
            counts[k * width + label] = (int)total;
    }
}

// Hold out the first documents of either sign, in a given order: held has their signs, and signs 0
// in their place. The only document of a sign is in both. A thread for each label; `totals` and
// `most` are how many there are of y = -1, then of y = 1, and how many to hold out.
extern "C" __global__ void hold_out(
    int n, int width, const int *order, const int *totals, const int *most, signed char *signs,
    signed char *held)
{
    int label = blockIdx.x * blockDim.x + threadIdx.x;
    if (label >= width)
        return;
    int left[2] = {most[label], most[width + label]};
    for (int k = 0; k < n && left[0] + left[1] > 0; k++) {
        long long at = (long long)order[k] * width + label;
        int y = signs[at], side = y > 0;
        if (y == 0 || left[side] == 0)
            continue;
        left[side]--;
        held[at] = (signed char)y;
        if (totals[side * width + label] > 1)
            signs[at] = 0;
    }
}
