// Shortlists: labels near a document, SVMs that learn from such lists alone, and their margins.
//
// As deplda.kernels.shortlists, where the SVMs are explained. Documents, the index by word and the
// SVMs' weights are sparse matrices.
#include "warp.cuh"

const double BIAS = -1.0;
const int IN_SHARED = 4096; // labels whose scores a block keeps in shared memory
const long long EVERY = 1LL << 62;
const int AT_A_TIME = 256;  // words whose places are looked up together
const int MOST = 1024;      // labels that a block sorts
const int DIGITS = 256;

struct Matrix {
    const long long *starts;
    const int *columns;
    const float *values;
};

#include "descent.cuh"

// Set score, of each label, to what the words of row d speak for it.
//
// Words are taken one after the other, so that sums are those of the CPU to the bit, until `budget`
// entries of the index have been read. A word has a label once: no two threads add to one score.
__device__ void add_up(
    const Matrix &rows, const Matrix &index, int d, int n_labels, long long budget, float *score)
{
    __shared__ long long begins[AT_A_TIME], ends[AT_A_TIME];
    __shared__ float values[AT_A_TIME];
    for (int c = threadIdx.x; c < n_labels; c += blockDim.x)
        score[c] = 0.0f;
    long long end = rows.starts[d + 1];
    for (long long first = rows.starts[d]; first < end && budget > 0; first += AT_A_TIME) {
        int n = (int)min(end - first, (long long)AT_A_TIME);
        for (int u = threadIdx.x; u < n; u += blockDim.x) {
            begins[u] = index.starts[rows.columns[first + u]];
            ends[u] = index.starts[rows.columns[first + u] + 1];
            values[u] = rows.values[first + u];
        }
        __syncthreads();
        for (int u = 0; u < n && budget > 0; u++) {
            for (long long p = begins[u] + threadIdx.x; p < ends[u]; p += blockDim.x) {
                float *own = score + index.columns[p];
                *own = __fadd_rn(*own, __fmul_rn(values[u], index.values[p]));
            }
            budget -= ends[u] - begins[u];
            __syncthreads(); // before another word adds to the same scores
        }
    }
    __syncthreads();
}

// A label's rank as one number: the larger score comes first, of equals the lower label.
__device__ inline u64 key_of(float score, int label)
{
    return (u64)__float_as_uint(score) << 32 | (0xffffffffu - (unsigned)label);
}

// The n-th largest key of the labels with a score, of which there are n or more.
//
// Digit by digit, the highest first; done as soon as all keys that begin with the digits are taken.
__device__ u64 nth_key(const float *score, int n_labels, int n)
{
    __shared__ int bins[DIGITS], digit, left, is_done;
    int lane = threadIdx.x % LANES;
    u64 found = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        for (int b = threadIdx.x; b < DIGITS; b += blockDim.x)
            bins[b] = 0;
        __syncthreads();
        for (int c = threadIdx.x; c < n_labels; c += blockDim.x) {
            u64 key = key_of(score[c], c);
            if (score[c] > 0.0f && (shift == 56 || key >> (shift + 8) == found))
                atomicAdd(bins + (int)(key >> shift & (DIGITS - 1)), 1);
        }
        __syncthreads();
        if (threadIdx.x < LANES) { // each lane has eight digits, the first lane the highest
            int own = 0, highest = DIGITS - 1 - lane * (DIGITS / LANES);
            for (int b = 0; b < DIGITS / LANES; b++)
                own += bins[highest - b];
            int upto = own;
            for (int step = 1; step < LANES; step *= 2) {
                int before = __shfl_up_sync(ALL, upto, step);
                upto += lane >= step ? before : 0;
            }
            unsigned over = __ballot_sync(ALL, upto >= n);
            if (lane == __ffs(over) - 1) {
                int before = upto - own, b = highest;
                while (before + bins[b] < n)
                    before += bins[b--];
                digit = b, left = n - before, is_done = bins[b] == left;
            }
        }
        __syncthreads();
        found = found << 8 | (u64)digit;
        n = left;
        if (is_done)
            return found << shift;
    }
    return found;
}

// Sort keys, as many as a power of two, the largest first.
__device__ void sort_keys(u64 *keys, int size)
{
    for (int run = 2; run <= size; run *= 2)
        for (int step = run / 2; step > 0; step /= 2) {
            for (int i = threadIdx.x; i < size; i += blockDim.x) {
                int j = i ^ step;
                if (j > i && (i & run ? keys[i] > keys[j] : keys[i] < keys[j])) {
                    u64 held = keys[i];
                    keys[i] = keys[j];
                    keys[j] = held;
                }
            }
            __syncthreads();
        }
}

// Set the k labels that each row's words speak for, best first, and their scores; -1 and 0 for none.
//
// A block for each row; k is MOST at most. `room` is rows × labels to work on where
// there are more labels than IN_SHARED.
extern "C" __global__ void nearest(
    const Matrix *rows, const Matrix *index, int n_labels, int budget, int k, float *room,
    int *labels, float *scores)
{
    __shared__ float own[IN_SHARED];
    __shared__ u64 keys[MOST];
    __shared__ int n_scored, n_taken;
    float *score = n_labels <= IN_SHARED ? own : room + (long long)blockIdx.x * n_labels;
    if (threadIdx.x == 0)
        n_scored = n_taken = 0;
    add_up(*rows, *index, blockIdx.x, n_labels, budget, score);
    int size = 1, count = 0;
    while (size < k)
        size *= 2;
    for (int c = threadIdx.x; c < n_labels; c += blockDim.x)
        count += score[c] > 0.0f;
    count = warp_sum(count);
    if (threadIdx.x % LANES == 0)
        atomicAdd(&n_scored, count);
    for (int j = threadIdx.x; j < size; j += blockDim.x)
        keys[j] = 0;
    __syncthreads();
    u64 least = n_scored > k ? nth_key(score, n_labels, k) : 0;
    for (int c = threadIdx.x; c < n_labels; c += blockDim.x)
        if (score[c] > 0.0f && key_of(score[c], c) >= least)
            keys[atomicAdd(&n_taken, 1)] = key_of(score[c], c);
    __syncthreads();
    sort_keys(keys, size);
    for (int j = threadIdx.x; j < k; j += blockDim.x) {
        long long at = (long long)blockIdx.x * k + j;
        labels[at] = keys[j] ? (int)(0xffffffffu - (unsigned)keys[j]) : -1;
        scores[at] = keys[j] ? score[labels[at]] : 0.0f;
    }
}

// Set scores, rows × labels, to what each row's words speak for every label; a block for each row.
extern "C" __global__ void score_all(
    const Matrix *rows, const Matrix *index, int n_labels, int budget, float *scores)
{
    float *score = scores + (long long)blockIdx.x * n_labels;
    add_up(*rows, *index, blockIdx.x, n_labels, budget, score);
}

// Set out to ln(share · likeness) of every label: a block for each row.
//
// The likeness is what the row's words speak for the label, the share ½ normalise(α′) +
// ½ normalise(N), of `counts` and `alpha`, rows × n_all, of which the first n_labels count. Each is at
// least so large as is said, the product 1 at most. `room` is as in `nearest`.
extern "C" __global__ void rank_below(
    const Matrix *rows, const Matrix *index, int n_labels, int n_all, const double *counts,
    const double *alpha, double least_share, double least_likeness, float *room, double *out)
{
    __shared__ float own[IN_SHARED];
    __shared__ double parts[LANES];
    long long d = blockIdx.x;
    float *score = n_labels <= IN_SHARED ? own : room + d * n_labels;
    counts += d * n_all, alpha += d * n_all, out += d * n_labels;
    double n = 0.0, all_alpha = 0.0;
    for (int c = threadIdx.x; c < n_labels; c += blockDim.x)
        n += counts[c], all_alpha += alpha[c];
    n = block_sum(n, parts), all_alpha = block_sum(all_alpha, parts);
    add_up(*rows, *index, (int)d, n_labels, EVERY, score);
    for (int c = threadIdx.x; c < n_labels; c += blockDim.x) {
        double of_words = n > 0.0 ? counts[c] / n : 0.0;
        double of_prior = all_alpha > 0.0 ? alpha[c] / all_alpha : 0.0;
        double share = 0.5 * (of_prior + of_words) + least_share;
        out[c] = log(min(share * (score[c] + least_likeness), 1.0));
    }
}

// Set the margins w·x - 1 of each document's candidates; of -1, no candidate, to the bias.
//
// A block for some documents, one after the other; `room` is a number for each word and block, all 0
// before and after.
extern "C" __global__ void margins(
    const Matrix *rows, const Matrix *weights, int n, int k, int n_words, const int *candidates,
    float *room, double *out)
{
    int lane = threadIdx.x % LANES, n_warps = blockDim.x / LANES;
    float *x = room + (long long)blockIdx.x * n_words;
    for (int d = blockIdx.x; d < n; d += gridDim.x) {
        long long begin = rows->starts[d], end = rows->starts[d + 1];
        for (long long e = begin + threadIdx.x; e < end; e += blockDim.x)
            x[rows->columns[e]] = rows->values[e];
        __syncthreads();
        for (int j = threadIdx.x / LANES; j < k; j += n_warps) {
            long long at = (long long)d * k + j;
            int c = candidates[at];
            double total = 0.0;
            if (c >= 0)
                for (long long e = weights->starts[c] + lane; e < weights->starts[c + 1]; e += LANES)
                    total += x[weights->columns[e]] * weights->values[e];
            total = warp_sum(total);
            if (lane == 0)
                out[at] = BIAS + total;
        }
        __syncthreads();
        for (long long e = begin + threadIdx.x; e < end; e += blockDim.x)
            x[rows->columns[e]] = 0.0f;
        __syncthreads();
    }
}
