"""Distributed datasets: batches for hosts and replicas, on either TPU and every release."""
