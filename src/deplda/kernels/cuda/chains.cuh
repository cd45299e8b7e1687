// What chains of fast and of proper inference share: the document they begin with, and their samples.
#pragma once

// A sum of samples is kept in units of 2^-28 tokens.
const double UNIT = 268435456.0;
const int WARPS = 4; // of a block

// Set phi to A_wc of the documents' types, labels × types in whole groups of one document after the
// other.
//
// A block for each document; its numbers begin at phi_starts, and are all 0 before.
extern "C" __global__ void spread(
    const WordTables *words, const long long *starts, const int *types, const int *order,
    const long long *phi_starts, float *phi)
{
    int d = order[blockIdx.x], lane = threadIdx.x % LANES, n_warps = blockDim.x / LANES;
    int n_types = (int)(starts[d + 1] - starts[d]), stride = (n_types + GROUP - 1) / GROUP * GROUP;
    types += starts[d], phi += phi_starts[blockIdx.x];
    for (int u = threadIdx.x / LANES; u < n_types; u += n_warps) {
        long long end = words->row_starts[types[u] + 1];
        for (long long e = words->row_starts[types[u]] + lane; e < end; e += LANES)
            phi[(long long)words->row_labels[e] * stride + u] = words->row_values[e];
    }
}

// Set the workspace's document, d, and its stream of numbers: that of (key, gamma), the chain's
// number and the document's content. `phi` is the document's own of what `spread` made.
__device__ void begin_chain(
    Workspace &ws, const long long *starts, const int *types, const int *times, const float *phi,
    int d, int chain, u64 key, u64 gamma, int lane)
{
    int n_types = (int)(starts[d + 1] - starts[d]), n_tokens = 0;
    types += starts[d], times += starts[d];
    for (int u = lane; u < n_types; u += LANES)
        n_tokens += times[u];
    n_tokens = warp_sum(n_tokens);
    if (lane == 0) {
        ws.types = types, ws.times = times, ws.phi = phi;
        ws.n_types = n_types, ws.n_tokens = n_tokens;
        ws.stride = (n_types + GROUP - 1) / GROUP * GROUP;
        ws.key = key ^ (document_key(types, times, n_types) + (u64)chain * 0xD1342543DE82EF95ull);
        ws.gamma = gamma;
    }
    __syncwarp();
}

// Labels of one document, and what its types give to them, types × labels.
struct Chosen {
    const int *labels;
    int n;
    u64 *sums;
};

__device__ inline Chosen chosen_of(
    const int *labels, int n, u64 *sums, const long long *starts, int d)
{
    return {labels + (long long)d * n, n, sums + starts[d] * n};
}

// Add the tokens of each type that have a chosen label now; a lane has one of the labels.
__device__ void add_words(Workspace &ws, const Chosen &chosen, int lane)
{
    for (int first = 0; first < chosen.n; first += LANES) {
        int j = first + lane, c = j < chosen.n ? chosen.labels[j] : -2; // a slot without label: -1
        int i = 0;
        for (int u = 0; u < ws.n_types; u++) {
            int given = 0;
            for (int x = ws.times[u]; x > 0; x--, i++)
                given += ws.label(ws.z[i]) == c;
            if (given)
                add_units(chosen.sums + (long long)u * chosen.n + j, given, UNIT);
        }
    }
}

// Add what the conditionals of each type's tokens give to the chosen labels, as `add_conditionals`,
// which has just set alpha, does for all labels.
__device__ void add_word_conditionals(
    const WordTables &words, Workspace &ws, const Chosen &chosen, int lane)
{
    float base_alpha = 0.0f;
    for (int c = lane; chosen.n && c < ws.n_labels; c += LANES)
        base_alpha += (float)words.base[c] * ws.alpha[c];
    base_alpha = warp_sum(base_alpha);
    for (int first = 0; first < chosen.n; first += LANES) {
        int j = first + lane, c = chosen.labels[min(j, chosen.n - 1)], slot = -1;
        for (int k = 0; k < ws.width; k++)
            if (ws.label(k) == c && ws.mass(k) > 0.0f)
                slot = k;
        float mass = ws.alpha[c] + (slot >= 0 ? ws.mass(slot) : 0.0f);
        int i = 0;
        for (int u = 0; u < ws.n_types; u++) {
            long long begin = words.row_starts[ws.types[u]];
            long long end = words.row_starts[ws.types[u] + 1];
            float total = 0.0f, weight = 0.0f, itself = 0.0f;
            for (long long e = begin + lane; e < end; e += LANES)
                total += words.row_values[e] * ws.alpha[words.row_labels[e]];
            for (int b = 0; b < ws.width; b += LANES)
                total += phi_in(words, ws, b + lane, u) * ws.mass(b + lane);
            total = base_alpha + warp_sum(total);
            for (int x = ws.times[u]; x > 0; x--, i++) {
                int k = ws.z[i];
                float own = phi_in(words, ws, k, u);
                weight += 1.0f / (total - own);
                itself += k == slot ? own / (total - own) : 0.0f;
            }
            float phi = (float)words.base[c] + phi_at(ws, c, u);
            if (j < chosen.n)
                add_units(chosen.sums + (long long)u * chosen.n + j,
                          weight * phi * mass - itself, UNIT);
        }
    }
}
