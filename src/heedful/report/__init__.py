"""Rendering: what was computed and stored, shown to people. No number is born here."""
