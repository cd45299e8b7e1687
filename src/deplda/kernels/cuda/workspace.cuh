// The workspace: all that is at hand while a warp runs one chain of one document.
//
// A label's column φ_·c and its mass N_c stand in a slot; 32 slots are a block, and a lane owns one
// slot of each block, so that no two lanes write the same mass. The struct itself is in shared memory,
// one for a warp: as 32 copies in registers or on stacks it would crowd out the caches. One lane
// writes it.
#pragma once

// Slots that are kept even when few labels have tokens: labels come back.
const int FEWEST = 2 * LANES;
// Topics whose counts stand in shared memory: each token reads some and may write two.
const int NEAR_TOPICS = 256;

// Where φ of type u stands in a slot: neighbouring slots of a type are read together.
__device__ inline long long place_of(int n_types, int u, int block, int lane)
{
    return ((long long)block * n_types + u) * LANES + lane;
}

// All that is at hand for one chain of one document.
struct Workspace {
    int n_types, n_tokens, n_labels, n_topics;
    const int *types, *times;
    const float *phi; // A_wc of the document's types, labels × types; null where it is looked up
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
        return columns[place_of(n_types, u, block, lane)];
    }
};

// Each document's words of memory; deplda.kernels.cuda.fast counts the same. One lane does it.
__device__ void lay_out(Workspace &ws, float *memory, int *near_topics, bool conditionals)
{
    int most = min(ws.n_tokens, ws.n_labels);
    int slots = max((most + LANES - 1) / LANES * LANES, FEWEST);
    ws.columns = memory;
    ws.mass = ws.columns + (long long)ws.n_types * slots;
    ws.labels = (int *)(ws.mass + slots);
    ws.z = ws.labels + slots;
    ws.z_topic = ws.z + ws.n_tokens;
    ws.n_dt = ws.z_topic + ws.n_tokens;
    ws.live = ws.n_dt + ws.n_topics;
    ws.by_topic = (float *)(ws.live + ws.n_topics);
    if (ws.n_topics <= NEAR_TOPICS)
        ws.n_dt = near_topics;
    ws.alpha = ws.by_topic + ws.n_types;
    ws.sums = ws.alpha + (conditionals ? ws.n_labels : 0);
}

// Take 32 more slots into use, empty ones.
__device__ void widen(Workspace &ws, int lane)
{
    ws.mass[ws.width + lane] = 0.0f;
    ws.labels[ws.width + lane] = -1;
    float *first = &ws.column(0, ws.width / LANES, 0); // 0 times what was there might be no number
    for (int j = lane; j < ws.n_types * LANES; j += LANES)
        first[j] = 0.0f;
    __syncwarp();
    if (lane == 0)
        ws.width += LANES;
    __syncwarp();
}

// Begin with no token drawn and few slots.
__device__ void clear(Workspace &ws, bool conditionals, int lane)
{
    if (lane == 0) {
        ws.width = ws.hand = ws.n_live = 0;
        ws.clock = 0;
    }
    __syncwarp();
    while (ws.width < FEWEST)
        widen(ws, lane);
    for (int i = lane; i < ws.n_tokens; i += LANES)
        ws.z[i] = ws.z_topic[i] = -1;
    for (int t = lane; t < ws.n_topics; t += LANES)
        ws.n_dt[t] = 0;
    for (int c = lane; conditionals && c < ws.n_labels; c += LANES)
        ws.sums[c] = 0.0f;
    __syncwarp();
}

// Give up the blocks that labels with mass do not need, and move those labels to the first ones.
__device__ __noinline__ void narrow(Workspace &ws, int lane)
{
    int heavy = 0;
    for (int b = 0; b < ws.width; b += LANES)
        heavy += __popc(__ballot_sync(ALL, ws.mass[b + lane] > 0.0f));
    int fitting = max(FEWEST, (heavy + heavy / 2) / LANES * LANES + LANES);
    if (fitting >= ws.width)
        return;
    int to = 0;
    for (int from = fitting; from < ws.width; from++) {
        if (ws.mass[from] == 0.0f)
            continue;
        while (ws.mass[to] > 0.0f)
            to++;
        for (int u = lane; u < ws.n_types; u += LANES)
            ws.column(u, to / LANES, to % LANES) = ws.column(u, from / LANES, from % LANES);
        __syncwarp();
        if (lane == 0) {
            ws.mass[to] = ws.mass[from];
            ws.labels[to] = ws.labels[from];
            ws.labels[from] = to; // where its tokens find it
        }
        __syncwarp();
    }
    for (int i = lane; i < ws.n_tokens; i += LANES)
        if (ws.z[i] >= fitting)
            ws.z[i] = ws.labels[ws.z[i]];
    __syncwarp();
    if (lane == 0) {
        ws.width = fitting;
        ws.hand = 0;
    }
    __syncwarp();
}

// A_wc of the document's type u, each lane its own; of null, by a search in the label's words.
__device__ float phi_at(const WordTables &words, const Workspace &ws, int c, int u)
{
    if (ws.phi)
        return ws.phi[(long long)c * ws.n_types + u];
    return value_at(words.column_words, words.column_values, words.column_starts[c],
                    words.column_starts[c + 1], ws.types[u]);
}

// The slot of label c, which takes one without mass if it has none.
__device__ __noinline__ int slot_of(const WordTables &words, Workspace &ws, int c, int lane)
{
    for (int b = 0; b < ws.width; b += LANES) {
        unsigned has = __ballot_sync(ALL, ws.labels[b + lane] == c);
        if (has)
            return b + __ffs(has) - 1;
    }
    int k = -1, n_blocks = ws.width / LANES;
    for (int step = 0; k < 0 && step <= n_blocks; step++) {
        int b = (ws.hand / LANES + step) % n_blocks * LANES;
        unsigned empty = __ballot_sync(ALL, ws.mass[b + lane] == 0.0f);
        if (step == 0)
            empty &= ALL << ws.hand % LANES;
        if (empty)
            k = b + __ffs(empty) - 1;
    }
    if (k < 0) {
        k = ws.width;
        widen(ws, lane);
    }
    __syncwarp();
    if (lane == 0) {
        ws.hand = (k + 1) % ws.width;
        ws.labels[k] = c;
    }
    float smooth = (float)words.base[c];
    const int AHEAD = 8; // read together, then written
    for (int first = lane; first < ws.n_types; first += AHEAD * LANES) {
        float values[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; j++)
            if (first + j * LANES < ws.n_types)
                values[j] = phi_at(words, ws, c, first + j * LANES);
#pragma unroll
        for (int j = 0; j < AHEAD; j++)
            if (first + j * LANES < ws.n_types)
                ws.column(first + j * LANES, k / LANES, k % LANES) = smooth + values[j];
    }
    __syncwarp();
    return k;
}
