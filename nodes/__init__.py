"""What the steps of the graphs do, one file a phase: async functions ``(state, runtime) -> update``."""
