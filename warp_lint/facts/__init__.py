"""What one file says, as plain records: extracted once with LibCST, then never looked at as a tree again."""
