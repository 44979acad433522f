"""Topics for the curious in Why reverse mode, a module each."""
