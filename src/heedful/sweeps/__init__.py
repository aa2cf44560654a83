"""Many runs: grids, and the sweeps that perform them."""
