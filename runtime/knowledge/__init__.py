"""Knowledge packs: folders and pages that operators name, read again when they change, and searched."""
