// Training φ′ on a GPU: the partially collapsed sampler of z′, LDA with labels as words.
//
// A round draws φ′ given the counts, φ′_·t ~ Dirichlet(N_·t + β), then every z′ twice given φ′ and
// its own document's other z′: P(z′_i = t) ∝ φ′_ct (N_dt + γ), N_dt without token i. Given φ′,
// documents know nothing of each other and are swept at the same time. All steps are exact
// conditionals: the posterior of z′ is the collapsed sampler's.
//
// The weight of a topic is in two buckets, φ′_ct N_dt and φ′_ct γ: the first needs the topics of the
// document's other tokens alone, the second the running sums of the label's φ′, which are the same
// for all its tokens. A draw costs what the document has, not T.
//
// Arrays have an axis over chains, the first. Topics are padded to a `width` of whole warps.
#include "warp.cuh"
#include "gamma.cuh"

const int ROWS = 8;   // warps of a block: they take turns at the labels of a tile
const int TILE = 64;  // labels
const float LOWEST = -3.0e38f;
const int PASSES = 2; // over z′ for each φ′: a document's z′ need a while to settle

struct Tokens {
    const long long *starts; // of each document
    const int *labels;       // of each token
};

// Set each z′ to one of all topics, drawn alike, and count it; a thread for each token.
extern "C" __global__ void start_topics(
    const int *labels, int n_tokens, int n_labels, int n_topics, int width, const u64 *streams,
    unsigned short *z, int *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, chain = blockIdx.y;
    if (i >= n_tokens)
        return;
    double u = uniform(streams[2 * chain], streams[2 * chain + 1], i);
    int t = min((int)(u * n_topics), n_topics - 1);
    z[(long long)chain * n_tokens + i] = (unsigned short)t;
    atomicAdd(counts + ((long long)chain * n_labels + labels[i]) * width + t, 1);
}

// Set phi to the logarithms of gamma draws, whose sums over labels are left to do.
//
// A block for each tile of labels and 32 topics; grid.y is over chains. Of the tile it leaves the
// greatest logarithm m of each topic and Σ e^(log − m): all draws of a topic without tokens may be
// less than the smallest number there is, and yet one of them is most of their sum.
extern "C" __global__ void draw_topics(
    int n_labels, int n_topics, int width, double beta, const u64 *streams, u64 round,
    const int *counts, float *phi, float *most, float *sums)
{
    __shared__ float tops[ROWS][LANES], totals[ROWS][LANES];
    int lane = threadIdx.x % LANES, row = threadIdx.x / LANES, chain = blockIdx.y;
    int n_blocks = width / LANES, tile = blockIdx.x / n_blocks;
    int t = blockIdx.x % n_blocks * LANES + lane;
    u64 key = streams[2 * chain], stride = streams[2 * chain + 1];
    counts += (long long)chain * n_labels * width;
    phi += (long long)chain * n_labels * width;
    float top = LOWEST, total = 0.0f;
    for (int c = tile * TILE + row; c < min((tile + 1) * TILE, n_labels); c += ROWS) {
        float drawn = LOWEST;
        if (t < n_topics) {
            float shape = counts[(long long)c * width + t] + (float)beta;
            u64 n = ((round * n_labels + c) * n_topics + t) * NUMBERS;
            float log_factor, factor = gamma_draw(shape, key, stride, n, log_factor);
            drawn = max(logf(factor) + log_factor, LOWEST);
            float higher = max(top, drawn);
            total = total * expf(top - higher) + expf(drawn - higher);
            top = higher;
        }
        phi[(long long)c * width + t] = drawn;
    }
    tops[row][lane] = top;
    totals[row][lane] = total;
    __syncthreads();
    if (row > 0 || t >= n_topics)
        return;
    for (int other = 1; other < ROWS; other++) {
        float higher = max(top, tops[other][lane]);
        total = total * expf(top - higher) + totals[other][lane] * expf(tops[other][lane] - higher);
        top = higher;
    }
    int n_tiles = (n_labels + TILE - 1) / TILE;
    most[((long long)chain * n_tiles + tile) * width + t] = top;
    sums[((long long)chain * n_tiles + tile) * width + t] = total;
}

// Set scale to the logarithm of each topic's sum of draws, from its tiles; a thread for each topic.
extern "C" __global__ void scale_topics(
    int n_tiles, int n_topics, int width, const float *most, const float *sums, float *scale)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, chain = blockIdx.y;
    if (t >= n_topics)
        return;
    most += (long long)chain * n_tiles * width + t;
    sums += (long long)chain * n_tiles * width + t;
    float top = LOWEST, total = 0.0f;
    for (int tile = 0; tile < n_tiles; tile++)
        top = max(top, most[(long long)tile * width]);
    for (int tile = 0; tile < n_tiles; tile++)
        total += sums[(long long)tile * width] * expf(most[(long long)tile * width] - top);
    scale[chain * width + t] = top + logf(total);
}

// Mutate phi: φ′ of its logarithms; set running sums over each label's blocks of 32 topics.
//
// A warp for each label; grid.y is over chains.
extern "C" __global__ void normalise_topics(
    int n_labels, int n_topics, int width, const float *scale, float *phi, float *block_sums)
{
    int lane = threadIdx.x % LANES, chain = blockIdx.y;
    int c = blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
    if (c >= n_labels)
        return;
    long long row = (long long)chain * n_labels + c;
    float total = 0.0f;
    for (int b = 0; b < width / LANES; b++) {
        int t = b * LANES + lane;
        float *at = phi + row * width + t;
        *at = t < n_topics ? expf(*at - scale[chain * width + t]) : 0.0f;
        total += warp_sum(*at);
        if (lane == 0)
            block_sums[row * (width / LANES) + b] = total;
    }
}

// The first topic at which the running sum of a label's φ′ exceeds r, or the last that has any.
__device__ inline int topic_at(const float *phi, const float *block_sums, int n_blocks, float r)
{
    float all = block_sums[n_blocks - 1];
    int low = 0, high = n_blocks - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (block_sums[middle] > r || block_sums[middle] >= all)
            high = middle;
        else
            low = middle + 1;
    }
    r -= low > 0 ? block_sums[low - 1] : 0.0f;
    int chosen = low * LANES;
    for (int t = low * LANES; t < (low + 1) * LANES && r >= 0.0f; t++) {
        if (phi[t] > 0.0f)
            chosen = t;
        r -= phi[t];
    }
    return chosen;
}

// Mutate z′ of a document: draw each of its tokens, eq. 5 given φ′. GROUP lanes share the work.
//
// Each lane has every GROUP-th token. `number` is that of the first token's draw in the stream.
template <int GROUP> __device__ void sweep_document(
    const int *labels, int n_d, int member, int width, float gamma, const float *phi,
    const float *block_sums, u64 key, u64 stride, u64 number, unsigned short *z)
{
    int n_blocks = width / LANES;
    for (int i = 0; i < n_d; i++) {
        const float *row = phi + (long long)labels[i] * width;
        const float *upto = block_sums + (long long)labels[i] * n_blocks;
        float own = 0.0f;
        for (int k = member; k < n_d; k += GROUP)
            own += k == i ? 0.0f : row[z[k]];
        float until = own, all = own;
        if (GROUP > 1) {
            until = running_sum(own, member);
            all = __shfl_sync(ALL, until, LANES - 1);
        }
        float r = (float)uniform(key, stride, number + i) * (all + gamma * upto[n_blocks - 1]);
        int t = -1;
        if (r < all) {
            unsigned over = 1;
            if (GROUP > 1)
                over = __ballot_sync(ALL, own > 0.0f && until > r);
            if (GROUP > 1 && over == 0) // where rounding led past the last
                over = __ballot_sync(ALL, own > 0.0f);
            int winner = __ffs(over) - 1;
            float left = r - (until - own);
            for (int k = member; member == winner && k < n_d && (left >= 0.0f || t < 0);
                 k += GROUP) {
                float weight = k == i ? 0.0f : row[z[k]];
                if (weight > 0.0f)
                    t = z[k];
                left -= weight;
            }
            if (GROUP > 1)
                t = __shfl_sync(ALL, t, winner);
        }
        if (t < 0)
            t = topic_at(row, upto, n_blocks, (r - all) / gamma);
        if (GROUP > 1)
            __syncwarp();
        if (member == 0)
            z[i] = (unsigned short)t;
        if (GROUP > 1)
            __syncwarp();
    }
}

// Mutate z′ and N_ct, which is all 0 before; set level to Σ log (N_dt + γ), tokens one by one.
template <int GROUP> __device__ void sweep_documents(
    const Tokens &tokens, int n_swept, const int *order, int n_tokens, int n_labels, int n_documents,
    int width, double gamma, const u64 *streams, u64 round, const float *phi, const float *block_sums,
    unsigned short *z, int *counts, double *level)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, chain = blockIdx.y;
    int at = thread / GROUP, member = thread % GROUP;
    if (at >= n_swept)
        return;
    int d = order[at], n_d = (int)(tokens.starts[d + 1] - tokens.starts[d]);
    long long first = tokens.starts[d], label_row = (long long)chain * n_labels;
    const int *labels = tokens.labels + first;
    z += (long long)chain * n_tokens + first;
    for (int pass = 0; pass < PASSES; pass++) {
        u64 number = ((round - 1) * PASSES + pass + 1) * n_tokens + first;
        sweep_document<GROUP>(
            labels, n_d, member, width, (float)gamma, phi + label_row * width,
            block_sums + label_row * (width / LANES), streams[2 * chain], streams[2 * chain + 1],
            number, z);
    }
    double own = 0.0;
    for (int i = member; i < n_d; i += GROUP) {
        int t = z[i], before = 0;
        for (int k = 0; k < i; k++)
            before += z[k] == t;
        own += log(before + gamma);
        atomicAdd(counts + (label_row + labels[i]) * width + t, 1);
    }
    if (GROUP > 1)
        own = warp_sum(own);
    if (member == 0)
        level[(long long)chain * n_documents + d] = own;
}

// Documents of few labels, a thread for each; grid.y is over chains.
extern "C" __global__ void __launch_bounds__(128) sweep_short(
    const Tokens *tokens, int n_swept, const int *order, int n_tokens, int n_labels, int n_documents,
    int width, double gamma, const u64 *streams, u64 round, const float *phi, const float *block_sums,
    unsigned short *z, int *counts, double *level)
{
    sweep_documents<1>(*tokens, n_swept, order, n_tokens, n_labels, n_documents, width, gamma,
                       streams, round, phi, block_sums, z, counts, level);
}

// Documents of many labels, a warp for each; grid.y is over chains.
extern "C" __global__ void __launch_bounds__(128) sweep_long(
    const Tokens *tokens, int n_swept, const int *order, int n_tokens, int n_labels, int n_documents,
    int width, double gamma, const u64 *streams, u64 round, const float *phi, const float *block_sums,
    unsigned short *z, int *counts, double *level)
{
    sweep_documents<LANES>(*tokens, n_swept, order, n_tokens, n_labels, n_documents, width, gamma,
                           streams, round, phi, block_sums, z, counts, level);
}

// Set N_t and Σ log Γ(N_ct + β)/Γ(β) of each tile of labels and topic; blocks are as of draw_topics.
extern "C" __global__ void tally_topics(
    int n_labels, int n_topics, int width, double beta, const double *table, int table_size,
    const int *counts, int *topic_counts, double *level)
{
    __shared__ double levels[ROWS][LANES];
    __shared__ int counted[ROWS][LANES];
    int lane = threadIdx.x % LANES, row = threadIdx.x / LANES, chain = blockIdx.y;
    int n_blocks = width / LANES, tile = blockIdx.x / n_blocks, n_t = 0;
    int t = blockIdx.x % n_blocks * LANES + lane;
    double own = 0.0;
    counts += (long long)chain * n_labels * width;
    for (int c = tile * TILE + row; c < min((tile + 1) * TILE, n_labels); c += ROWS) {
        int n = counts[(long long)c * width + t];
        n_t += n;
        if (n > 0)
            own += n < table_size ? table[n] : lgamma(n + beta) - lgamma(beta);
    }
    levels[row][lane] = own;
    counted[row][lane] = n_t;
    __syncthreads();
    if (row > 0)
        return;
    for (int other = 1; other < ROWS; other++) {
        own += levels[other][lane];
        n_t += counted[other][lane];
    }
    int n_tiles = (n_labels + TILE - 1) / TILE;
    topic_counts[((long long)chain * n_tiles + tile) * width + t] = n_t;
    level[((long long)chain * n_tiles + tile) * width + t] = own;
}

// Set level to log P(c | z′) of each topic, from its tiles; a thread for each topic.
extern "C" __global__ void measure_topics(
    int n_tiles, int n_labels, int n_topics, int width, double beta, const int *topic_counts,
    const double *tile_level, double *level)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, chain = blockIdx.y;
    if (t >= n_topics)
        return;
    double own = 0.0;
    int n_t = 0;
    for (int tile = 0; tile < n_tiles; tile++) {
        long long at = ((long long)chain * n_tiles + tile) * width + t;
        own += tile_level[at];
        n_t += topic_counts[at];
    }
    level[(long long)chain * n_topics + t] =
        own + lgamma(n_labels * beta) - lgamma(n_t + n_labels * beta);
}
