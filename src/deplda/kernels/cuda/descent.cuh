// The SVM of a label in the dual, one document after the other, by a warp (Hsieh et al. 2008).
//
// The documents are taken in the order of deplda.kernels.shortlists.solve, and left out and looked
// at again as there, so that a solution differs from the CPU's by rounding alone. Each waits for the
// step of the one before: what a document needs but the weights is read ahead, for both that may
// come next.
#pragma once

const double NEARLY = 4.0;
const int HELD = 6; // entries of a document that a lane holds; it reads what is beyond when needed

// The documents of one label.
struct Lesson {
    int n;
    const int *rows;
    const signed char *signs; // 1 where they have the label, -1 where not
    double *alpha;
    int *order; // those that are looked at come first
};

// What is known of each document: 1/(2 C_i), and 1 over the curvature ‖x_i‖² + 1/(2 C_i).
struct Costs {
    const double *diagonals, *steps;
};

// One document of the label.
struct Pair {
    long long begin;
    double diagonal, step, alpha;
    int k, length;
    float sign;
};

// The first entries of a document, some for each lane.
struct Held {
    int words[HELD];
    float values[HELD];
};

// The next 64 bits of a xorshift generator.
__device__ inline u64 mixed(u64 x)
{
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ (x << 17);
}

__device__ inline void swap(int *order, int a, int b)
{
    int held = order[a];
    order[a] = order[b];
    order[b] = held;
}

// Set the order: documents of the label and those with an α come first. Return how many these are.
__device__ int begin_order(const Lesson &own, int lane)
{
    int active = 0;
    for (int k = lane; k < own.n; k += LANES)
        own.order[k] = k;
    __syncwarp();
    for (int first = 0; first < own.n; first += LANES) {
        int k = first + lane;
        unsigned all = __ballot_sync(ALL, k < own.n && (own.signs[k] > 0 || own.alpha[k] > 0.0));
        for (; all; all &= all - 1, active++)
            if (lane == 0)
                swap(own.order, first + __ffs(all) - 1, active);
    }
    __syncwarp();
    return active;
}

// Mutate the order of the first `active` documents, as drawn by the generator; return its state.
//
// The lanes divide 32 numbers at a time, one lane swaps.
__device__ u64 shuffle(int *order, int active, u64 state, int lane)
{
    for (int k = active - 1; k > 0; k -= LANES) {
        int n = min(k, LANES);
        u64 own = 0;
        for (int step = 0; step < n; step++) {
            state = mixed(state);
            own = step == lane ? state : own;
        }
        int place = lane < n ? (int)(own % (u64)(k - lane + 1)) : 0;
        for (int step = 0; step < n; step++) {
            int j = __shfl_sync(ALL, place, step);
            if (lane == 0)
                swap(order, k - step, j);
        }
    }
    __syncwarp();
    return state;
}

// Set a window of 32 documents of the order: those at `first`, first + step, …
__device__ void look_ahead(
    const Matrix &rows, const Costs &costs, const Lesson &own, int first, int step, int lane,
    Pair *window)
{
    int at = first + step * lane;
    Pair pair = {0, 0.0, 0.0, 0.0, 0, 0, 0.0f};
    if (at >= 0 && at < own.n) {
        int k = own.order[at], i = own.rows[k];
        pair = {rows.starts[i], costs.diagonals[i], costs.steps[i], own.alpha[k], k,
                (int)(rows.starts[i + 1] - rows.starts[i]), (float)own.signs[k]};
    }
    __syncwarp(); // until all lanes have read the last window
    window[lane] = pair;
    __syncwarp();
}

__device__ inline void hold(const Matrix &rows, const Pair &pair, int lane, Held &held)
{
    for (int b = 0; b < HELD; b++) {
        int e = b * LANES + lane;
        held.words[b] = e < pair.length ? rows.columns[pair.begin + e] : 0;
        held.values[b] = e < pair.length ? rows.values[pair.begin + e] : 0.0f;
    }
}

// w·x of a document, and in `own` the weights of the words that are held.
__device__ inline double product(
    const Matrix &rows, const Pair &pair, const Held &held, const double *w, int lane, double *own)
{
    double total = 0.0;
    for (int b = 0; b < HELD; b++) {
        own[b] = b * LANES < pair.length ? w[held.words[b]] : 0.0;
        total += own[b] * held.values[b];
    }
    for (int e = HELD * LANES + lane; e < pair.length; e += LANES)
        total += w[rows.columns[pair.begin + e]] * rows.values[pair.begin + e];
    return warp_sum(total);
}

// Add factor · x to w; `own` are the weights of the words that are held.
__device__ inline void add(
    const Matrix &rows, const Pair &pair, const Held &held, double factor, int lane,
    const double *own, double *w)
{
    for (int b = 0; b < HELD; b++)
        if (b * LANES + lane < pair.length)
            w[held.words[b]] = own[b] + factor * held.values[b];
    for (int e = HELD * LANES + lane; e < pair.length; e += LANES)
        w[rows.columns[pair.begin + e]] += factor * rows.values[pair.begin + e];
    __syncwarp(); // before another lane reads a word's weight
}

// Mutate α, w and the order: each of the first `active` documents once. Return how many stay.
//
// `high` and `low` become the largest and the smallest slope, 0 among them. A document that is left
// out changes places with the last: that one is the next then. Places between the one at hand and
// the last are as they were when the sweep began, and so is α of the documents there, so that
// windows from both ends stay true.
__device__ int sweep(
    const Matrix &rows, const Costs &costs, const Lesson &own, int active, int lane, double *w,
    double &high, double &low)
{
    __shared__ Pair front[LANES], back[LANES];
    int first = 0, last = active - 1, s = 0;
    look_ahead(rows, costs, own, first, 1, lane, front);
    look_ahead(rows, costs, own, last, -1, lane, back);
    Pair pair = front[0], next, other;
    Held held, next_held, other_held;
    hold(rows, pair, lane, held);
    while (s < active) {
        if (s + 1 - first == LANES)
            look_ahead(rows, costs, own, first = s + 1, 1, lane, front);
        if (last - (active - 1) == LANES)
            look_ahead(rows, costs, own, last = active - 1, -1, lane, back);
        next = front[s + 1 - first], other = back[last - (active - 1)];
        hold(rows, next, lane, next_held);
        hold(rows, other, lane, other_held);
        double weights[HELD];
        double score = BIAS + product(rows, pair, held, w, lane, weights);
        double slope = pair.sign * score - 1.0 + pair.diagonal * pair.alpha;
        if (pair.alpha == 0.0 && slope >= 0.0) {
            active -= 1;
            if (lane == 0 && s < active) {
                own.order[s] = other.k;
                own.order[active] = pair.k;
            }
            pair = other, held = other_held;
            continue;
        }
        high = max(high, slope), low = min(low, slope);
        double alpha = max(pair.alpha - slope * pair.step, 0.0);
        if (lane == 0)
            own.alpha[pair.k] = alpha;
        add(rows, pair, held, (alpha - pair.alpha) * pair.sign, lane, weights, w);
        s += 1;
        pair = next, held = next_held;
    }
    __syncwarp();
    return active;
}

// Set w, all 0 before, to w₀ + Σ_i α_i y_i x_i.
__device__ void begin_weights(
    const Matrix &rows, const Matrix &before, int label, const Lesson &own, int lane, double *w)
{
    for (long long e = before.starts[label] + lane; e < before.starts[label + 1]; e += LANES)
        w[before.columns[e]] = before.values[e];
    __syncwarp();
    for (int k = 0; k < own.n; k++) {
        double factor = own.alpha[k] * own.signs[k];
        if (factor == 0.0)
            continue;
        long long end = rows.starts[own.rows[k] + 1];
        for (long long e = rows.starts[own.rows[k]] + lane; e < end; e += LANES)
            w[rows.columns[e]] += factor * rows.values[e];
        __syncwarp();
    }
}

// Mutate α to the solution of each label, and set w, all 0 before, and the sweeps that it took.
//
// A block of one warp for each of the labels `numbers`. The documents of label c, their signs, α and
// order are those from starts[c] on; w are blocks × words. As deplda.kernels.shortlists.solve.
extern "C" __global__ void __launch_bounds__(32) solve_labels(
    const Matrix *rows, const Matrix *before, const int *numbers, const long long *starts,
    const int *row_numbers, const signed char *signs, const double *diagonals, const double *steps,
    int n_words, double tolerance, int most, double *alpha, int *order, double *w, int *sweeps)
{
    int lane = threadIdx.x, c = numbers[blockIdx.x];
    long long first = starts[c];
    Costs costs = {diagonals, steps};
    Lesson own = {
        (int)(starts[c + 1] - first), row_numbers + first, signs + first, alpha + first,
        order + first,
    };
    w += (long long)blockIdx.x * n_words;
    begin_weights(*rows, *before, c, own, lane, w);
    int active = begin_order(own, lane), number = 0;
    u64 state = ((u64)c + 1) * 0x9E3779B97F4A7C15ull;
    for (bool is_solved = false; number < most && !is_solved; number++) {
        double high = 0.0, low = 0.0;
        bool is_whole = active == own.n;
        state = shuffle(own.order, active, state, lane);
        active = sweep(*rows, costs, own, active, lane, w, high, low);
        is_solved = is_whole && high - low <= tolerance;
        if (!is_whole && high - low <= NEARLY * tolerance)
            active = own.n;
    }
    if (lane == 0)
        sweeps[blockIdx.x] = number;
}

// Set sizes to how many weights of each label are to be kept: more than `least` of the largest.
//
// A warp for each of n labels, w labels × words.
extern "C" __global__ void count_weights(
    const double *w, int n, int n_words, double least, float *limits, long long *sizes)
{
    int lane = threadIdx.x % LANES, c = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    if (c >= n)
        return;
    w += (long long)c * n_words;
    float largest = 0.0f;
    for (int v = lane; v < n_words; v += LANES)
        largest = max(largest, fabsf((float)w[v]));
    for (int step = LANES / 2; step > 0; step /= 2)
        largest = max(largest, __shfl_xor_sync(ALL, largest, step));
    int size = 0;
    for (int v = lane; v < n_words; v += LANES)
        size += fabsf((float)w[v]) > least * largest;
    size = warp_sum(size);
    if (lane == 0) {
        limits[c] = largest;
        sizes[c] = size;
    }
}

// Set words and values to the weights that are kept, in the order of `places`: where each word's is.
//
// `limits` and the ends are what `count_weights` gave, those as running sums.
extern "C" __global__ void take_weights(
    const double *w, int n, int n_words, double least, const float *limits, const long long *ends,
    const int *places, int *words, float *values)
{
    int lane = threadIdx.x % LANES, c = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    if (c >= n)
        return;
    w += (long long)c * n_words;
    long long at = c > 0 ? ends[c - 1] : 0;
    for (int first = 0; first < n_words; first += LANES) {
        int v = first + lane;
        float value = v < n_words ? (float)w[places[v]] : 0.0f;
        bool is_kept = fabsf(value) > least * limits[c];
        unsigned all = __ballot_sync(ALL, is_kept);
        if (is_kept) {
            long long own = at + __popc(all & ((1u << lane) - 1));
            words[own] = v;
            values[own] = value;
        }
        at += __popc(all);
    }
}
