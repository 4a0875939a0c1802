"""The pages over the core: app > views > components > charts > present > services, state."""
