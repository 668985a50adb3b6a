"""How the text of a fix is made.

New text is built with LibCST on the fragment that it replaces, so that comments, line breaks and trailing
commas stay; where it goes is told in code-point offsets of the file.
"""
