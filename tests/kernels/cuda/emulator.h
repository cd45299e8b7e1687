// CUDA's words for a C++ compiler: a block's threads take turns on one processor.
//
// A thread runs until it must wait for others of its warp or block, then the next one goes on. It is
// slow, and shows no race; what a kernel computes, it shows on any machine.
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstring>
#include <memory>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define __noinline__

using std::max;
using std::min;

struct Three { unsigned x, y; };
struct float4 { float x, y, z, w; };

struct Warp {
    unsigned long long held[2][32]; // what lanes show each other, this time and last time
    int arrived = 0, turn = 0;
};

static const size_t STACK = 1 << 16;

struct Thread {
    ucontext_t context;
    jmp_buf place;
    std::unique_ptr<char[]> stack{new char[STACK]}; // not cleared, which would take longest of all
    Three number;
    Warp *warp;
    bool is_started = false, is_done = false;
};

static Three threadIdx_, blockIdx, blockDim, gridDim;
#define threadIdx (running->number)
static Thread *running;
static ucontext_t scheduler;
static jmp_buf scheduler_place;
static int block_arrived, block_turn, n_alive;

static void yield()
{
    if (!_setjmp(running->place))
        _longjmp(scheduler_place, 1);
}

static void __syncthreads()
{
    int turn = block_turn;
    if (++block_arrived == n_alive) {
        block_arrived = 0;
        block_turn++;
    }
    while (block_turn == turn)
        yield();
}

// Show a value to the other lanes; return where all 32 are.
template <class Value> static unsigned long long *shown(Value value)
{
    Warp *warp = running->warp;
    int turn = warp->turn, side = turn & 1;
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof value);
    warp->held[side][running->number.x % 32] = bits;
    if (++warp->arrived == 32) {
        warp->arrived = 0;
        warp->turn++;
    }
    while (warp->turn == turn)
        yield();
    return warp->held[side];
}

static void __syncwarp() { shown(0); }

template <class Value> static Value __shfl_sync(unsigned, Value value, int lane)
{
    memcpy(&value, shown(value) + lane % 32, sizeof value);
    return value;
}

template <class Value> static Value __shfl_up_sync(unsigned all, Value value, int step)
{
    int lane = running->number.x % 32;
    return __shfl_sync(all, value, lane >= step ? lane - step : lane);
}

template <class Value> static Value __shfl_xor_sync(unsigned all, Value value, int step)
{
    return __shfl_sync(all, value, (running->number.x % 32) ^ step);
}

static unsigned __ballot_sync(unsigned, bool is_so)
{
    unsigned long long *all = shown((int)is_so);
    unsigned mask = 0;
    for (int lane = 0; lane < 32; lane++)
        mask |= (unsigned)(all[lane] != 0) << lane;
    return mask;
}

static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __ffs(unsigned x) { return __builtin_ffs((int)x); }
static float __fadd_rn(float x, float y) { return x + y; } // no processor of x86-64 fuses these
static float __fmul_rn(float x, float y) { return x * y; }
static unsigned __float_as_uint(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static float cospif(float x) { return (float)cos(M_PI * x); }

template <class Number, class Other> static Number atomicAdd(Number *at, Other more)
{
    Number before = *at;
    *at += (Number)more;
    return before;
}

static void (*work)(void **);
static void **arguments;

static void begin_thread()
{
    work(arguments);
    running->is_done = true;
    n_alive--;
    _longjmp(scheduler_place, 1);
}

static void run_block(std::vector<Thread> &threads)
{
    std::vector<Warp> warps((threads.size() + 31) / 32);
    n_alive = (int)threads.size();
    block_arrived = block_turn = 0;
    for (unsigned i = 0; i < threads.size(); i++) {
        threads[i].number = {i, 0};
        threads[i].warp = &warps[i / 32];
        threads[i].is_started = threads[i].is_done = false;
    }
    while (n_alive > 0)
        for (Thread &thread : threads) {
            if (thread.is_done)
                continue;
            running = &thread;
            if (_setjmp(scheduler_place))
                continue;
            if (thread.is_started)
                _longjmp(thread.place, 1);
            thread.is_started = true;
            getcontext(&thread.context);
            thread.context.uc_stack.ss_sp = thread.stack.get();
            thread.context.uc_stack.ss_size = STACK;
            thread.context.uc_link = nullptr;
            makecontext(&thread.context, begin_thread, 0);
            setcontext(&thread.context);
        }
}

template <class... Types, size_t... Places>
static void call(void (*kernel)(Types...), void **given, std::index_sequence<Places...>)
{
    kernel(*(Types *)given[Places]...);
}

template <auto kernel, class... Types> static void call_kernel(void (*)(Types...), void **given)
{
    call<Types...>(kernel, given, std::index_sequence_for<Types...>());
}

template <auto kernel> static void launch(unsigned x, unsigned y, unsigned n, void **given)
{
    std::vector<Thread> threads(n);
    work = [](void **all) { call_kernel<kernel>(kernel, all); };
    arguments = given;
    blockDim = {n, 1};
    gridDim = {x, y};
    for (blockIdx.y = 0; blockIdx.y < y; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < x; blockIdx.x++)
            run_block(threads);
}
