// Training φ on a GPU by expectations (CVB0): deplda.kernels.train_words.expect, side by side.
//
// A batch of documents is updated against the counts as they were before it. What the batch changes
// is added to a second copy of the counts, which are in whole units: their bits do not depend on the
// order. A warp has up to 32 word types of one document, a lane each, which walks over the labels:
// all lanes are at the same label at a time, so that what belongs to it is read once for all.
#include "warp.cuh"

struct Documents {
    const long long *entry_starts;
    const int *words;
    const double *times;
    const long long *label_starts;
    const int *labels;
    const long long *grid_starts;
    const double *weights;
};

// The document, the type and the labels that a lane has.
struct Place {
    long long d, entry, row, first;
    int n_labels;
    bool is_used;
};

__device__ inline Place place_of(const Documents &documents, const int *owners, const int *chunks)
{
    int at = blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
    Place place;
    place.d = owners[at];
    long long within = (long long)chunks[at] * LANES + threadIdx.x % LANES;
    place.entry = documents.entry_starts[place.d] + within;
    place.is_used = place.entry < documents.entry_starts[place.d + 1];
    place.first = documents.label_starts[place.d];
    place.n_labels = (int)(documents.label_starts[place.d + 1] - place.first);
    place.row = documents.grid_starts[place.d] + within * place.n_labels;
    return place;
}

__device__ inline long long units(double value, double unit) { return (long long)rint(value * unit); }

// Set keys, label · W + word, of each pair of a type and a label of its document.
extern "C" __global__ void pairs(
    const Documents *documents, int n_items, const int *owners, const int *chunks, int n_words,
    long long *keys)
{
    if (blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES >= n_items)
        return;
    Place place = place_of(*documents, owners, chunks);
    for (int j = 0; place.is_used && j < place.n_labels; j++)
        keys[place.row + j] = (long long)documents->labels[place.first + j] * n_words
            + documents->words[place.entry];
}

// The counts N_wc, N_c and N_cd, in whole units.
struct Counts {
    u64 *cells, *labels, *documents;
};

// Mutate counts: move a type's tokens of label j from a share to another; all lanes are here.
__device__ inline void move(
    const Documents &documents, const Place &place, const Counts &counts, const int *cells, int j,
    double before, double now, double unit)
{
    double m = documents.weights[place.d], times = place.is_used ? documents.times[place.entry] : 0.0;
    long long step = units(m * times * now, unit) - units(m * times * before, unit);
    long long own = step;
    if (m != 1.0)
        own = units(times * now, unit) - units(times * before, unit);
    if (place.is_used && step != 0)
        atomicAdd(counts.cells + cells[place.row + j], (u64)step);
    step = warp_sum(step);
    own = warp_sum(own);
    if (threadIdx.x % LANES == 0) {
        atomicAdd(counts.labels + documents.labels[place.first + j], (u64)step);
        atomicAdd(counts.documents + place.first + j, (u64)own);
    }
}

// Set each type's shares to 1/|c_d|, and add to the counts what they give, by weight.
extern "C" __global__ void expected_start(
    const Documents *documents, int n_items, const int *owners, const int *chunks, const int *cells,
    double unit, float *shares, u64 *cell_counts, u64 *label_counts, u64 *document_counts)
{
    if (blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES >= n_items)
        return;
    Place place = place_of(*documents, owners, chunks);
    Counts counts{cell_counts, label_counts, document_counts};
    float share = 1.0f / place.n_labels;
    for (int j = 0; j < place.n_labels; j++) {
        if (place.is_used)
            shares[place.row + j] = share;
        move(*documents, place, counts, cells, j, 0.0, share, unit);
    }
}

// Mutate shares and the later counts: types of a batch, expectations for the draws of eq. 2 (CVB0).
//
// The x tokens of one type in one document have the shares
// (N_wc − xr + β)/(N_c − xr + Wβ) · (N_cd − xr + η/|c_d|), normalised: r are those before, and the
// counts those before the batch. The last label has the share `background` of η, if that is above 0.
// Sets `moved` to Σ m · x · |change of shares| over the types of a warp, m the document's weight.
extern "C" __global__ void __launch_bounds__(128) expect(
    const Documents *documents, int n_items, const int *owners, const int *chunks, const int *cells,
    double eta, double beta, double w_beta, double background, double unit, const u64 *cell_counts,
    const u64 *label_counts, const u64 *document_counts, float *shares, u64 *later_cells,
    u64 *later_labels, u64 *later_documents, double *moved)
{
    int at = blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
    if (at >= n_items)
        return;
    Place place = place_of(*documents, owners, chunks);
    Counts later{later_cells, later_labels, later_documents};
    double m = documents->weights[place.d];
    double times = place.is_used ? documents->times[place.entry] : 0.0;
    int n_labels = place.n_labels;
    bool is_apart = background > 0.0 && n_labels > 1;
    double alpha = is_apart ? eta * (1.0 - background) / (n_labels - 1) : eta / n_labels;
    double last_alpha = is_apart ? eta * background : alpha;
    auto weight = [&](int j) {
        double own = times * shares[place.row + j];
        double n_wc = from_units(cell_counts[cells[place.row + j]], unit);
        double n_c = from_units(label_counts[documents->labels[place.first + j]], unit);
        double n_cd = from_units(document_counts[place.first + j], unit);
        // Rounding may leave a count a hair below what is taken out of it.
        return (max(n_wc - m * own, 0.0) + beta)
            * (max(n_cd - own, 0.0) + (j == n_labels - 1 ? last_alpha : alpha))
            / (max(n_c - m * own, 0.0) + w_beta);
    };
    double total = 0.0, change = 0.0;
    for (int j = 0; place.is_used && j < n_labels; j++)
        total += weight(j);
    for (int j = 0; j < n_labels; j++) {
        float before = 0.0f, now = 0.0f;
        if (place.is_used) {
            before = shares[place.row + j];
            now = (float)(weight(j) / total);
            shares[place.row + j] = now;
            change += m * times * fabs((double)now - before);
        }
        move(*documents, place, later, cells, j, before, now, unit);
    }
    change = warp_sum(change);
    if (threadIdx.x % LANES == 0)
        moved[at] = change;
}
