"""What the command line and the benchmarks both call: configure, train, evaluate, predict, and the run folder."""
