"""Airflow, and its REST API as people use it."""
