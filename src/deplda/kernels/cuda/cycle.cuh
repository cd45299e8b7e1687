// The sweeps of a test-time cycle, by a warp: z, z′, α′.
//
// The buckets are those of deplda.kernels.fast, where they are explained.
#pragma once

// 64 bits that tell one document's content from another's: as deplda.kernels.random.document_key.
__device__ u64 document_key(const int *types, const int *times, int n_types)
{
    u64 key = 0x243F6A8885A308D3ull;
    for (int u = 0; u < n_types; u++) {
        u64 x = key ^ ((u64)types[u] * 0x9E3779B97F4A7C15ull + (u64)times[u]);
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
        key = x ^ (x >> 31);
    }
    return key;
}

// What a sweep of z knows beforehand: the prior's weights, and the totals of the b buckets.
struct Prior {
    float scale; // η/(N + Σγ), 0 where the topics have no say
    float flat;  // Σα/C
    float gamma; // Σγ/T
    float base_topics, base_flat;
};

// Mutate the workspace and the prior: live topics, by_topic and the b buckets, for a sweep.
__device__ __noinline__ void bucket_totals(
    const WordTables &words, const TopicTables &topics, Workspace &ws, Prior &prior, int lane)
{
    int n_topics = ws.n_topics;
    prior.base_flat = prior.flat * (float)words.base_sums[ws.n_labels - 1];
    prior.base_topics = 0.0f;
    for (int u = lane; u < ws.n_types; u += LANES)
        ws.by_topic[u] = 0.0f;
    if (prior.scale > 0.0f) {
        int n_live = 0;
        for (int first = 0; first < n_topics; first += LANES) {
            int t = first + lane;
            bool lives = t < n_topics && ws.n_dt[t] > 0;
            unsigned all = __ballot_sync(ALL, lives);
            if (lives)
                ws.live[n_live + __popc(all & ((1u << lane) - 1))] = t;
            n_live += __popc(all);
        }
        if (lane == 0)
            ws.n_live = n_live;
        __syncwarp();
        float own = 0.0f;
        for (int a = lane; a < n_live; a += LANES)
            own += ws.n_dt[ws.live[a]] * (float)topics.label_base[ws.live[a]];
        prior.base_topics =
            prior.scale * (prior.gamma * (float)topics.label_base_sum[0] + warp_sum(own));
        for (int u = lane; u < ws.n_types; u += LANES) {
            const float *word_topics = topics.word_topics + (long long)ws.types[u] * n_topics;
            float total = prior.gamma * (float)topics.word_totals[ws.types[u]];
            for (int a = 0; a < n_live; a++)
                total += ws.n_dt[ws.live[a]] * word_topics[ws.live[a]];
            ws.by_topic[u] = prior.scale * total;
        }
    }
    __syncwarp();
}

// A topic drawn from (N_dt + Σγ/T) weight_t, r uniform on its total.
template <class Weight>
__device__ int draw_topic(const Workspace &ws, float gamma, float r, int lane, Weight weight)
{
    int a = draw(ws.n_live, r, lane, [&](int a) {
        return ws.n_dt[ws.live[a]] * weight(ws.live[a]);
    });
    if (a >= 0)
        return ws.live[a];
    r /= gamma;
    int t = draw(ws.n_topics, r, lane, weight);
    return t >= 0 ? t : ws.n_topics - 1; // rounding may lead past the last
}

// P_ct, each lane its own; labels have few topics, the largest first.
__device__ float topic_value(const TopicTables &topics, int c, int t)
{
    for (long long e = topics.label_starts[c]; e < topics.label_starts[c + 1]; e++)
        if (topics.label_topics[e] == t)
            return topics.label_values[e];
    return 0.0f;
}

// A label drawn from the prior's buckets for type u, r uniform on their total.
__device__ int draw_prior(
    const WordTables &words, const TopicTables &topics, const Workspace &ws, const Prior &prior,
    int u, float r, double u1, double u2, int lane)
{
    int w = ws.types[u];
    long long begin = words.row_starts[w], end = words.row_starts[w + 1];
    float by_topic = ws.by_topic[u], by_flat = prior.flat * (float)words.row_totals[w];
    if (r < by_topic) {
        const float *word_topics = topics.word_topics + (long long)w * ws.n_topics;
        int t = draw_topic(
            ws, prior.gamma, r / prior.scale, lane, [&](int t) { return word_topics[t]; });
        // Of φ′_ct = P_ct + b′_t, b′_t first: any label of the row; then the topic's own labels.
        float left = (float)(u1 * word_topics[t] - ws.base[t] * words.row_totals[w]);
        if (left >= 0.0f) {
            long long first = topics.topic_starts[t];
            int n = (int)(topics.topic_starts[t + 1] - first);
            if (ws.n_topics == 1) {
                if (end > begin && left < topics.word_sums[end - 1])
                    return words.row_labels[search(topics.word_sums, begin, end, left, lane)];
            } else if (end - begin < n) { // the word has fewer labels
                int e = draw((int)(end - begin), left, lane, [&](int e) {
                    return words.row_values[begin + e]
                        * topic_value(topics, words.row_labels[begin + e], t);
                });
                if (e >= 0)
                    return words.row_labels[begin + e];
            } else {
                int e = draw(n, left, lane, [&](int e) {
                    return topics.topic_values[first + e]
                        * phi_at(ws, topics.topic_labels[first + e], u);
                });
                if (e >= 0)
                    return topics.topic_labels[first + e];
            }
        }
    } else if (r >= by_topic + by_flat) {
        r -= by_topic + by_flat;
        if (r < prior.base_topics) {
            int t = draw_topic(ws, prior.gamma, r / prior.scale, lane,
                               [&](int t) { return (float)topics.label_base[t]; });
            long long first = topics.topic_starts[t], last = topics.topic_starts[t + 1];
            double at = u1 * topics.label_base[t];
            if (last > first && at < topics.topic_base_sums[last - 1])
                return topics.topic_labels[search(topics.topic_base_sums, first, last, at, lane)];
        }
        double at = u2 * words.base_sums[ws.n_labels - 1];
        return (int)search(words.base_sums, 0, ws.n_labels, at, lane);
    }
    return words.row_labels[search(words.row_sums, begin, end, u2 * words.row_totals[w], lane)];
}

// The slot of a label that is drawn from the prior's buckets for token i, of type u.
__device__ __noinline__ int draw_new(
    const WordTables &words, const TopicTables &topics, Workspace &ws, const Prior &prior, int u,
    int i, float left, int lane)
{
    u64 extra = ws.clock + ws.n_tokens + 2 * (u64)i;
    double u1 = uniform(ws.key, ws.gamma, extra), u2 = uniform(ws.key, ws.gamma, extra + 1);
    int c = draw_prior(words, topics, ws, prior, u, max(left, 0.0f), u1, u2, lane);
    return slot_of(ws, c, lane);
}

// Move a token from one slot to another, -1 for none: in the masses that the lane holds of its near
// slots, and in memory, which is not read for these.
__device__ inline void move(Workspace &ws, float *mass, int from, int to, int lane)
{
#pragma unroll
    for (int b = 0; b < NEAR_BLOCKS; b++) {
        int slot = b * LANES + lane;
        if (slot == from || slot == to) {
            mass[b] += slot == to ? 1.0f : -1.0f;
            ws.near->mass[slot] = mass[b];
        }
    }
    if (from >= NEAR_SLOTS && lane == from % LANES)
        ws.far_mass[from] -= 1.0f;
    if (to >= NEAR_SLOTS && lane == to % LANES)
        ws.far_mass[to] += 1.0f;
}

// b_c of the label in a near slot, 0 where there is none.
__device__ inline float base_in(const WordTables &words, const Workspace &ws, int slot)
{
    int c = ws.near->labels[slot];
    return c < 0 ? 0.0f : (float)words.base[c];
}

// Set the lane's near rows of block b: φ of the group of types that u is in; `smooth` is b_c.
__device__ inline void read_rows(Workspace &ws, float smooth, int u, int b, int lane)
{
    Near &near = *ws.near;
    int slot = b * LANES + lane, c = near.labels[slot];
    float4 own = {0.0f, 0.0f, 0.0f, 0.0f};
    if (c >= 0)
        own = *(const float4 *)(ws.phi + (long long)c * ws.stride + u / GROUP * GROUP);
    near.rows[0][slot] = own.x + smooth;
    near.rows[1][slot] = own.y + smooth;
    near.rows[2][slot] = own.z + smooth;
    near.rows[3][slot] = own.w + smooth;
}

// Mutate the workspace: one update of every z, eq. 8.
//
// P(z_i = c) ∝ φ_wc (N_c + η Σ_t θ′_t φ′_ct + Σα/C). A lane reads φ of its near slots for a group of
// types at a time, from the document's table: neighbouring types of a label stand side by side.
__device__ void sweep_words(
    const WordTables &words, const TopicTables &topics, Workspace &ws, Prior prior, int lane)
{
    narrow(ws, lane);
    bucket_totals(words, topics, ws, prior, lane);
    int n_types = ws.n_types, width = ws.width;
    int i = 0, held = -1, times = 0; // a lane holds the z, and the number, of one of 32 tokens
    float number = 0.0f, rests = 0.0f; // … and what the prior has for one of 32 types
    float row[NEAR_BLOCKS], mass[NEAR_BLOCKS], smooth[NEAR_BLOCKS];
#pragma unroll
    for (int b = 0; b < NEAR_BLOCKS; b++) {
        mass[b] = b * LANES < width ? ws.near->mass[b * LANES + lane] : 0.0f;
        smooth[b] = b * LANES < width ? base_in(words, ws, b * LANES + lane) : 0.0f;
    }
    for (int u = 0; u < n_types; u++) {
        if (u % LANES == 0 && u + lane < n_types) {
            times = ws.times[u + lane];
            rests = ws.by_topic[u + lane] + prior.base_topics + prior.base_flat
                + prior.flat * (float)words.row_totals[ws.types[u + lane]];
        }
#pragma unroll
        for (int b = 0; b < NEAR_BLOCKS; b++)
            if (u % GROUP == 0 && b * LANES < width)
                read_rows(ws, smooth[b], u, b, lane);
#pragma unroll
        for (int b = 0; b < NEAR_BLOCKS; b++)
            row[b] = b * LANES < width ? ws.near->rows[u % GROUP][b * LANES + lane] : 0.0f;
        float rest = __shfl_sync(ALL, rests, u % LANES);
        for (int x = __shfl_sync(ALL, times, u % LANES); x > 0; x--, i++) {
            int at = i % LANES;
            if (at == 0) {
                held = i + lane < ws.n_tokens ? ws.z[i + lane] : -1;
                number = (float)uniform(ws.key, ws.gamma, ws.clock + i + lane);
            }
            int k = __shfl_sync(ALL, held, at);
            // Masses without the token itself; they are written only where it moves.
            float weights[NEAR_BLOCKS], own = 0.0f;
#pragma unroll
            for (int b = 0; b < NEAR_BLOCKS; b++) {
                weights[b] = row[b] * (mass[b] - (k == b * LANES + lane));
                own += weights[b];
            }
            auto weight = [&](int slot) { // of far ones
                return phi_in(words, ws, slot, u) * (ws.far_mass[slot] - (slot == k));
            };
#pragma unroll 1
            for (int slot = NEAR_SLOTS + lane; slot < width; slot += LANES)
                own += weight(slot);
            float upto = running_sum(own, lane);
            float heavy = __shfl_sync(ALL, upto, LANES - 1);
            float r = __shfl_sync(ALL, number, at) * (heavy + rest);
            unsigned over = __ballot_sync(ALL, own > 0.0f && upto > r);
            if (over) {
                // Down the lane at which the running sum exceeds r, to the slot at which it does;
                // the first with a weight at least, wherever rounding has led.
                float left = r - (upto - own);
                int last = -1;
#pragma unroll
                for (int b = 0; b < NEAR_BLOCKS; b++)
                    if (weights[b] > 0.0f && (left >= 0.0f || last < 0)) {
                        last = b * LANES + lane;
                        left -= weights[b];
                    }
#pragma unroll 1
                for (int slot = NEAR_SLOTS + lane; slot < width; slot += LANES) {
                    float further_on = weight(slot);
                    if (further_on > 0.0f && (left >= 0.0f || last < 0)) {
                        last = slot;
                        left -= further_on;
                    }
                }
                int to = __shfl_sync(ALL, last, __ffs(over) - 1);
                if (to != k)
                    move(ws, mass, k, to, lane);
                k = to;
            } else {
                move(ws, mass, k, -1, lane); // its slot may be the one that is taken now
                k = draw_new(words, topics, ws, prior, u, i, r - heavy, lane);
                move(ws, mass, -1, k, lane);
#pragma unroll
                for (int b = 0; b < NEAR_BLOCKS; b++)
                    if (k == b * LANES + lane || (width <= b * LANES && b * LANES < ws.width)) {
                        smooth[b] = base_in(words, ws, b * LANES + lane); // of a new label, maybe
                        read_rows(ws, smooth[b], u, b, lane);
                        row[b] = ws.near->rows[u % GROUP][b * LANES + lane];
                    }
                width = ws.width;
            }
            if (lane == at)
                held = k;
            if (at == LANES - 1 || i == ws.n_tokens - 1)
                if (i - at + lane < ws.n_tokens)
                    ws.z[i - at + lane] = held;
        }
    }
    __syncwarp();
    if (lane == 0)
        ws.clock += 3 * (u64)ws.n_tokens;
    __syncwarp();
}

// A topic that a label has of its own, and P_ct.
struct LabelTopic {
    int topic;
    float value;
};

// Of the n topics from `begin` on of a label, the lane's own among the first 32.
__device__ inline LabelTopic label_topic(const TopicTables &topics, long long begin, int n, int lane)
{
    if (lane >= n)
        return {0, 0.0f};
    return {topics.label_topics[begin + lane], topics.label_values[begin + lane]};
}

// Mutate the workspace: one update of every z′, eq. 10: P(z′_i = t) ∝ φ′_ct (N_dt + Σγ/T), where c
// is the label of label token i, of n_tokens.
template <class LabelOf>
__device__ void sweep_topics(
    const TopicTables &topics, Workspace &ws, int n_tokens, float prior_gamma, int lane,
    LabelOf label_of)
{
    int n_topics = ws.n_topics;
    if (n_topics == 1) { // nothing to draw
        ws.n_dt[0] = n_tokens;
        __syncwarp();
    }
    if (n_topics <= 1)
        return;
    float shared = 0.0f; // Σ_t b′_t N_dt
    for (int t = lane; t < n_topics; t += LANES)
        shared += ws.base[t] * ws.n_dt[t];
    shared = warp_sum(shared);
    float smooth = prior_gamma * (float)topics.base_sums[n_topics - 1];
    int held = -1, sizes = 0;
    long long begins = 0, begin = 0, next_begin = 0;
    float number = 0.0f;
    int n = 0, next_n = 0;
    LabelTopic next = {0, 0.0f}; // of the label of the token to come: read while this one is drawn
    for (int i = 0; i < n_tokens; i++) {
        int at = i % LANES;
        if (at == 0) {
            if (i + lane < n_tokens) {
                int c = label_of(i + lane);
                held = ws.z_topic[i + lane];
                begins = topics.label_starts[c];
                sizes = (int)(topics.label_starts[c + 1] - begins);
            }
            number = (float)uniform(ws.key, ws.gamma, ws.clock + i + lane);
            next_begin = __shfl_sync(ALL, begins, 0), next_n = __shfl_sync(ALL, sizes, 0);
            next = label_topic(topics, next_begin, next_n, lane);
        }
        LabelTopic mine = next;
        begin = next_begin, n = next_n;
        int old = __shfl_sync(ALL, held, at), t = -1;
        next_begin = __shfl_sync(ALL, begins, (at + 1) % LANES);
        next_n = __shfl_sync(ALL, sizes, (at + 1) % LANES);
        next = label_topic(topics, next_begin, next_n, lane);
        // Counts without the token itself; they are written only where it moves.
        auto count = [&](int t) { return ws.n_dt[t] - (t == old); };
        auto weight = [&](int e) {
            return topics.label_values[begin + e]
                * (count(topics.label_topics[begin + e]) + prior_gamma);
        };
        float others = old >= 0 ? shared - ws.base[old] : shared;
        float first = mine.value * (count(mine.topic) + prior_gamma), more = 0.0f;
        float upto = running_sum(first, lane), own = __shfl_sync(ALL, upto, LANES - 1);
        float firsts = own;
        if (n > LANES) {
#pragma unroll 1
            for (int e = LANES + lane; e < n; e += LANES)
                more += weight(e);
            own += warp_sum(more);
        }
        float r = __shfl_sync(ALL, number, at) * (own + others + smooth);
        if (r < own) {
            unsigned over = __ballot_sync(ALL, first > 0.0f && upto > r);
            if (over) {
                t = __shfl_sync(ALL, mine.topic, __ffs(over) - 1);
            } else {
                r -= firsts;
                int e = draw(n - LANES, r, lane, [&](int e) { return weight(e + LANES); });
                t = topics.label_topics[begin + (e >= 0 ? LANES + e : n - 1)];
            }
        } else if ((r -= own) < others) {
            t = draw(n_topics, r, lane, [&](int t) { return ws.base[t] * count(t); });
            r = others + 0.5f * smooth; // reached only where rounding led past the last
        }
        if (t < 0)
            t = (int)search(topics.base_sums, 0, n_topics, (r - others) / prior_gamma, lane);
        if (t != old) {
            shared = others + ws.base[t];
            __syncwarp();
            if (lane == 0) {
                ws.n_dt[t] += 1;
                if (old >= 0)
                    ws.n_dt[old] -= 1;
            }
            __syncwarp();
        }
        if (lane == at)
            held = t;
        if (at == LANES - 1 || i == n_tokens - 1)
            if (i - at + lane < n_tokens)
                ws.z_topic[i - at + lane] = held;
    }
    __syncwarp();
    if (lane == 0)
        ws.clock += n_tokens;
    __syncwarp();
}

// Mutate the workspace: set alpha to α′ = η θ′·φ′ + Σα/C, eq. 12; return Σ_c b_c α′_c.
__device__ __noinline__ float set_alpha(
    const WordTables &words, const TopicTables &topics, Workspace &ws, const Prior &prior, int lane)
{
    float everywhere = 0.0f, base_alpha = 0.0f;
    for (int t = lane; t < ws.n_topics; t += LANES)
        everywhere += (ws.n_dt[t] + prior.gamma) * ws.base[t];
    everywhere = prior.flat + prior.scale * warp_sum(everywhere);
    for (int c = lane; c < ws.n_labels; c += LANES) {
        float own = 0.0f;
        if (ws.n_topics > 0)
            for (long long e = topics.label_starts[c]; e < topics.label_starts[c + 1]; e++)
                own += topics.label_values[e]
                    * (ws.n_dt[topics.label_topics[e]] + prior.gamma);
        ws.alpha[c] = everywhere + prior.scale * own;
        base_alpha += (float)words.base[c] * ws.alpha[c];
    }
    base_alpha = warp_sum(base_alpha);
    __syncwarp();
    return base_alpha;
}

// Mutate the workspace: add each token's whole conditional at this state, Σ_i p_i(c), to its sums.
//
// p_i(c) = φ_wc (N_c − [z_i = c] + α′_c)/Z_i, so that Σ_i p_i(c) needs, of each type, the sum of
// 1/Z_i over its tokens, and a correction for the label that each token itself has.
__device__ __noinline__ void add_conditionals(
    const WordTables &words, const TopicTables &topics, Workspace &ws, const Prior &prior, int lane)
{
    float base_alpha = set_alpha(words, topics, ws, prior, lane);
    float all_weight = 0.0f;
    int i = 0;
    for (int u = 0; u < ws.n_types; u++) {
        long long begin = words.row_starts[ws.types[u]];
        long long end = words.row_starts[ws.types[u] + 1];
        float total = 0.0f, weight = 0.0f;
        for (long long e = begin + lane; e < end; e += LANES)
            total += words.row_values[e] * ws.alpha[words.row_labels[e]];
        for (int b = 0; b < ws.width; b += LANES)
            total += phi_in(words, ws, b + lane, u) * ws.mass(b + lane);
        total = base_alpha + warp_sum(total);
        for (int x = ws.times[u]; x > 0; x--, i++) {
            int k = ws.z[i];
            float own = phi_in(words, ws, k, u);
            weight += 1.0f / (total - own);
            if (lane == 0)
                ws.sums[ws.label(k)] -= own / (total - own);
        }
        all_weight += weight;
        __syncwarp();
        for (long long e = begin + lane; e < end; e += LANES) {
            int c = words.row_labels[e];
            ws.sums[c] += weight * words.row_values[e] * ws.alpha[c];
        }
        __syncwarp();
        for (int b = 0; b < ws.width; b += LANES)
            if (ws.mass(b + lane) > 0.0f)
                ws.sums[ws.label(b + lane)] +=
                    weight * phi_in(words, ws, b + lane, u) * ws.mass(b + lane);
        __syncwarp();
    }
    for (int c = lane; c < ws.n_labels; c += LANES)
        ws.sums[c] += all_weight * (float)words.base[c] * ws.alpha[c];
    __syncwarp();
}
