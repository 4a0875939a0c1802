"""The widgets that pages share; each reads its inputs, calls the core once, and draws."""
