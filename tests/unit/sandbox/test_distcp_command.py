"""DistCp: where its arguments go, and what is read out of what it says."""

from sandbox.hadoop.distcp import parsed_counters, with_maps

SAID = """2026-11-21T14:09:46,796 INFO  [main] mapreduce.Job: Counters: 38
\tFile System Counters
\t\tFILE: Number of bytes read=1
\tDistCp Counters
\t\tBandwidth in Bytes=416666
\t\tFiles Copied=100
\t\tDIR_COPY=6
2026-11-21T14:09:46,799 INFO  [main] other: \t\tFiles Copied=7
"""


def test_only_distcps_own_counters_are_read():
    assert parsed_counters(SAID) == {"Bandwidth in Bytes": 416666, "Files Copied": 100, "DIR_COPY": 6}


def test_a_run_without_a_job_has_no_counters():
    assert parsed_counters("ERROR tools.DistCp: Invalid input:") == {}


def test_the_limit_of_maps_comes_behind_hadoops_settings_and_before_paths():
    assert with_maps(["-Da=b", "-update", "x", "y"], 4) == ["-Da=b", "-m", "4", "-update", "x", "y"]


def test_without_a_limit_the_arguments_stay_as_they_are():
    assert with_maps(["-update", "x", "y"], None) == ["-update", "x", "y"]
