"""The page 'Replication' in Airflow: what the journal and Airflow's runs say about each policy. It changes nothing."""
