"""The site: pages that open from disk, and the data they show."""
