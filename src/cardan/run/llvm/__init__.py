"""All LLVM text: programs, kernels, elementary functions, memory, rollouts."""
