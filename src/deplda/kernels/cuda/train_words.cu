// Training φ on a GPU: the partially collapsed sampler of z.
//
// A sweep draws φ given the counts, φ_·c ~ Dirichlet(N_·c + β), then every z given φ and its own
// document's other z: P(z_i = c) ∝ φ_wc (N_cd + η/|c_d|), N_cd without token i. Given φ, documents
// know nothing of each other and are swept at the same time. Both steps are exact conditionals: the
// posterior of z is the collapsed sampler's. A word that a label cannot have in any document plays
// no part but in the sum: all such words of a label are drawn as one.
//
// The layout is deplda.kernels.train_words.Layout. Chains go side by side: a thread is a chain, those
// beside it are others, and an array's last axis is over chains.
#include "warp.cuh"
#include "gamma.cuh"

struct Layout {
    const long long *entry_starts;
    const int *times;
    const long long *label_starts;
    const int *labels;
    const long long *token_starts;
    const long long *grid_starts;
    const int *cells;
    const long long *cell_starts;
    const int *cell_words;
};

// Sums over samples are kept in units of 2^-48.
const double UNIT = 281474976710656.0;
// Of the blocks that have a label each: threads of a chain, whose parts of a sum are always the same,
// and chains at most.
const int ROWS = 16, MOST_CHAINS = 64;

// Set φ by cell; a block for each label and some chains. Streams are (key, gamma) for each chain.
extern "C" __global__ void __launch_bounds__(ROWS * MOST_CHAINS) draw_phi(
    const Layout *layout, int n_chains, int n_words, double beta, const u64 *streams, u64 sweep,
    const int *cell_counts, float *phi)
{
    __shared__ float partial[ROWS][MOST_CHAINS];
    int width = blockDim.x / ROWS, column = threadIdx.x % width, row = threadIdx.x / width;
    int c = blockIdx.x, chain = blockIdx.y * width + column;
    bool is_used = chain < n_chains;
    u64 key = is_used ? streams[2 * chain] : 0, stride = is_used ? streams[2 * chain + 1] : 1;
    long long begin = layout->cell_starts[c], end = layout->cell_starts[c + 1];
    // The numbers of a sweep: those of each cell, then those of each label's other words.
    u64 n_cells = layout->cell_starts[gridDim.x], first = sweep * (n_cells + gridDim.x);
    float total = 0.0f;
    for (long long cell = begin + row; is_used && cell < end; cell += ROWS) {
        float shape = cell_counts[cell * n_chains + chain] + (float)beta;
        float drawn = whole_gamma_draw(shape, key, stride, (first + cell) * NUMBERS);
        phi[cell * n_chains + chain] = drawn;
        total += drawn;
    }
    partial[row][column] = total;
    __syncthreads();
    if (row == 0 && is_used) {
        for (int other = 1; other < ROWS; other++)
            total += partial[other][column];
        float never = (float)((n_words - (end - begin)) * beta);
        if (never > 0.0f)
            total += whole_gamma_draw(never, key, stride, (first + n_cells + c) * NUMBERS);
        partial[0][column] = 1.0f / total;
    }
    __syncthreads();
    float scale = partial[0][column];
    for (long long cell = begin + row; is_used && cell < end; cell += ROWS)
        phi[cell * n_chains + chain] *= scale;
}

// Mutate z, N_cd and N_wc: an update of every token, eq. 2 given φ; sweep 0 draws from labels alike.
//
// A thread for each document and chain. `cell_counts` is all 0 before. Token i of a sweep uses
// number sweep · tokens + i of its chain's stream. Sets level to the document's log P(z).
extern "C" __global__ void __launch_bounds__(128) sweep(
    const Layout *layout, int n_swept, u64 n_tokens, int n_chains, double eta, const u64 *streams,
    u64 sweep, const int *order, const float *phi, unsigned short *z, int *document_counts,
    int *cell_counts, double *level)
{
    long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int chain = (int)(thread % n_chains);
    if (thread / n_chains >= n_swept)
        return;
    long long d = order[thread / n_chains];
    u64 key = streams[2 * chain], stride = streams[2 * chain + 1];
    long long first = layout->label_starts[d];
    int n_labels = (int)(layout->label_starts[d + 1] - first);
    int *n_cd = document_counts + first * n_chains + chain;
    long long i = layout->token_starts[d], n_d = layout->token_starts[d + 1] - i;
    float alpha = (float)(eta / n_labels);
    const int *row = layout->cells + layout->grid_starts[d];
    for (long long e = layout->entry_starts[d]; e < layout->entry_starts[d + 1]; e++) {
        for (int x = layout->times[e]; x > 0; x--, i++) {
            unsigned short *own = z + i * n_chains + chain;
            float u = (float)uniform(key, stride, sweep * n_tokens + i);
            int chosen = 0;
            if (sweep == 0) {
                chosen = min((int)(u * n_labels), n_labels - 1);
            } else if (n_labels > 1) {
                n_cd[*own * n_chains] -= 1;
                auto weight = [&](int j) {
                    return phi[(long long)row[j] * n_chains + chain]
                        * (n_cd[j * n_chains] + alpha);
                };
                float total = 0.0f;
                for (int j = 0; j < n_labels; j++)
                    total += weight(j);
                float r = u * total;
                for (int j = 0; j < n_labels && r >= 0.0f; j++) {
                    float w = weight(j);
                    if (w > 0.0f)
                        chosen = j;
                    r -= w;
                }
            }
            if (sweep == 0 || n_labels > 1)
                n_cd[chosen * n_chains] += 1;
            *own = (unsigned short)chosen;
            atomicAdd(cell_counts + (long long)row[chosen] * n_chains + chain, 1);
        }
        row += n_labels;
    }
    double own = lgamma(eta) - lgamma(n_d + eta) - n_labels * lgamma(eta / n_labels);
    for (int j = 0; j < n_labels; j++)
        own += lgamma(n_cd[j * n_chains] + eta / n_labels);
    level[d * n_chains + chain] = own;
}

// Set N_c and log P(w | z) of each label; a block for each label and some chains.
//
// `table` has log Γ(n + β) − log Γ(β) for n below its size.
extern "C" __global__ void __launch_bounds__(ROWS * MOST_CHAINS) measure(
    const Layout *layout, int n_chains, int n_words, double beta, const double *table,
    int table_size, const int *cell_counts, int *label_counts, double *level)
{
    __shared__ double levels[ROWS][MOST_CHAINS];
    __shared__ int counted[ROWS][MOST_CHAINS];
    int width = blockDim.x / ROWS, column = threadIdx.x % width, row = threadIdx.x / width;
    int c = blockIdx.x, chain = blockIdx.y * width + column, n_c = 0;
    double own = 0.0;
    long long end = layout->cell_starts[c + 1];
    for (long long cell = layout->cell_starts[c] + row; chain < n_chains && cell < end;
         cell += ROWS) {
        int n = cell_counts[cell * n_chains + chain];
        n_c += n;
        if (n > 0)
            own += n < table_size ? table[n] : lgamma(n + beta) - lgamma(beta);
    }
    levels[row][column] = own;
    counted[row][column] = n_c;
    __syncthreads();
    if (row > 0 || chain >= n_chains)
        return;
    for (int other = 1; other < ROWS; other++) {
        own += levels[other][column];
        n_c += counted[other][column];
    }
    label_counts[c * n_chains + chain] = n_c;
    level[c * n_chains + chain] = own + lgamma(n_words * beta) - lgamma(n_c + n_words * beta);
}

// Add to weights and base the A and b of φ̂, eq. 3, summed over chains; a block for each label.
extern "C" __global__ void collect(
    const Layout *layout, int n_chains, int n_words, double beta, const int *cell_counts,
    const int *label_counts, u64 *weights, u64 *base)
{
    int c = blockIdx.x;
    label_counts += (long long)c * n_chains;
    long long end = layout->cell_starts[c + 1];
    for (long long cell = layout->cell_starts[c] + threadIdx.x; cell < end; cell += blockDim.x)
        for (int k = 0; k < n_chains; k++)
            add_units(weights + cell,
                      cell_counts[cell * n_chains + k] / (label_counts[k] + n_words * beta), UNIT);
    for (int k = threadIdx.x; k < n_chains; k += blockDim.x)
        add_units(base + c, beta / (label_counts[k] + n_words * beta), UNIT);
}
