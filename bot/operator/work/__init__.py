"""Work that goes on without anybody waiting, for operators."""
