// Draws from gamma distributions, of which those from a Dirichlet are made.
#pragma once

// Numbers set apart for one draw: an attempt takes 2, and one in twenty is rejected.
const u64 NUMBERS = 256;

// A number in (0, 1] of 32 bits: two of them are made of one number of a stream.
__device__ inline float part(unsigned half) { return (half + 0.5f) * 2.3283064365386963e-10f; }

// A draw from Gamma(shape), but for a factor e^log_factor: Marsaglia and Tsang (2000), number n on.
//
// The factor of a shape far below 1 is often less than the smallest number there is.
__device__ inline float gamma_draw(float shape, u64 key, u64 stride, u64 n, float &log_factor)
{
    u64 pair = bits(key, stride, n);
    log_factor = 0.0f;
    if (shape < 1.0f) {
        log_factor = logf(part((unsigned)(pair >> 32))) / shape;
        shape += 1.0f;
    }
    float d = shape - 1.0f / 3.0f, c = rsqrtf(9.0f * d);
    while (true) {
        u64 point = bits(key, stride, n + 1);
        float radius = sqrtf(-2.0f * logf(part((unsigned)(point >> 32))));
        float normal = radius * cospif(2.0f * part((unsigned)point)), v = 1.0f + c * normal;
        float u = part((unsigned)pair);
        v = v * v * v;
        if (v > 0.0f && logf(u) < 0.5f * normal * normal + d - d * v + d * logf(v))
            return d * v;
        n += 2;
        pair = bits(key, stride, n);
    }
}

// A draw from Gamma(shape), 0 where it is less than the smallest number there is.
__device__ inline float whole_gamma_draw(float shape, u64 key, u64 stride, u64 n)
{
    float log_factor, drawn = gamma_draw(shape, key, stride, n, log_factor);
    return drawn * expf(log_factor);
}
