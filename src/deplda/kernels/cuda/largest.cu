// The largest of each row, found digit by digit: no row is sorted, and nothing as long is kept.
#include "warp.cuh"

const int BITS = 11, BINS = 1 << BITS, TOP = 55; // of 64 bits, the first digit has 9

// The bits of a number such that they are in the order of the numbers; 0 and -0 are one.
__device__ inline u64 key_of(u64 bits)
{
    if (bits << 1 == 0)
        bits = 0;
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

// Find, from the last bin on, the one at which so many values are reached; return it, and in
// `wanted` how many of that bin are. One warp.
__device__ int bin_of(const int *bins, int &wanted, int lane)
{
    const int EACH = BINS / LANES;
    int own = 0, last = BINS - 1 - lane * EACH; // a lane has these and the bins before it
    for (int b = last; b > last - EACH; b--)
        own += bins[b];
    int upto = own;
    for (int step = 1; step < LANES; step *= 2) {
        int before = __shfl_up_sync(ALL, upto, step);
        if (lane >= step)
            upto += before;
    }
    int from = __ffs(__ballot_sync(ALL, upto >= wanted)) - 1;
    int left = wanted - (upto - own), bin = last;
    if (lane == from)
        for (; left > bins[bin]; bin--)
            left -= bins[bin];
    wanted = __shfl_sync(ALL, left, from);
    return __shfl_sync(ALL, bin, from);
}

// Set names to the places of the n_kept largest values of each row, ascending, and place to where
// each stands among them, -1 for all others.
//
// `values` are rows × n, the bits of numbers. Of equal values, the first ones are kept. A block for
// each row.
extern "C" __global__ void largest(const u64 *values, int n, int n_kept, int *names, int *place)
{
    __shared__ int bins[BINS], greater[LANES], equal[LANES], held[2];
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, n_warps = blockDim.x / LANES;
    values += (long long)blockIdx.x * n, place += (long long)blockIdx.x * n;
    names += (long long)blockIdx.x * n_kept;
    u64 least = 0; // the key of the least value that is kept, its digits found so far
    int ties = n_kept; // how many of those values, equal in these digits, are
    for (int shift = TOP; shift >= 0; shift -= BITS) {
        for (int b = threadIdx.x; b < BINS; b += blockDim.x)
            bins[b] = 0;
        __syncthreads();
        for (int c = threadIdx.x; c < n; c += blockDim.x) {
            u64 key = key_of(values[c]);
            if (shift == TOP || (key ^ least) >> (shift + BITS) == 0)
                atomicAdd(bins + (key >> shift & (BINS - 1)), 1);
        }
        __syncthreads();
        if (warp == 0) {
            int wanted = ties, bin = bin_of(bins, wanted, lane);
            if (lane == 0)
                held[0] = bin, held[1] = wanted;
        }
        __syncthreads();
        least |= (u64)held[0] << shift;
        ties = held[1];
    }
    int n_greater = 0, n_equal = 0; // so far
    for (int first = 0; first < n; first += blockDim.x) {
        int c = first + threadIdx.x;
        u64 value = c < n ? key_of(values[c]) : 0;
        unsigned above = __ballot_sync(ALL, c < n && value > least);
        unsigned same = __ballot_sync(ALL, c < n && value == least);
        __syncthreads(); // all have read what was there before
        if (lane == 0)
            greater[warp] = __popc(above), equal[warp] = __popc(same);
        __syncthreads();
        unsigned before = (1u << lane) - 1;
        int own_greater = n_greater + __popc(above & before);
        int own_equal = n_equal + __popc(same & before);
        for (int other = 0; other < n_warps; other++) {
            own_greater += other < warp ? greater[other] : 0;
            own_equal += other < warp ? equal[other] : 0;
            n_greater += greater[other], n_equal += equal[other];
        }
        bool is_kept = c < n && (value > least || (value == least && own_equal < ties));
        int at = own_greater + min(own_equal, ties);
        if (c < n)
            place[c] = is_kept ? at : -1;
        if (is_kept)
            names[at] = c;
    }
}
