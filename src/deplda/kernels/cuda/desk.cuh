// The desk: all that is at hand while a warp runs one chain of one document.
//
// A label's column φ_·c and its mass N_c stand in a slot; 32 slots are a block, and a lane owns one
// slot of each block, so that no two lanes write the same mass.
#pragma once

// Slots that are kept even when few labels have tokens: labels come back.
const int FEWEST = 2 * LANES;

// All that is at hand for one chain of one document.
struct Desk {
    int n_types, n_tokens, n_labels, n_topics;
    const int *types, *times;
    float *columns; // φ_wc: blocks × types × lanes
    float *mass;    // N_c of each slot's label, 0 if it has none now
    int *labels;    // the label of each slot, -1 if none
    int *z;         // the slot of each word token's label, -1 before the first sweep
    int *z_topic;   // the topic of each label token, -1 before the first sweep
    int *n_dt;
    int *live;       // the topics that have tokens
    float *by_topic; // total of the topic bucket for each type, this sweep
    float *alpha, *sums; // all labels; for conditionals only
    int width, hand, n_live; // slots in use, the next to give up, topics that have tokens
    u64 key, gamma, clock;   // the chain's stream, and how many numbers have been drawn from it

    __device__ float &column(int u, int block, int lane)
    {
        return columns[((long long)block * n_types + u) * LANES + lane];
    }
};

// Each document's words of memory; deplda.kernels.cuda.documents counts the same.
__device__ void lay_out(Desk &desk, float *memory, bool conditionals)
{
    int most = min(desk.n_tokens, desk.n_labels);
    int slots = max((most + LANES - 1) / LANES * LANES, FEWEST);
    desk.columns = memory;
    desk.mass = desk.columns + (long long)desk.n_types * slots;
    desk.labels = (int *)(desk.mass + slots);
    desk.z = desk.labels + slots;
    desk.z_topic = desk.z + desk.n_tokens;
    desk.n_dt = desk.z_topic + desk.n_tokens;
    desk.live = desk.n_dt + desk.n_topics;
    desk.by_topic = (float *)(desk.live + desk.n_topics);
    desk.alpha = desk.by_topic + desk.n_types;
    desk.sums = desk.alpha + (conditionals ? desk.n_labels : 0);
}

// Take 32 more slots into use, empty ones.
__device__ void widen(Desk &desk, int lane)
{
    desk.mass[desk.width + lane] = 0.0f;
    desk.labels[desk.width + lane] = -1;
    for (int u = 0; u < desk.n_types; u++) // 0 times what was there might be no number
        desk.column(u, desk.width / LANES, lane) = 0.0f;
    desk.width += LANES;
    __syncwarp();
}

// Begin with no token drawn and few slots.
__device__ void clear(Desk &desk, bool conditionals, int lane)
{
    desk.width = desk.hand = desk.n_live = 0;
    desk.clock = 0;
    while (desk.width < FEWEST)
        widen(desk, lane);
    for (int i = lane; i < desk.n_tokens; i += LANES)
        desk.z[i] = desk.z_topic[i] = -1;
    for (int t = lane; t < desk.n_topics; t += LANES)
        desk.n_dt[t] = 0;
    for (int c = lane; conditionals && c < desk.n_labels; c += LANES)
        desk.sums[c] = 0.0f;
    __syncwarp();
}

// Give up the blocks that labels with mass do not need, and move those labels to the first ones.
__device__ void narrow(Desk &desk, int lane)
{
    int heavy = 0;
    for (int b = 0; b < desk.width; b += LANES)
        heavy += __popc(__ballot_sync(ALL, desk.mass[b + lane] > 0.0f));
    int fitting = max(FEWEST, (heavy + heavy / 2) / LANES * LANES + LANES);
    if (fitting >= desk.width)
        return;
    int to = 0;
    for (int from = fitting; from < desk.width; from++) {
        if (desk.mass[from] == 0.0f)
            continue;
        while (desk.mass[to] > 0.0f)
            to++;
        for (int u = lane; u < desk.n_types; u += LANES)
            desk.column(u, to / LANES, to % LANES) = desk.column(u, from / LANES, from % LANES);
        __syncwarp();
        if (lane == 0) {
            desk.mass[to] = desk.mass[from];
            desk.labels[to] = desk.labels[from];
            desk.labels[from] = to; // where its tokens find it
        }
        __syncwarp();
    }
    for (int i = lane; i < desk.n_tokens; i += LANES)
        if (desk.z[i] >= fitting)
            desk.z[i] = desk.labels[desk.z[i]];
    desk.width = fitting;
    desk.hand = 0;
    __syncwarp();
}

// The slot of label c, which takes one without mass if it has none.
__device__ int slot_of(const WordTables &words, Desk &desk, int c, int lane)
{
    for (int b = 0; b < desk.width; b += LANES) {
        unsigned has = __ballot_sync(ALL, desk.labels[b + lane] == c);
        if (has)
            return b + __ffs(has) - 1;
    }
    int k = -1, n_blocks = desk.width / LANES;
    for (int step = 0; k < 0 && step <= n_blocks; step++) {
        int b = (desk.hand / LANES + step) % n_blocks * LANES;
        unsigned empty = __ballot_sync(ALL, desk.mass[b + lane] == 0.0f);
        if (step == 0)
            empty &= ALL << desk.hand % LANES;
        if (empty)
            k = b + __ffs(empty) - 1;
    }
    if (k < 0) {
        k = desk.width;
        widen(desk, lane);
    }
    desk.hand = (k + 1) % desk.width;
    if (lane == 0)
        desk.labels[k] = c;
    float smooth = (float)words.base[c];
    long long begin = words.column_starts[c], end = words.column_starts[c + 1];
    for (int u = lane; u < desk.n_types; u += LANES)
        desk.column(u, k / LANES, k % LANES) =
            smooth + value_at(words.column_words, words.column_values, begin, end, desk.types[u]);
    __syncwarp();
    return k;
}
