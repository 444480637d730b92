"""A rig for each channel: its adapter, its real client and its fake platform."""
