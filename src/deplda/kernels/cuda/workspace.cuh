// The workspace: all that is at hand while a warp runs one chain of one document.
//
// A label that has mass N_c stands in a slot; 32 slots are a block, and a lane owns one slot of each
// block, so that no two lanes write the same mass. What tokens read stands near, in shared memory: the
// first blocks of slots, and φ of their labels for a few types at a time. Far slots are in the chain's
// own memory. φ itself is the document's, one table for all of its chains. One lane writes the struct.
#pragma once

const int NEAR_SLOTS = NEAR_BLOCKS * LANES;
const int NEAR_TOPICS = 256;
const int GROUP = 4; // types whose φ is read together

// What stands near for one warp.
struct Near {
    float mass[NEAR_SLOTS];
    int labels[NEAR_SLOTS];
    float rows[GROUP][NEAR_SLOTS]; // φ_wc of the types at hand
    int n_dt[NEAR_TOPICS];
    float base[NEAR_TOPICS];
};

// All that is at hand for one chain of one document.
struct Workspace {
    int n_types, n_tokens, n_labels, n_topics;
    int stride; // n_types in whole groups
    const int *types, *times;
    const float *phi; // A_wc of the document's types, labels × stride
    Near *near;
    float *far_mass; // N_c of each slot's label, 0 if it has none now
    int *far_labels; // the label of each slot, -1 if none
    int *z;          // the slot of each word token's label, -1 before the first sweep
    int *z_topic;    // the topic of each label token, -1 before the first sweep
    int *n_dt;
    const float *base; // b′ of the topics
    int *live;       // the topics that have tokens
    float *by_topic; // total of the topic bucket for each type, this sweep
    float *alpha, *sums; // all labels; for conditionals only
    int width, n_live;   // slots in use, topics that have tokens
    u64 key, gamma, clock; // the chain's stream, and how many numbers have been drawn from it

    __device__ float &mass(int slot)
    {
        return slot < NEAR_SLOTS ? near->mass[slot] : far_mass[slot];
    }

    __device__ int &label(int slot)
    {
        return slot < NEAR_SLOTS ? near->labels[slot] : far_labels[slot];
    }
};

// Each document's words of memory; deplda.kernels.cuda.fast counts the same. One lane does it.
__device__ void lay_out(
    Workspace &ws, const TopicTables &topics, float *memory, Near &near, bool conditionals)
{
    int most = min(ws.n_tokens, ws.n_labels);
    int slots = (most + LANES - 1) / LANES * LANES + LANES;
    bool is_near = ws.n_topics <= NEAR_TOPICS;
    ws.near = &near;
    ws.far_mass = memory;
    ws.far_labels = (int *)(ws.far_mass + slots);
    ws.z = ws.far_labels + slots;
    ws.z_topic = ws.z + ws.n_tokens;
    ws.live = ws.z_topic + ws.n_tokens;
    ws.n_dt = is_near ? near.n_dt : ws.live + ws.n_topics;
    ws.base = is_near ? near.base : topics.base;
    ws.by_topic = (float *)(ws.live + 2 * ws.n_topics);
    ws.alpha = ws.by_topic + ws.n_types;
    ws.sums = ws.alpha + (conditionals ? ws.n_labels : 0);
}

// Take 32 more slots into use, empty ones.
__device__ void widen(Workspace &ws, int lane)
{
    ws.mass(ws.width + lane) = 0.0f;
    ws.label(ws.width + lane) = -1;
    __syncwarp();
    if (lane == 0)
        ws.width += LANES;
    __syncwarp();
}

// Begin with no token drawn and few slots.
__device__ void clear(Workspace &ws, const TopicTables &topics, bool conditionals, int lane)
{
    if (lane == 0) {
        ws.width = ws.n_live = 0;
        ws.clock = 0;
    }
    __syncwarp();
    widen(ws, lane);
    for (int i = lane; i < ws.n_tokens; i += LANES)
        ws.z[i] = ws.z_topic[i] = -1;
    for (int t = lane; t < ws.n_topics; t += LANES) {
        ws.n_dt[t] = 0;
        if (ws.n_topics <= NEAR_TOPICS)
            ws.near->base[t] = topics.base[t];
    }
    for (int c = lane; conditionals && c < ws.n_labels; c += LANES)
        ws.sums[c] = 0.0f;
    __syncwarp();
}

// Move the labels that have mass to the first blocks, as few as hold them, and give up the others.
__device__ __noinline__ void narrow(Workspace &ws, int lane)
{
    int heavy = 0;
    for (int b = 0; b < ws.width; b += LANES)
        heavy += __popc(__ballot_sync(ALL, ws.mass(b + lane) > 0.0f));
    int fitting = max(heavy + LANES - 1, LANES) / LANES * LANES, block = 0;
    if (fitting >= ws.width)
        return;
    unsigned empty = __ballot_sync(ALL, !(ws.mass(lane) > 0.0f));
    for (int b = fitting; b < ws.width; b += LANES) {
        unsigned full = __ballot_sync(ALL, ws.mass(b + lane) > 0.0f);
        for (; full; full &= full - 1, empty &= empty - 1) {
            while (!empty) {
                block += LANES;
                empty = __ballot_sync(ALL, !(ws.mass(block + lane) > 0.0f));
            }
            int from = b + __ffs(full) - 1, to = block + __ffs(empty) - 1;
            if (lane == 0) {
                ws.mass(to) = ws.mass(from);
                ws.label(to) = ws.label(from);
                ws.label(from) = to; // where its tokens find it
            }
        }
    }
    __syncwarp();
    for (int i = lane; i < ws.n_tokens; i += LANES)
        if (ws.z[i] >= fitting)
            ws.z[i] = ws.label(ws.z[i]);
    __syncwarp();
    if (lane == 0)
        ws.width = fitting;
    __syncwarp();
}

// A_wc of the document's type u, each lane its own.
__device__ inline float phi_at(const Workspace &ws, int c, int u)
{
    return ws.phi[(long long)c * ws.stride + u];
}

// φ_wc of the label in a slot, 0 where there is none.
__device__ inline float phi_in(const WordTables &words, Workspace &ws, int slot, int u)
{
    int c = ws.label(slot);
    return c < 0 ? 0.0f : (float)words.base[c] + phi_at(ws, c, u);
}

// The slot of label c, which takes the first one without mass if it has none.
__device__ __noinline__ int slot_of(Workspace &ws, int c, int lane)
{
    for (int b = 0; b < ws.width; b += LANES) {
        unsigned has = __ballot_sync(ALL, ws.label(b + lane) == c);
        if (has)
            return b + __ffs(has) - 1;
    }
    int k = -1;
    for (int b = 0; k < 0 && b < ws.width; b += LANES) {
        unsigned empty = __ballot_sync(ALL, ws.mass(b + lane) == 0.0f);
        if (empty)
            k = b + __ffs(empty) - 1;
    }
    if (k < 0) {
        k = ws.width;
        widen(ws, lane);
    }
    __syncwarp();
    if (lane == k % LANES)
        ws.label(k) = c;
    __syncwarp();
    return k;
}
