"""Training: φ and φ′ from labelled documents (paper §3.4)."""
