"""Findings, fixes and explanations in editors, over the language server protocol."""
