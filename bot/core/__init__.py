"""The pure core: what is proposed, who may decide it, what a decision becomes.

Nothing here does I/O, reads a clock or makes an id; a test proves it by reading the imports.
"""
