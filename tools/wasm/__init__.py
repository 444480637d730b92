"""WebAssembly modules of the workspace, each in a process of its own."""
