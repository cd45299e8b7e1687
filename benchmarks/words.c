/* The word sweep of src/deplda/kernels/train_words.py as a tight C loop: what a compiler makes of it. */
#include <stdint.h>

static inline double uniform(uint64_t key, uint64_t gamma, uint64_t counter) {
    uint64_t x = key + counter * gamma;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    x ^= x >> 31;
    return ((double)(x >> 11) + 0.5) * (1.0 / 9007199254740992.0);
}

/* Scratch arrays have room for the labels of any one document. */
void sweep(const int64_t *documents, int64_t n_documents, const int64_t *entry_starts,
           const int32_t *times, const int64_t *label_starts, const int32_t *labels,
           const int64_t *token_starts, const int64_t *grid_starts, const int32_t *cells,
           uint16_t *z, int32_t *cell_counts, int64_t *label_counts, double eta, double beta,
           double w_beta, uint64_t key, uint64_t gamma, uint64_t counter, int64_t *n_cd,
           int64_t *n_c, double *share, double *upto) {
    for (int64_t m = 0; m < n_documents; m++) {
        int64_t d = documents[m], first = label_starts[d], n = label_starts[d + 1] - first;
        double alpha = eta / n;
        for (int64_t j = 0; j < n; j++) n_cd[j] = 0;
        for (int64_t i = token_starts[d]; i < token_starts[d + 1]; i++) n_cd[z[i]]++;
        for (int64_t j = 0; j < n; j++) {
            n_c[j] = label_counts[labels[first + j]];
            share[j] = (n_cd[j] + alpha) / (n_c[j] + w_beta);
        }
        int64_t i = token_starts[d];
        const int32_t *row = cells + grid_starts[d];
        for (int64_t e = entry_starts[d]; e < entry_starts[d + 1]; e++, row += n) {
            for (int32_t t = 0; t < times[e]; t++, i++) {
                int64_t old = z[i], new = 0;
                double old_share = share[old], total = 0;
                share[old] = (n_cd[old] - 1 + alpha) / (n_c[old] - 1 + w_beta);
                cell_counts[row[old]]--;
                for (int64_t j = 0; j < n; j++) {
                    total += (cell_counts[row[j]] + beta) * share[j];
                    upto[j] = total;
                }
                double at = uniform(key, gamma, counter + i) * total;
                for (int64_t j = 0; j < n - 1; j++) new += upto[j] < at;
                cell_counts[row[new]]++;
                if (new == old) {
                    share[old] = old_share;
                } else {
                    z[i] = (uint16_t)new;
                    n_cd[old]--;
                    n_c[old]--;
                    n_cd[new]++;
                    n_c[new]++;
                    share[new] = (n_cd[new] + alpha) / (n_c[new] + w_beta);
                }
            }
        }
        for (int64_t j = 0; j < n; j++) label_counts[labels[first + j]] = n_c[j];
    }
}
