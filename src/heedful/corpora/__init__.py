"""Corpora in their native formats, one file each."""
