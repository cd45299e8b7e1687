"""The reproduction of the paper: protocols, data sets, published results, and the report."""
