"""Rules about where one Warp module ends and the next begins."""
