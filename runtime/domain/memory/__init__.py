"""Rules of memory: who reads what, what ends what, what comes first. No I/O."""
