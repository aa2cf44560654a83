"""The adversary instance by instance, as it was before instances were searched together: what benchmarks compare with.

Candidates are enumerated (pairs, triples), found by HiGHS, by the paper's search and by random climbs.
"""
