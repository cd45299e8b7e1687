// The test-time cycle of proper inference: z, c, z′, c (paper §3.5, appendix C).
//
// A warp runs one chain of one document. A label token's weights are split as deplda.kernels.proper
// explains: φ′_ct, and an excess φ′_ct (f_c − 1) on the labels that have words. What is drawn from
// φ′_ct alone depends on no other label token: 32 tokens draw it at once, each lane one.
const int NEAR_BLOCKS = 6; // of slots: of most documents they hold all labels that have mass
#include "layouts.cuh"
#include "warp.cuh"
#include "workspace.cuh"
#include "cycle.cuh"
#include "chains.cuh"

const int TABLE_WORDS = 256;

// What is at hand for the label tokens of a chain, beside its workspace.
//
// The labels that have words stand in places, 32 of them a block; a lane owns one place of each
// block: it alone reads and writes what is kept of it in a sweep.
struct LabelTokens {
    int n, n_heavy; // label tokens, labels that have words
    int *tokens;    // the label of each label token
    int *at;        // label → its place, or its slot where slots are told; -1 if it has none
    int *on, *n_slot; // words and label tokens of each slot's label
    int *names;     // the label of each place
    int *n_words, *n_tokens;
    float *excess;  // f − 1 of each place
    float *rows;    // φ′ of the labels that have words: topics × places
    const float *table; // f − 1 by words, fewer than TABLE_WORDS, and label tokens
    double step, flat;  // η/M, Σα/C

    __device__ int width() const { return (n_heavy + LANES - 1) / LANES * LANES; }
};

// f_c − 1 of a label with so many words and label tokens.
__device__ __noinline__ float excess_of(int n_words, int n_tokens, double step, double flat)
{
    double a = step * n_tokens + flat;
    double log_f = lgamma(a + step + n_words) - lgamma(a + n_words) + lgamma(a) - lgamma(a + step);
    return (float)expm1(max(log_f, 0.0));
}

// Set the table of f − 1, a block for each number of words.
extern "C" __global__ void excesses(double step, double flat, int n_label_tokens, float *table)
{
    table += (long long)blockIdx.x * (n_label_tokens + 1);
    for (int n = threadIdx.x; n <= n_label_tokens; n += blockDim.x)
        table[n] = excess_of((int)blockIdx.x, n, step, flat);
}

// Set the excess of place h, which the lane owns.
__device__ inline void set_excess(LabelTokens &own, int h)
{
    int n_words = own.n_words[h], n_tokens = own.n_tokens[h];
    own.excess[h] = n_words < TABLE_WORDS
        ? own.table[(long long)n_words * (own.n + 1) + n_tokens]
        : excess_of(n_words, n_tokens, own.step, own.flat);
}

// Words of memory of `lay_out_tokens`, in whole sectors; deplda.kernels.cuda.proper counts the same.
__device__ float *lay_out_tokens(LabelTokens &own, const Workspace &ws, float *memory)
{
    int most = min(ws.n_tokens + own.n, ws.n_labels), heavy = min(ws.n_tokens, ws.n_labels);
    int slots = (most + LANES - 1) / LANES * LANES + LANES;
    int places = (heavy + LANES - 1) / LANES * LANES;
    own.rows = memory;
    own.excess = own.rows + (long long)ws.n_topics * places;
    own.n_words = (int *)(own.excess + places);
    own.n_tokens = own.n_words + places;
    own.names = own.n_tokens + places;
    own.on = own.names + places;
    own.n_slot = own.on + slots;
    own.tokens = own.n_slot + slots;
    own.at = own.tokens + own.n;
    return (float *)own.at + ws.n_labels;
}

// Mutate `on`: how many words the label of each slot has.
__device__ void count_words(Workspace &ws, LabelTokens &own, int lane)
{
    for (int k = lane; k < ws.width; k += LANES)
        own.on[k] = 0;
    __syncwarp();
    for (int i = lane; i < ws.n_tokens; i += LANES)
        atomicAdd(own.on + ws.z[i], 1);
    __syncwarp();
}

// Mutate the places: the labels that have words, their label tokens, excess and φ′.
__device__ void set_places(const TopicTables &topics, Workspace &ws, LabelTokens &own, int lane)
{
    own.n_heavy = 0;
    for (int k = lane; k < ws.width; k += LANES) {
        unsigned all = __ballot_sync(ALL, own.on[k] > 0);
        if (own.on[k] > 0) {
            int h = own.n_heavy + __popc(all & ((1u << lane) - 1));
            own.names[h] = ws.label(k);
            own.n_words[h] = own.on[k];
            own.n_tokens[h] = 0;
            own.at[ws.label(k)] = h;
        }
        own.n_heavy += __popc(all);
    }
    __syncwarp();
    for (int m = lane; m < own.n; m += LANES) {
        int h = own.at[own.tokens[m]];
        if (h >= 0)
            atomicAdd(own.n_tokens + h, 1);
    }
    __syncwarp();
    int width = own.width();
    for (int h = lane; h < width; h += LANES) {
        bool is_one = h < own.n_heavy;
        if (is_one)
            set_excess(own, h);
        else
            own.excess[h] = 0.0f;
        for (int t = 0; t < ws.n_topics; t++)
            own.rows[(long long)t * width + h] = is_one ? ws.base[t] : 0.0f;
        int c = is_one ? own.names[h] : 0;
        for (long long e = topics.label_starts[c]; is_one && e < topics.label_starts[c + 1]; e++)
            own.rows[(long long)topics.label_topics[e] * width + h] += topics.label_values[e];
    }
    __syncwarp();
}

// A label drawn from φ′_t: each lane its own.
__device__ int from_topic(const TopicTables &topics, int t, int n_labels, double u)
{
    long long begin = topics.topic_starts[t], end = topics.topic_starts[t + 1];
    double own = end > begin ? topics.topic_sums[end - 1] : 0.0, base = topics.base[t];
    double r = u * (own + base * n_labels);
    if (r >= own)
        return (int)min((r - own) / base, n_labels - 1.0);
    long long low = begin, high = end - 1;
    while (low < high) {
        long long middle = (low + high) / 2;
        if (topics.topic_sums[middle] > r)
            high = middle;
        else
            low = middle + 1;
    }
    return topics.topic_labels[low];
}

// Mutate the label tokens of place h, one more or one less; nothing if the label has no words.
__device__ inline void add_token(LabelTokens &own, int h, int more, int lane)
{
    if (h >= 0 && lane == h % LANES) {
        own.n_tokens[h] += more;
        set_excess(own, h);
    }
}

// The place drawn by φ′_ct (f_c − 1), or -1 for a draw by φ′_ct alone; `number` is uniform.
__device__ int draw_place(const LabelTokens &own, int t, float number, int lane)
{
    int width = own.width();
    const float *row = own.rows + (long long)t * width;
    float sum = 0.0f;
    for (int h = lane; h < width; h += LANES)
        sum += row[h] * own.excess[h];
    float upto = running_sum(sum, lane);
    float r = number * (1.0f + __shfl_sync(ALL, upto, LANES - 1));
    unsigned over = __ballot_sync(ALL, sum > 0.0f && upto > r);
    if (!over)
        return -1;
    // Down the lane at which the running sum exceeds r, as in sweep_words.
    float left = r - (upto - sum);
    int last = -1;
    for (int h = lane; h < width; h += LANES) {
        float weight = row[h] * own.excess[h];
        if (weight > 0.0f && (left >= 0.0f || last < 0)) {
            last = h;
            left -= weight;
        }
    }
    return __shfl_sync(ALL, last, __ffs(over) - 1);
}

// Mutate the label tokens and the clock: one update of each, eq. 9.
__device__ void sweep_labels(const TopicTables &topics, Workspace &ws, LabelTokens &own, int lane)
{
    for (int first = 0; first < own.n; first += LANES) {
        int m = min(first + lane, own.n - 1);
        int t = max(ws.z_topic[m], 0); // one topic is not drawn
        int c = own.tokens[m], h = own.at[c];
        float number = (float)uniform(ws.key, ws.gamma, ws.clock + m);
        double second = uniform(ws.key, ws.gamma, ws.clock + own.n + m);
        int other = from_topic(topics, t, ws.n_labels, second), place = own.at[other];
        for (int lent = 0; lent < min(LANES, own.n - first); lent++) {
            add_token(own, __shfl_sync(ALL, h, lent), -1, lane);
            int drawn = draw_place(
                own, __shfl_sync(ALL, t, lent), __shfl_sync(ALL, number, lent), lane);
            if (lane == lent)
                c = drawn >= 0 ? own.names[drawn] : other;
            add_token(own, drawn >= 0 ? drawn : __shfl_sync(ALL, place, lent), 1, lane);
        }
        __syncwarp();
        if (first + lane < own.n)
            own.tokens[first + lane] = c;
    }
    __syncwarp();
    if (lane == 0)
        ws.clock += 2 * (u64)own.n;
    __syncwarp();
}

// Mutate the workspace: one update of every z′, eq. 10, of the label tokens.
__device__ void sweep_own_topics(
    const TopicTables &topics, Workspace &ws, const LabelTokens &own, float gamma, int lane)
{
    sweep_topics(topics, ws, own.n, gamma, lane, [&](int m) { return own.tokens[m]; });
}

// Mutate n_slot and mass, N_c + η n_c/M, of the slots whose labels `at` tells.
__device__ void set_mass(Workspace &ws, LabelTokens &own, int lane)
{
    for (int k = lane; k < ws.width; k += LANES)
        own.n_slot[k] = 0;
    __syncwarp();
    for (int m = lane; m < own.n; m += LANES) {
        int k = own.at[own.tokens[m]];
        if (k >= 0)
            atomicAdd(own.n_slot + k, 1);
    }
    __syncwarp();
    for (int k = lane; k < ws.width; k += LANES)
        ws.mass(k) = own.on[k] + (float)own.step * own.n_slot[k];
    __syncwarp();
}

// Mutate the workspace: mass N_c + η n_c/M, α′ of eq. 1 but for Σα/C, a slot for each such label.
__device__ void set_prior_mass(Workspace &ws, LabelTokens &own, int lane)
{
    for (int k = lane; k < ws.width; k += LANES)
        if (ws.label(k) >= 0)
            own.at[ws.label(k)] = k;
    __syncwarp();
    set_mass(ws, own, lane);
    for (int k = lane; k < ws.width; k += LANES)
        if (ws.label(k) >= 0 && ws.mass(k) == 0.0f)
            own.at[ws.label(k)] = -1; // its slot may be taken
    __syncwarp();
    for (int first = 0; first < own.n; first += LANES) {
        int c = own.tokens[min(first + lane, own.n - 1)];
        while (unsigned missing = __ballot_sync(ALL, own.at[c] < 0)) {
            int next = __shfl_sync(ALL, c, __ffs(missing) - 1), width = ws.width;
            int k = slot_of(ws, next, lane);
            if (width < ws.width)
                own.on[width + lane] = 0;
            if (lane == 0) {
                ws.mass(k) = 1.0f; // until all are counted
                own.at[next] = k;
            }
            __syncwarp();
        }
    }
    set_mass(ws, own, lane);
    for (int k = lane; k < ws.width; k += LANES)
        if (ws.mass(k) > 0.0f)
            own.at[ws.label(k)] = -1;
    __syncwarp();
}

// Mutate the workspace and the label tokens: after a sweep of z, c, z′, c; or, at the start, label
// tokens after the words' labels and two sweeps of z′.
__device__ void rest_of_cycle(
    const TopicTables &topics, Workspace &ws, LabelTokens &own, float gamma, bool is_start, int lane)
{
    count_words(ws, own, lane);
    if (is_start) {
        for (int m = lane; m < own.n; m += LANES)
            own.tokens[m] = ws.label(ws.z[(long long)m * ws.n_tokens / own.n]);
        __syncwarp();
        sweep_own_topics(topics, ws, own, gamma, lane);
    } else {
        set_places(topics, ws, own, lane);
        sweep_labels(topics, ws, own, lane);
    }
    sweep_own_topics(topics, ws, own, gamma, lane);
    if (!is_start) {
        sweep_labels(topics, ws, own, lane);
        for (int h = lane; h < own.n_heavy; h += LANES)
            own.at[own.names[h]] = -1;
        __syncwarp();
    }
    set_prior_mass(ws, own, lane);
}

// Add to out_counts, out_topics, out_words and out_labels the samples of N_c (or of its
// conditionals), of N_dt, of what entries give to the `chosen` labels, and of n_c.
//
// As `sample` of fast.cu, with n_label_tokens label tokens for each document; `table` is that of
// `excesses`. A document without words is left out.
extern "C" __global__ void __launch_bounds__(128, 4) sample(
    const WordTables *words, const TopicTables *sets, const long long *set_starts, int n_labels,
    const long long *starts, const int *types, const int *times, const int *order,
    const long long *phi_starts, const float *phi, const long long *memory_starts, float *memory,
    int first, int n_items, int n_sets, int n_chains, double eta, double alpha,
    double gamma_sum, u64 key, u64 gamma, int burn_in, int n_samples, int lag, int conditionals,
    const int *chosen, int n_chosen, u64 *out_counts, u64 *out_topics, u64 *out_words,
    int n_label_tokens, const float *table, u64 *out_labels)
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
    }
    __syncwarp();
    if (ws.n_tokens == 0)
        return;
    LabelTokens own;
    own.n = n_label_tokens, own.table = table;
    own.step = eta / n_label_tokens, own.flat = alpha;
    float *rest = lay_out_tokens(own, ws, memory + memory_starts[item - first]);
    int n_tokens = ws.n_tokens;
    __syncwarp();
    if (lane == 0) {
        ws.n_tokens += own.n; // so many labels may have mass, and so many z and z′ there are at most
        lay_out(ws, topics, rest, near[threadIdx.x / LANES], conditionals);
    }
    __syncwarp();
    clear(ws, topics, conditionals, lane);
    if (lane == 0)
        ws.n_tokens = n_tokens;
    __syncwarp();
    for (int c = lane; c < n_labels; c += LANES)
        own.at[c] = -1;
    __syncwarp();
    float topic_gamma = (float)(gamma_sum / ws.n_topics);
    Prior start = {0.0f, (float)(alpha + eta / n_labels), topic_gamma};
    Prior prior = {0.0f, (float)alpha, topic_gamma};
    u64 *counts = out_counts + (long long)d * n_labels;
    u64 *labels = out_labels + (long long)d * n_labels;
    u64 *shares = out_topics + (long long)d * set_starts[n_sets] + set_starts[set];
    for (int cycle = -1; cycle <= burn_in + (n_samples - 1) * lag; cycle++) {
        sweep_words(*words, topics, ws, cycle < 1 ? start : prior, lane);
        if (cycle >= 0)
            rest_of_cycle(topics, ws, own, topic_gamma, cycle == 0, lane);
        if (cycle < burn_in || (cycle - burn_in) % lag)
            continue;
        for (int t = lane; t < ws.n_topics; t += LANES)
            if (ws.n_dt[t])
                atomicAdd(shares + t, (u64)ws.n_dt[t]);
        for (int k = lane; k < ws.width; k += LANES) {
            if (own.n_slot[k])
                atomicAdd(labels + ws.label(k), (u64)own.n_slot[k]);
            if (own.on[k] && !conditionals)
                add_units(counts + ws.label(k), own.on[k], UNIT);
        }
        Chosen asked = chosen_of(chosen, n_chosen, out_words, starts, d);
        if (conditionals) {
            add_conditionals(*words, topics, ws, prior, lane);
            add_word_conditionals(*words, ws, asked, lane);
        } else {
            add_words(ws, asked, lane);
        }
    }
    for (int c = lane; conditionals && c < n_labels; c += LANES)
        add_units(counts + c, ws.sums[c], UNIT);
}
