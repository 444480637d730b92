"""Makes a release: `make release VERSION=1.2.0`, or with DRY=1 in a copy that changes nothing. See docs/release.md."""
