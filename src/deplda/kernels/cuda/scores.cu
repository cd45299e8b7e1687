// Scores of labels from N and α′: as deplda.inference.scores, on the GPU that has inferred them.
#include "warp.cuh"

enum Combine { BLEND, COUNTS, POSTERIOR };

// Set scores, documents × n_ranked, to normalise(α′) + normalise(N), normalise(N), or
// normalise(N + α′), over the first n_ranked of n_labels labels. A block for each document.
extern "C" __global__ void scores(
    const double *counts, const double *alpha, int n_labels, int n_ranked, int combine,
    double *scores)
{
    __shared__ double parts[LANES];
    counts += (long long)blockIdx.x * n_labels, alpha += (long long)blockIdx.x * n_labels;
    scores += (long long)blockIdx.x * n_ranked;
    double n = 0.0, prior = 0.0;
    for (int c = threadIdx.x; c < n_ranked; c += blockDim.x) {
        n += counts[c];
        prior += alpha[c];
    }
    n = block_sum(n, parts), prior = block_sum(prior, parts);
    double both = n + prior > 0.0 ? n + prior : 1.0;
    n = n > 0.0 ? n : 1.0, prior = prior > 0.0 ? prior : 1.0;
    for (int c = threadIdx.x; c < n_ranked; c += blockDim.x)
        scores[c] = combine == BLEND ? alpha[c] / prior + counts[c] / n
            : combine == COUNTS      ? counts[c] / n
                                     : (counts[c] + alpha[c]) / both;
}
