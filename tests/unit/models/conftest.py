"""LiteLLM reads its price list from its own files, as `bot.settings` has it do, and not from the network."""

import os

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
