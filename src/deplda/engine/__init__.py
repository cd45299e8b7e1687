"""Where work runs: threads, processes, a Dask cluster; and how far it is."""
