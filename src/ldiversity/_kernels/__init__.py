"""Hot array loops, compiled by numba. Import these modules inside functions: numba is slow to load."""
