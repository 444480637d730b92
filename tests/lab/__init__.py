"""The fault laboratory: a process that lives on after a fault must work again."""
