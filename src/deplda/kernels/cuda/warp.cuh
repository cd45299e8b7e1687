// What all kernels on a GPU share: the counter-based generator, and a warp's sums and draws.
#pragma once

typedef unsigned long long u64;

const int LANES = 32;
const unsigned ALL = 0xffffffffu;

// The counter-th 64 bits of a stream.
__device__ inline u64 bits(u64 key, u64 gamma, u64 counter)
{
    u64 x = key + counter * gamma;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// The counter-th number of a stream, in (0, 1): as deplda.kernels.random.uniform.
__device__ inline double uniform(u64 key, u64 gamma, u64 counter)
{
    return ((double)(bits(key, gamma, counter) >> 11) + 0.5) * (1.0 / 9007199254740992.0);
}

// A sum that many warps add to is kept in whole units: its bits do not depend on their order.
__device__ inline void add_units(u64 *sum, double value, double unit)
{
    atomicAdd(sum, (u64)(long long)rint(value * unit));
}

__device__ inline double from_units(u64 sum, double unit)
{
    return (double)(long long)sum / unit;
}

// Running sum over the lanes, each lane's own term included.
__device__ inline float running_sum(float x, int lane)
{
    for (int step = 1; step < LANES; step *= 2) {
        float before = __shfl_up_sync(ALL, x, step);
        if (lane >= step)
            x += before;
    }
    return x;
}

// The sum over the lanes, the same bits in each.
template <class Number> __device__ inline Number warp_sum(Number x)
{
    for (int step = LANES / 2; step > 0; step /= 2)
        x += __shfl_xor_sync(ALL, x, step);
    return x;
}

// The sum over the threads of a block, the same bits in each; `parts` is a number for each warp.
__device__ inline double block_sum(double x, double *parts)
{
    x = warp_sum(x);
    __syncthreads();
    if (threadIdx.x % LANES == 0)
        parts[threadIdx.x / LANES] = x;
    __syncthreads();
    double total = 0.0;
    for (int warp = 0; warp < (int)blockDim.x / LANES; warp++)
        total += parts[warp];
    return total;
}

// The first of n places at which the running sum of the weights exceeds r. If none does: -1, and r
// is less by their total.
template <class Weight> __device__ inline int draw(int n, float &r, int lane, Weight weight)
{
#pragma unroll 1
    for (int first = 0; first < n; first += LANES) {
        float own = first + lane < n ? weight(first + lane) : 0.0f;
        float upto = running_sum(own, lane);
        unsigned over = __ballot_sync(ALL, own > 0.0f && upto > r);
        if (over)
            return first + __ffs(over) - 1;
        r -= __shfl_sync(ALL, upto, LANES - 1);
    }
    return -1;
}

// The first place in begin:end whose running sum exceeds r, or the last: all lanes search together.
__device__ inline long long search(
    const double *sums, long long begin, long long end, double r, int lane)
{
    long long low = begin, high = end - 1;
    while (low < high) {
        long long step = (high - low) / LANES + 1;
        long long at = low + step * (lane + 1) - 1;
        unsigned over = __ballot_sync(ALL, at >= high || sums[at] > r);
        int first = __ffs(over) - 1;
        low += step * first;
        high = min(low + step - 1, high);
    }
    return low;
}

// The value at `name` in the ascending names begin:end, 0 where it is not: each lane its own.
__device__ inline float value_at(
    const int *names, const float *values, long long begin, long long end, int name)
{
    long long low = begin, high = end;
    while (low < high) {
        long long middle = (low + high) / 2;
        if (names[middle] < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && names[low] == name ? values[low] : 0.0f;
}
