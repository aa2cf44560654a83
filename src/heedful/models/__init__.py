"""Attention models: encoders, attentions, decoders and their training."""
