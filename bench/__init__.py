"""Benchmarks: each figure is printed with its bound; ratios are against a bare handler in the same run."""
