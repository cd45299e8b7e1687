// The test-time cycle of fast inference, sampled: z, then z′, then α′ (paper §3.5).
//
// A warp runs one chain of one document.
#include "layouts.cuh"
#include "warp.cuh"
#include "workspace.cuh"
#include "cycle.cuh"

// A sum of samples is kept in units of 2^-28 tokens.
const double UNIT = 268435456.0;
const int WARPS = 4; // of a block

// Set phi to A_wc of the documents' types, labels × types of one document after the other.
//
// A block for each document; its numbers begin at phi_starts, and are all 0 before.
extern "C" __global__ void spread(
    const WordTables *words, const long long *starts, const int *types, const int *order,
    const long long *phi_starts, float *phi)
{
    int d = order[blockIdx.x], lane = threadIdx.x % LANES, n_warps = blockDim.x / LANES;
    int n_types = (int)(starts[d + 1] - starts[d]);
    types += starts[d], phi += phi_starts[blockIdx.x];
    for (int u = threadIdx.x / LANES; u < n_types; u += n_warps) {
        long long end = words->row_starts[types[u] + 1];
        for (long long e = words->row_starts[types[u]] + lane; e < end; e += LANES)
            phi[(long long)words->row_labels[e] * n_types + u] = words->row_values[e];
    }
}

// Add to out_counts and out_topics the samples of N_c (or of its conditionals) and of N_dt.
//
// A warp for each item, a chain of a document: item n_streams · d + s is chain s of document d,
// chains numbered through all sets. Its draws depend on (key, gamma), the chain's number and the
// document's content alone. Its workspace begins at memory_starts[item - first] of
// `memory`; `phi` is what `spread` made, or null.
extern "C" __global__ void __launch_bounds__(128, 6) sample(
    const WordTables *words, const TopicTables *sets, const long long *set_starts, int n_labels,
    const long long *starts, const int *types, const int *times, const int *order,
    const long long *phi_starts, const float *phi, const long long *memory_starts, float *memory,
    int first, int n_items, int n_sets, int n_chains,
    double eta, double alpha, double gamma_sum, u64 key, u64 gamma, int burn_in, int n_samples,
    int lag, int conditionals, u64 *out_counts, u64 *out_topics)
{
    int lane = threadIdx.x % LANES;
    int item = first + blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
    if (item >= first + n_items)
        return;
    int d = order[item / (n_sets * n_chains)], chain = item % (n_sets * n_chains);
    int set = chain / n_chains;
    const TopicTables &topics = sets[set];
    __shared__ Workspace of_warps[WARPS];
    __shared__ int topic_counts[WARPS][NEAR_TOPICS];
    Workspace &ws = of_warps[threadIdx.x / LANES];
    int n_types = (int)(starts[d + 1] - starts[d]), n_tokens = 0;
    types += starts[d], times += starts[d];
    for (int u = lane; u < n_types; u += LANES)
        n_tokens += times[u];
    n_tokens = warp_sum(n_tokens);
    if (lane == 0) {
        ws.types = types, ws.times = times;
        ws.phi = phi ? phi + phi_starts[item / (n_sets * n_chains)] : nullptr;
        ws.n_types = n_types, ws.n_tokens = n_tokens, ws.n_labels = n_labels;
        ws.n_topics = (int)(set_starts[set + 1] - set_starts[set]);
        ws.key = key ^ (document_key(types, times, n_types) + (u64)chain * 0xD1342543DE82EF95ull);
        ws.gamma = gamma;
        lay_out(ws, memory + memory_starts[item - first], conditionals);
        if (ws.n_topics <= NEAR_TOPICS)
            ws.n_dt = topic_counts[threadIdx.x / LANES];
    }
    __syncwarp();
    clear(ws, conditionals, lane);
    float topic_gamma = (float)(gamma_sum / max(ws.n_topics, 1));
    float scale = ws.n_topics ? (float)(eta / (ws.n_tokens + gamma_sum)) : 0.0f;
    Prior start = {0.0f, (float)(alpha + eta / n_labels), topic_gamma};
    Prior prior = {scale, (float)alpha, topic_gamma};
    u64 *counts = out_counts + (long long)d * n_labels;
    u64 *shares = out_topics + (long long)d * set_starts[n_sets] + set_starts[set];
    // Two sweeps of z under a flat prior of the same weight, two of z′, then the cycles.
    for (int cycle = -1; cycle <= burn_in + (n_samples - 1) * lag; cycle++) {
        sweep_words(*words, topics, ws, cycle < 1 ? start : prior, lane);
        for (int again = cycle == 0 ? 2 : cycle > 0; again > 0; again--)
            sweep_topics(topics, ws, topic_gamma, lane);
        if (cycle < burn_in || (cycle - burn_in) % lag)
            continue;
        for (int t = lane; t < ws.n_topics; t += LANES)
            if (ws.n_dt[t])
                atomicAdd(shares + t, (u64)ws.n_dt[t]);
        if (conditionals)
            add_conditionals(*words, topics, ws, prior, lane);
        else
            for (int k = lane; k < ws.width; k += LANES)
                if (ws.mass[k] > 0.0f)
                    add_units(counts + ws.labels[k], ws.mass[k], UNIT);
    }
    for (int c = lane; conditionals && c < n_labels; c += LANES)
        add_units(counts + c, ws.sums[c], UNIT);
}
