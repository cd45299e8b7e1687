// The test-time cycle with expectations instead of draws, on word types instead of tokens.
//
// r_wc ∝ φ_wc m_c with m = N + α′, and N_c = Σ_w x_w r_wc: as deplda.kernels.expected. A few cycles
// over all labels with a flat prior (`begin`) find the labels to keep. Each set of topics then has
// its own cycles on those and a pool of all others (`own_cycles`), and one last cycle over all
// labels, from the average over the sets, gives every label its expected tokens (`finish`).
#include "layouts.cuh"
#include "warp.cuh"

// A sum over words or labels is kept in units of 2^-36 tokens.
const double UNIT = 68719476736.0;
const int FLAT_CYCLES = 5;
const int BLOCKS = 9;
const int WIDTH = BLOCKS * LANES; // of a row of columns: labels on their own, and at the end …
const int POOL = WIDTH - 1;       // … the pool of all others
const float TINY = 1e-37f;

// One document, of a block: its types, and n, its tokens.
struct Document {
    const int *types;
    const float *times;
    int n_types;
    double n;
};

__device__ Document document_of(
    const long long *starts, const int *types, const float *times, int d, double *parts)
{
    Document own = {types + starts[d], times + starts[d], (int)(starts[d + 1] - starts[d]), 0.0};
    double n = 0.0;
    for (int u = threadIdx.x; u < own.n_types; u += blockDim.x)
        n += own.times[u];
    own.n = block_sum(n, parts);
    return own;
}

// Set counts to N_c = m_c Σ_w ratio_w φ_wc; `sums`, a number for each label, is all 0 before.
__device__ void label_counts(
    const WordTables &words, const Document &own, int n_labels, const float *ratios,
    const float *mass, u64 *sums, double *counts, double *parts)
{
    int lane = threadIdx.x % LANES, n_warps = blockDim.x / LANES;
    double total = 0.0;
    for (int u = threadIdx.x / LANES; u < own.n_types; u += n_warps) {
        long long end = words.row_starts[own.types[u] + 1];
        for (long long e = words.row_starts[own.types[u]] + lane; e < end; e += LANES) {
            int c = words.row_labels[e];
            add_units(sums + c, (double)ratios[u] * words.row_values[e] * mass[c], UNIT);
        }
        total += lane == 0 ? ratios[u] : 0.0;
    }
    total = block_sum(total, parts);
    for (int c = threadIdx.x; c < n_labels; c += blockDim.x) {
        counts[c] = from_units(sums[c], UNIT) + total * words.base[c] * mass[c];
        sums[c] = 0;
    }
    __syncthreads();
}

// Set ratios to x_w/Z_w, Z_w = Σ_c φ_wc m_c.
__device__ void word_ratios(
    const WordTables &words, const Document &own, int n_labels, const float *mass, float *ratios,
    double *parts)
{
    int lane = threadIdx.x % LANES, n_warps = blockDim.x / LANES;
    double smooth = 0.0;
    for (int c = threadIdx.x; c < n_labels; c += blockDim.x)
        smooth += words.base[c] * mass[c];
    smooth = block_sum(smooth, parts);
    for (int u = threadIdx.x / LANES; u < own.n_types; u += n_warps) {
        long long end = words.row_starts[own.types[u] + 1];
        double total = 0.0;
        for (long long e = words.row_starts[own.types[u]] + lane; e < end; e += LANES)
            total += words.row_values[e] * mass[words.row_labels[e]];
        total = smooth + warp_sum(total);
        if (lane == 0)
            ratios[u] = (float)(own.times[u] / total);
    }
    __syncthreads();
}

// Set counts to N_c of all labels after the cycles that know no topics; a block for each document.
//
// `flat` is each label's prior. `mass` and `sums` are documents × labels to work on, `ratios` a
// number for each entry; the first cycle's masses are equal.
extern "C" __global__ void begin(
    const WordTables *words, int n_labels, const long long *starts, const int *types,
    const float *times, double flat, float *mass, u64 *sums, float *ratios, double *counts)
{
    __shared__ double parts[LANES];
    long long d = blockIdx.x;
    Document own = document_of(starts, types, times, (int)d, parts);
    mass += d * n_labels, sums += d * n_labels, counts += d * n_labels, ratios += starts[d];
    for (int cycle = 0; cycle <= FLAT_CYCLES; cycle++) {
        for (int c = threadIdx.x; c < n_labels; c += blockDim.x)
            mass[c] = cycle == 0 ? 1.0f : (float)(counts[c] + flat);
        __syncthreads();
        word_ratios(*words, own, n_labels, mass, ratios, parts);
        label_counts(*words, own, n_labels, ratios, mass, sums, counts, parts);
    }
}

// Set columns to φ of the document's types × its kept labels and the pool of all others.
//
// `place` is documents × labels: where a kept label stands, -1 for the others. A block for each
// document; the columns of entry e begin at WIDTH · e.
extern "C" __global__ void gather(
    const WordTables *words, int n_labels, const long long *starts, const int *types,
    const int *names, const int *place, int n_kept, float *columns)
{
    int d = blockIdx.x, lane = threadIdx.x % LANES, n_warps = blockDim.x / LANES;
    names += (long long)d * n_kept;
    place += (long long)d * n_labels;
    for (long long u = starts[d] + threadIdx.x / LANES; u < starts[d + 1]; u += n_warps) {
        float *row = columns + u * WIDTH;
        double kept = 0.0;
        for (int s = lane; s < WIDTH; s += LANES) {
            row[s] = s < n_kept ? (float)words->base[names[s]] : 0.0f;
            kept += s < n_kept ? words->base[names[s]] : 0.0;
        }
        __syncwarp();
        long long end = words->row_starts[types[u] + 1];
        for (long long e = words->row_starts[types[u]] + lane; e < end; e += LANES) {
            int s = place[words->row_labels[e]];
            if (s >= 0) {
                row[s] += words->row_values[e];
                kept += words->row_values[e];
            }
        }
        kept = warp_sum(kept);
        double all = words->row_totals[types[u]] + words->base_sums[n_labels - 1];
        if (lane == 0)
            row[POOL] = n_kept < n_labels ? (float)max(all - kept, 0.0) : 0.0f;
    }
}

// The topics of one set in one document: θ′, and what the kept labels and the pool take of φ′.
struct Topics {
    int first, n; // numbered through all sets, from `first` on
    double gamma;            // Σγ/T
    const double *base;      // b′
    double *weight;          // n_t + Σγ/T
    double *pool;            // φ′ of the pool
    u64 *drawn;              // sums to work on, all 0 before and after
    const long long *starts; // where the topics of label c in this set begin, at c · stride
    int stride;
    const int *topics;
    const double *values;
};

// Call f(topic, P_ct) for the topics that label c has of its own.
template <class Function> __device__ void each_topic(const Topics &topics, int c, Function f)
{
    const long long *at = topics.starts + (long long)c * topics.stride;
    for (long long e = at[0]; e < at[1]; e++)
        f(topics.topics[e] - topics.first, topics.values[e]);
}

// Set the weights as they begin, n tokens spread alike, and φ′ of the pool.
__device__ void start_topics(const Topics &topics, const int *names, int n_kept, double n)
{
    for (int s = threadIdx.x; s < n_kept; s += blockDim.x)
        each_topic(topics, names[s], [&](int t, double value) {
            add_units(topics.drawn + t, value, UNIT);
        });
    __syncthreads();
    for (int t = threadIdx.x; t < topics.n; t += blockDim.x) {
        topics.weight[t] = n / topics.n + topics.gamma;
        double own = n_kept * topics.base[t] + from_units(topics.drawn[t], UNIT);
        topics.pool[t] = max(1.0 - own, 0.0);
        topics.drawn[t] = 0;
    }
    __syncthreads();
}

// Set likely to Σ_t weight_t φ′_ct of each kept label, eq. 11.
__device__ void likelihoods(
    const Topics &topics, const int *names, int n_kept, double *likely, double *parts)
{
    double shared = 0.0;
    for (int t = threadIdx.x; t < topics.n; t += blockDim.x)
        shared += topics.base[t] * topics.weight[t];
    shared = block_sum(shared, parts);
    for (int s = threadIdx.x; s < n_kept; s += blockDim.x) {
        double own = shared;
        each_topic(topics, names[s], [&](int t, double value) { own += value * topics.weight[t]; });
        likely[s] = own;
    }
    __syncthreads();
}

// Mutate the weights, n_t + Σγ/T, by the tokens of labels and pool, and likely: z′ expected, eq. 10.
__device__ void topic_cycle(
    const Topics &topics, const int *names, int n_kept, const double *counts, double rest,
    double *likely, double *parts)
{
    if (topics.n <= 1)
        return;
    double ratios = 0.0, pooled = 0.0;
    for (int s = threadIdx.x; s < n_kept; s += blockDim.x) {
        double ratio = counts[s] / max(likely[s], 1e-300);
        ratios += ratio;
        each_topic(topics, names[s], [&](int t, double value) {
            add_units(topics.drawn + t, ratio * value * topics.weight[t], UNIT);
        });
    }
    for (int t = threadIdx.x; t < topics.n; t += blockDim.x)
        pooled += topics.pool[t] * topics.weight[t];
    ratios = block_sum(ratios, parts);
    rest /= max(block_sum(pooled, parts), 1e-300);
    for (int t = threadIdx.x; t < topics.n; t += blockDim.x) {
        double others = ratios * topics.base[t] + rest * topics.pool[t];
        topics.weight[t] =
            from_units(topics.drawn[t], UNIT) + topics.weight[t] * others + topics.gamma;
        topics.drawn[t] = 0;
    }
    __syncthreads();
    likelihoods(topics, names, n_kept, likely, parts);
}

// Set ratios to x_w/Z_w and sums to Σ_w (x_w/Z_w) φ_wc: expectations of z, eq. 8.
//
// Each warp has one row of columns at a time.
__device__ void cycle(
    const Document &own, const float *columns, const float *mass, float *ratios,
    float (*partial)[WIDTH], float *sums)
{
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, n_warps = blockDim.x / LANES;
    float added[BLOCKS], masses[BLOCKS];
    for (int b = 0; b < BLOCKS; b++) {
        added[b] = 0.0f;
        masses[b] = mass[b * LANES + lane];
    }
    for (int u = warp; u < own.n_types; u += n_warps) {
        const float *row = columns + (long long)u * WIDTH + lane;
        float values[BLOCKS], total = 0.0f;
        for (int b = 0; b < BLOCKS; b++) {
            values[b] = row[b * LANES];
            total += values[b] * masses[b];
        }
        float ratio = own.times[u] / max(warp_sum(total), TINY);
        for (int b = 0; b < BLOCKS; b++)
            added[b] += ratio * values[b];
        if (lane == 0)
            ratios[u] = ratio;
    }
    for (int b = 0; b < BLOCKS; b++)
        partial[warp][b * LANES + lane] = added[b];
    __syncthreads();
    for (int s = threadIdx.x; s < WIDTH; s += blockDim.x) {
        sums[s] = 0.0f;
        for (int from = 0; from < n_warps; from++)
            sums[s] += partial[from][s];
    }
    __syncthreads();
}

// Mutate counts, of the kept labels; set shares to θ′, eq. 7, and ratios to x_w/Z_w, α′ by eq. 12.
//
// A block for each document and set, d · n_sets + set; `counts` are documents × sets × kept labels,
// `shares`, `pool` and `drawn` documents × the topics of all sets, `ratios` sets × entries.
extern "C" __global__ void __launch_bounds__(128) own_cycles(
    const TopicSets *sets, int n_sets, int n_labels, int n_kept, const long long *starts,
    const int *types, const float *times, const int *names, const float *columns, double eta,
    double flat, double gamma, double tolerance, int max_cycles, double *counts, double *shares,
    double *pool, u64 *drawn, float *ratios)
{
    __shared__ double parts[LANES], likely[WIDTH];
    __shared__ float mass[WIDTH], sums[WIDTH], partial[4][WIDTH];
    long long d = blockIdx.x / n_sets, set = blockIdx.x % n_sets;
    long long first = sets->set_starts[set], place = d * sets->set_starts[n_sets] + first;
    Document own = document_of(starts, types, times, (int)d, parts);
    Topics topics;
    topics.first = (int)first, topics.n = (int)(sets->set_starts[set + 1] - first);
    topics.gamma = gamma / max(topics.n, 1);
    topics.base = sets->base + first;
    topics.weight = shares + place, topics.pool = pool + place, topics.drawn = drawn + place;
    topics.starts = sets->label_starts + set, topics.stride = n_sets;
    topics.topics = sets->label_topics, topics.values = sets->label_values;
    names += d * n_kept, counts += (d * n_sets + set) * n_kept;
    columns += starts[d] * WIDTH, ratios += set * starts[gridDim.x / n_sets] + starts[d];

    double rest = 0.0;
    for (int s = threadIdx.x; s < n_kept; s += blockDim.x)
        rest += counts[s];
    rest = own.n - block_sum(rest, parts);
    start_topics(topics, names, n_kept, own.n);
    likelihoods(topics, names, n_kept, likely, parts);
    for (int number = 0; number < max_cycles; number++) {
        topic_cycle(topics, names, n_kept, counts, rest, likely, parts);
        double alphas = 0.0;
        for (int s = threadIdx.x; s < WIDTH; s += blockDim.x) {
            double alpha = s < n_kept ? flat + eta / (own.n + gamma) * likely[s] : 0.0;
            alphas += alpha;
            mass[s] = s < n_kept ? (float)(counts[s] + alpha) : 0.0f;
        }
        alphas = max(eta + flat * n_labels - block_sum(alphas, parts), 0.0);
        if (threadIdx.x == 0)
            mass[POOL] = (float)((rest + alphas) / max(n_labels - n_kept, 1));
        __syncthreads();
        cycle(own, columns, mass, ratios, partial, sums);
        double moved = 0.0;
        for (int s = threadIdx.x; s < n_kept; s += blockDim.x) {
            double count = (double)mass[s] * sums[s];
            moved += fabs(count - counts[s]);
            counts[s] = count;
        }
        rest = (double)mass[POOL] * sums[POOL];
        if (block_sum(moved, parts) <= tolerance * own.n)
            break;
    }
    topic_cycle(topics, names, n_kept, counts, rest, likely, parts);
    for (int t = threadIdx.x; t < topics.n; t += blockDim.x)
        topics.weight[t] /= own.n + gamma;
}

// Set alpha to α′ = η θ′·φ′ + Σα/C, eq. 12, on average over the sets; documents × labels.
extern "C" __global__ void mean_alpha(
    const TopicSets *sets, int n_sets, int n_labels, const double *shares, double eta, double flat,
    double *alpha)
{
    __shared__ double parts[LANES];
    long long n_topics = sets->set_starts[n_sets];
    shares += blockIdx.x * n_topics;
    alpha += (long long)blockIdx.x * n_labels;
    double shared = 0.0;
    for (int t = threadIdx.x; t < n_topics; t += blockDim.x)
        shared += sets->base[t] * shares[t];
    shared = block_sum(shared, parts);
    for (int c = threadIdx.x; c < n_labels; c += blockDim.x) {
        double own = shared;
        long long end = sets->label_starts[(c + 1LL) * n_sets];
        for (long long e = sets->label_starts[(long long)c * n_sets]; e < end; e++)
            own += sets->label_values[e] * shares[sets->label_topics[e]];
        alpha[c] = flat + eta / n_sets * own;
    }
}

// Set given to the tokens (x_w/Z_w) φ_wc m_c of each entry for the chosen labels, documents × n_chosen.
//
// `mass` and `ratios` are what `finish` leaves. A block for each document.
extern "C" __global__ void give_words(
    const WordTables *words, int n_labels, const long long *starts, const int *types,
    const float *mass, const float *ratios, const int *chosen, int n_chosen, double *given)
{
    long long d = blockIdx.x, end = starts[d + 1] * n_chosen;
    mass += d * n_labels, chosen += d * n_chosen;
    for (long long i = starts[d] * n_chosen + threadIdx.x; i < end; i += blockDim.x) {
        int w = types[i / n_chosen], c = chosen[i % n_chosen];
        float own = value_at(words->row_labels, words->row_values, words->row_starts[w],
                             words->row_starts[w + 1], c);
        given[i] = ratios[i / n_chosen] * (words->base[c] + own) * mass[c];
    }
}

// Set counts to N_c of all labels: one cycle from the average over the sets.
//
// `own_counts`, `place` and `own_ratios` are what `gather` and `own_cycles` had and made. A label in
// the pool has no tokens yet: those at which N = (N + α′) Σ_w (x_w/Z_w) φ_wc.
extern "C" __global__ void finish(
    const WordTables *words, int n_sets, int n_labels, int n_kept, const long long *starts,
    const int *types, const float *times, const int *place, const double *own_counts,
    const float *own_ratios, const double *alpha, float *mass, u64 *sums, float *ratios,
    double *counts)
{
    __shared__ double parts[LANES];
    long long d = blockIdx.x, n_entries = starts[gridDim.x];
    Document own = document_of(starts, types, times, (int)d, parts);
    place += d * n_labels, alpha += d * n_labels, mass += d * n_labels, sums += d * n_labels;
    counts += d * n_labels, ratios += starts[d], own_counts += d * n_sets * n_kept;
    own_ratios += starts[d];
    for (int u = threadIdx.x; u < own.n_types; u += blockDim.x) {
        float mean = 0.0f;
        for (int set = 0; set < n_sets; set++)
            mean += own_ratios[set * n_entries + u];
        ratios[u] = mean / n_sets;
    }
    for (int c = threadIdx.x; c < n_labels; c += blockDim.x)
        mass[c] = 1.0f;
    __syncthreads();
    label_counts(*words, own, n_labels, ratios, mass, sums, counts, parts);
    for (int c = threadIdx.x; c < n_labels; c += blockDim.x) {
        double mean = 0.0;
        for (int set = 0; place[c] >= 0 && set < n_sets; set++)
            mean += own_counts[(long long)set * n_kept + place[c]] / n_sets;
        mass[c] = (float)(mean > 0.0 ? mean + alpha[c] : alpha[c] / (1.0 - min(counts[c], 0.9)));
    }
    __syncthreads();
    word_ratios(*words, own, n_labels, mass, ratios, parts);
    label_counts(*words, own, n_labels, ratios, mass, sums, counts, parts);
}
