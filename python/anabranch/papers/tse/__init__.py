"""TCP Fairness in Multipath Transport Protocols (R. H. Tse, Brown University, 2006)."""
