// The test-time cycle of fast inference, sampled: z, then z′, then α′ (paper §3.5).
//
// A warp runs one chain of one document.
const int NEAR_BLOCKS = 3; // of slots: of most documents they hold all labels that have mass
#include "layouts.cuh"
#include "warp.cuh"
#include "workspace.cuh"
#include "cycle.cuh"
#include "chains.cuh"

// Add to out_counts, out_topics and out_words the samples of N_c (or of its conditionals), of N_dt,
// and of what each entry gives to the document's `chosen` labels, documents × n_chosen.
//
// A warp for each item, a chain of a document: documents as `order` has them, in each its chains,
// which are numbered through all sets. Its draws depend on (key, gamma), the chain's number and the
// document's content alone. Its workspace begins at memory_starts[item - first] of
// `memory`; `phi` is what `spread` made.
extern "C" __global__ void __launch_bounds__(128, 8) sample(
    const WordTables *words, const TopicTables *sets, const long long *set_starts, int n_labels,
    const long long *starts, const int *types, const int *times, const int *order,
    const long long *phi_starts, const float *phi, const long long *memory_starts, float *memory,
    int first, int n_items, int n_sets, int n_chains, double eta, double alpha,
    double gamma_sum, u64 key, u64 gamma, int burn_in, int n_samples, int lag, int conditionals,
    const int *chosen, int n_chosen, u64 *out_counts, u64 *out_topics, u64 *out_words)
{
    int lane = threadIdx.x % LANES;
    int item = first + blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
    if (item >= first + n_items)
        return;
    int at = item / (n_sets * n_chains), chain = item % (n_sets * n_chains);
    int d = order[at], set = chain / n_chains;
    const TopicTables &topics = sets[set];
    __shared__ Workspace of_warps[WARPS];
    __shared__ Near near[WARPS];
    Workspace &ws = of_warps[threadIdx.x / LANES];
    begin_chain(ws, starts, types, times, phi + phi_starts[at], d, chain, key, gamma, lane);
    if (lane == 0) {
        ws.n_labels = n_labels;
        ws.n_topics = (int)(set_starts[set + 1] - set_starts[set]);
        lay_out(ws, topics, memory + memory_starts[item - first], near[threadIdx.x / LANES],
                conditionals);
    }
    __syncwarp();
    clear(ws, topics, conditionals, lane);
    float topic_gamma = (float)(gamma_sum / max(ws.n_topics, 1));
    float scale = ws.n_topics ? (float)(eta / (ws.n_tokens + gamma_sum)) : 0.0f;
    Prior start = {0.0f, (float)(alpha + eta / n_labels), topic_gamma};
    Prior prior = {scale, (float)alpha, topic_gamma};
    u64 *counts = out_counts + (long long)d * n_labels;
    u64 *shares = out_topics + (long long)d * set_starts[n_sets] + set_starts[set];
    auto label_of = [&](int i) { return ws.label(ws.z[i]); };
    // Two sweeps of z under a flat prior of the same weight, two of z′, then the cycles.
    for (int cycle = -1; cycle <= burn_in + (n_samples - 1) * lag; cycle++) {
        sweep_words(*words, topics, ws, cycle < 1 ? start : prior, lane);
        for (int again = cycle == 0 ? 2 : cycle > 0; again > 0; again--)
            sweep_topics(topics, ws, ws.n_tokens, topic_gamma, lane, label_of);
        if (cycle < burn_in || (cycle - burn_in) % lag)
            continue;
        for (int t = lane; t < ws.n_topics; t += LANES)
            if (ws.n_dt[t])
                atomicAdd(shares + t, (u64)ws.n_dt[t]);
        if (conditionals) {
            add_conditionals(*words, topics, ws, prior, lane);
            add_word_conditionals(
                *words, ws, chosen_of(chosen, n_chosen, out_words, starts, d), lane);
            continue;
        }
        for (int k = lane; k < ws.width; k += LANES)
            if (ws.mass(k) > 0.0f)
                add_units(counts + ws.label(k), ws.mass(k), UNIT);
        add_words(ws, chosen_of(chosen, n_chosen, out_words, starts, d), lane);
    }
    for (int c = lane; conditionals && c < n_labels; c += LANES)
        add_units(counts + c, ws.sums[c], UNIT);
}
