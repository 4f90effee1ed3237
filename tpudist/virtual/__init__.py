"""The virtual TPU: N cores of a slice on one real device."""
