// Scores of documents by linear SVMs of many labels: as deplda.kernels.linear.score_labels.

const int SLICE = 4096, THREADS = 256; // labels whose scores are summed up at a time

// The first place in begin:end whose label is not below c; labels ascend.
__device__ inline long long place_in(const int *labels, long long begin, long long end, int c)
{
    while (begin < end) {
        long long middle = (begin + end) / 2;
        if (labels[middle] < c)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

// Set scores[i, c] to the intercept and w_c·x_i; weights are sparse, words × labels. A block for
// each document and 4,096 labels; words are added in their order, a word's labels side by side.
extern "C" __global__ void __launch_bounds__(THREADS) score_labels(
    int n_labels, const long long *starts, const int *words, const double *values,
    const long long *weight_starts, const int *labels, const float *weights,
    const double *intercepts, double *scores)
{
    __shared__ double sums[SLICE];
    __shared__ long long begins[THREADS], ends[THREADS];
    int first = blockIdx.y * SLICE, last = min(first + SLICE, n_labels), own = threadIdx.x;
    for (int c = first + own; c < last; c += THREADS)
        sums[c - first] = intercepts[c];
    long long end = starts[blockIdx.x + 1];
    for (long long from = starts[blockIdx.x]; from < end; from += THREADS) {
        int n = (int)min(end - from, (long long)THREADS);
        if (own < n) {
            long long row = weight_starts[words[from + own]];
            long long next = weight_starts[words[from + own] + 1];
            begins[own] = place_in(labels, row, next, first);
            ends[own] = place_in(labels, begins[own], next, last);
        }
        __syncthreads();
        for (int k = 0; k < n; k++) {
            double x = values[from + k];
            for (long long e = begins[k] + own; e < ends[k]; e += THREADS)
                sums[labels[e] - first] += x * weights[e];
            __syncthreads();
        }
    }
    __syncthreads(); // of a document without words
    for (int c = first + own; c < last; c += THREADS)
        scores[(long long)blockIdx.x * n_labels + c] = sums[c - first];
}
