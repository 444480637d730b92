"""LiteLLM reads its price list from its own files, as `bot.settings.settings` has it do, and not from the network."""

import os

from runtime.models.litellm_loading import VARIABLES

for name in VARIABLES:
    os.environ.setdefault(name, "True")
