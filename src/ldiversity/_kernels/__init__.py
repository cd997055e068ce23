"""Hot array loops, compiled by numba. Import these modules inside functions, because numba loads slowly."""
