"""Skills: what a SKILL.md says, which of them a message is about, what may be wrong with one, and who accepted it. No I/O."""
