"""The nodes of the graphs: async functions ``(state, runtime) -> update``."""
