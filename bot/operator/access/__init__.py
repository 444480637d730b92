"""Operations on who and what gets in: programs with tokens, sign-ins elsewhere, and people who are forgotten."""
