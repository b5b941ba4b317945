-- Run once, when the volume is empty. Database airflow is made by the image; those of the metastores by deploy/prepare.py.
CREATE DATABASE journal;
