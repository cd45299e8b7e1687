"""Tests of what the benchmarks compute, not of how fast anything is."""
