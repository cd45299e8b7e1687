// Expectations among candidates that are given, all other labels pooled from the first cycle on: as
// deplda.kernels.expected.expect_among, but that no candidate is pooled later. `gather` and
// `own_cycles` are those of expected.cu.
#pragma once

// Set counts to N_c of the candidates after the cycles that know no topics.
//
// A block for each document; `flat` is each label's prior, `counts` documents × candidates, `ratios`
// a number for each entry to work on. The first cycle's masses are equal.
extern "C" __global__ void __launch_bounds__(128) begin_among(
    int n_labels, int n_kept, const long long *starts, const int *types, const float *times,
    const float *columns, double flat, float *ratios, double *counts)
{
    __shared__ double parts[LANES];
    __shared__ float mass[WIDTH], sums[WIDTH], partial[4][WIDTH];
    long long d = blockIdx.x;
    Document own = document_of(starts, types, times, (int)d, parts);
    columns += starts[d] * WIDTH, ratios += starts[d], counts += d * n_kept;
    double rest = 0.0;
    for (int number = 0; number <= FLAT_CYCLES; number++) {
        for (int s = threadIdx.x; s < WIDTH; s += blockDim.x) {
            double pooled = rest / max(n_labels - n_kept, 1);
            double count = s < n_kept && number > 0 ? counts[s] : s == POOL ? pooled : 0.0;
            mass[s] = s >= n_kept && s != POOL ? 0.0f : number == 0 ? 1.0f : (float)(count + flat);
        }
        __syncthreads();
        cycle(own, columns, mass, ratios, partial, sums);
        for (int s = threadIdx.x; s < n_kept; s += blockDim.x)
            counts[s] = (double)mass[s] * sums[s];
        rest = (double)mass[POOL] * sums[POOL];
        __syncthreads(); // before the masses are set anew
    }
}

// Set alpha to α′ of the candidates, eq. 12 averaged over the sets; documents × candidates.
__device__ void own_alpha(
    const TopicSets &sets, int n_sets, const int *names, int n_kept, const double *shares,
    double eta, double flat, double *alpha, double *parts)
{
    double shared = 0.0;
    for (int t = threadIdx.x; t < sets.set_starts[n_sets]; t += blockDim.x)
        shared += sets.base[t] * shares[t];
    shared = block_sum(shared, parts);
    for (int s = threadIdx.x; s < n_kept; s += blockDim.x) {
        double own = shared;
        long long end = sets.label_starts[(names[s] + 1LL) * n_sets];
        for (long long e = sets.label_starts[(long long)names[s] * n_sets]; e < end; e++)
            own += sets.label_values[e] * shares[sets.label_topics[e]];
        alpha[s] = flat + eta / n_sets * own;
    }
}

// Set counts and alpha to N_c and α′_c of the candidates: one cycle from the average over the sets.
//
// `own_counts` and `shares` are what `own_cycles` made, `ratios` a number for each entry to work on.
// A block for each document.
extern "C" __global__ void __launch_bounds__(128) finish_among(
    const TopicSets *sets, int n_sets, int n_labels, int n_kept, const long long *starts,
    const int *types, const float *times, const int *names, const float *columns,
    const double *own_counts, const double *shares, double eta, double flat, float *ratios,
    double *counts, double *alpha)
{
    __shared__ double parts[LANES];
    __shared__ float mass[WIDTH], sums[WIDTH], partial[4][WIDTH];
    long long d = blockIdx.x;
    Document own = document_of(starts, types, times, (int)d, parts);
    names += d * n_kept, counts += d * n_kept, alpha += d * n_kept;
    own_counts += d * n_sets * n_kept, shares += d * sets->set_starts[n_sets];
    columns += starts[d] * WIDTH, ratios += starts[d];
    own_alpha(*sets, n_sets, names, n_kept, shares, eta, flat, alpha, parts);
    double rest = 0.0, alphas = 0.0;
    for (int s = threadIdx.x; s < WIDTH; s += blockDim.x) {
        double mean = 0.0, prior = s < n_kept ? alpha[s] : 0.0;
        for (int set = 0; s < n_kept && set < n_sets; set++)
            mean += own_counts[(long long)set * n_kept + s] / n_sets;
        mass[s] = (float)(mean + prior);
        rest += mean, alphas += prior;
    }
    rest = max(own.n - block_sum(rest, parts), 0.0);
    alphas = max(eta + flat * n_labels - block_sum(alphas, parts), 0.0);
    if (threadIdx.x == 0)
        mass[POOL] = (float)((rest + alphas) / max(n_labels - n_kept, 1));
    __syncthreads();
    cycle(own, columns, mass, ratios, partial, sums);
    for (int s = threadIdx.x; s < n_kept; s += blockDim.x)
        counts[s] = (double)mass[s] * sums[s];
}
