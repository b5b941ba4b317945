"""Say of each method of the metastore who gets a call of it; a method that is not named here is refused.

The names are those of Hive 4.1.0's `hive_metastore.thrift`.
"""

from collections.abc import Mapping
from enum import Enum


class MethodKind(Enum):
    """Who gets a call."""

    READ = "read"
    """The owner of the table or the database that it names."""
    WRITE = "write"
    """Likewise, and no remote: remotes are read only."""
    TABLE_DROP = "drop of a table"
    """Likewise; a remote table's own definition, which is a view of the local metastore, may be dropped, where no
    client deletes files after it."""
    DEFINITION = "definition"
    """The local metastore, where definitions are: databases by themselves."""
    SEVERAL = "several owners"
    """All owners that it concerns; their answers become one."""
    SESSION = "session"
    """The local metastore, and each remote when it is first asked."""
    LOCAL = "local"
    """The local metastore, with names as they are: transactions, locks, notifications, rights, tokens."""
    GRANT = "grant"
    """The local metastore, which has rights on local names; none on the tables of a remote database, of which it has
    none: it would say yes, and store nothing."""
    NEVER = "never"
    """Nobody: it would end or change a server that others use."""


_READ = """
fetch_partition_names_req find_package get_aggr_stats_for get_all_packages get_all_stored_procedures
get_all_table_constraints get_all_tables get_check_constraints get_default_constraints get_fields get_fields_req
get_fields_with_environment_context get_foreign_keys get_function get_functions get_functions_req get_ischema
get_latest_committed_compaction_info get_materialized_views_for_rewriting get_max_allocated_table_write_id
get_not_null_constraints get_num_partitions_by_filter get_part_specs_by_filter get_partition get_partition_by_name
get_partition_column_statistics get_partition_names get_partition_names_ps get_partition_names_ps_req
get_partition_names_req get_partition_req get_partition_values get_partition_with_auth get_partitions
get_partitions_by_expr get_partitions_by_filter get_partitions_by_filter_req get_partitions_by_names
get_partitions_by_names_req get_partitions_ps get_partitions_ps_with_auth get_partitions_ps_with_auth_req
get_partitions_pspec get_partitions_req get_partitions_spec_by_expr get_partitions_statistics_req
get_partitions_with_auth get_partitions_with_specs get_primary_keys get_schema get_schema_all_versions
get_schema_latest_version get_schema_req get_schema_version get_schema_with_environment_context
get_stored_procedure get_table_column_statistics get_table_names_by_filter get_table_req get_table_statistics_req
get_tables get_tables_ext get_unique_constraints isPartitionMarkedForEvent
"""
_WRITE = """
add_check_constraint add_default_constraint add_dynamic_partitions add_foreign_key add_not_null_constraint add_package
add_partition add_partition_with_environment_context add_partitions add_partitions_pspec add_partitions_req
add_primary_key add_schema_version add_unique_constraint add_write_notification_log
add_write_notification_log_in_batch allocate_table_write_ids alter_function alter_ischema alter_partition
alter_partition_with_environment_context alter_partitions alter_partitions_req
alter_partitions_with_environment_context alter_table alter_table_req alter_table_with_cascade
alter_table_with_environment_context append_partition append_partition_by_name
append_partition_by_name_with_environment_context append_partition_req append_partition_with_environment_context
cache_file_metadata compact compact2 create_function create_ischema create_stored_procedure create_table
create_table_req create_table_with_constraints create_table_with_environment_context delete_column_statistics_req
delete_partition_column_statistics delete_table_column_statistics drop_constraint drop_function drop_ischema
drop_package drop_partition drop_partition_by_name drop_partition_by_name_with_environment_context
drop_partition_req drop_partition_with_environment_context drop_partitions_req drop_schema_version
drop_stored_procedure exchange_partition exchange_partitions fire_listener_event get_lock_materialization_rebuild
heartbeat_lock_materialization_rebuild map_schema_version_to_serde markPartitionForEvent rename_partition
rename_partition_req repl_tbl_writeid_state seed_write_id set_aggr_stats_for set_schema_version_state
translate_table_dryrun truncate_table truncate_table_req update_creation_metadata update_partition_column_statistics
update_partition_column_statistics_req update_table_column_statistics update_table_column_statistics_req
"""
_TABLE_DROP = "drop_table drop_table_req drop_table_with_environment_context"
_DEFINITION = """
alter_database alter_database_req create_database create_database_req drop_database drop_database_req
get_all_databases get_database get_database_req get_databases get_databases_req
"""
_SEVERAL = "get_table_meta get_table_objects_by_name_req get_tables_by_type get_valid_write_ids"
_SESSION = "setMetaConf set_ugi"
_NEVER = "reinitialize setOption shutdown"
_GRANT = "grant_privileges grant_revoke_privileges refresh_privileges"
_LOCAL = """
abort_Compactions abort_txn abort_txns add_master_key add_replication_metrics add_runtime_stats add_serde add_token
add_write_ids_to_min_history aliveSince alter_catalog alter_dataconnector_req alter_resource_plan alter_wm_pool
alter_wm_trigger cancel_delegation_token check_lock clear_file_metadata cm_recycle commit_txn create_catalog
create_dataconnector_req create_or_drop_wm_trigger_to_pool_mapping create_or_update_wm_mapping create_resource_plan
create_role create_type create_wm_pool create_wm_trigger drop_catalog drop_dataconnector_req drop_resource_plan
drop_role drop_type drop_wm_mapping drop_wm_pool drop_wm_trigger find_columns_with_stats find_next_compact
find_next_compact2 flushCache getCounter getCounters getCpuProfile getMetaConf getName getOption getOptions getStatus
getStatusDetails getVersion get_active_resource_plan get_all_functions
get_all_materialized_view_objects_for_rewriting get_all_resource_plans get_all_token_identifiers
get_all_write_event_info get_catalog get_catalogs get_config_value get_current_notificationEventId
get_dataconnector_req get_dataconnectors get_delegation_token get_file_metadata get_file_metadata_by_expr
get_latest_txnid_in_conflict get_master_keys get_materialization_invalidation_info get_metastore_db_uuid
get_next_notification get_notification_events_count get_open_txns get_open_txns_info get_open_txns_req
get_principals_in_role get_privilege_set get_properties get_replication_metrics get_resource_plan
get_role_grants_for_principal get_role_names get_runtime_stats get_scheduled_query get_schemas_by_cols get_serde
get_token get_triggers_for_resourceplan get_type get_type_all
grant_revoke_role grant_role heartbeat heartbeat_txn_range list_privileges list_roles lock mark_cleaned
mark_compacted mark_failed mark_refused open_txns partition_name_has_valid_characters partition_name_to_spec
partition_name_to_vals put_file_metadata remove_compaction_metrics_data remove_master_key
remove_token renew_delegation_token revoke_privileges revoke_role scheduled_query_maintenance scheduled_query_poll
scheduled_query_progress seed_txn_id set_hadoop_jobid set_properties show_compact show_locks submit_for_cleanup
unlock update_compaction_metrics_data update_compactor_state update_master_key update_transaction_statistics
validate_resource_plan
"""

KIND_OF: Mapping[str, MethodKind] = {
    name: kind
    for kind, names in (
        (MethodKind.READ, _READ),
        (MethodKind.WRITE, _WRITE),
        (MethodKind.TABLE_DROP, _TABLE_DROP),
        (MethodKind.DEFINITION, _DEFINITION),
        (MethodKind.SEVERAL, _SEVERAL),
        (MethodKind.SESSION, _SESSION),
        (MethodKind.LOCAL, _LOCAL),
        (MethodKind.GRANT, _GRANT),
        (MethodKind.NEVER, _NEVER),
    )
    for name in names.split()
}

_READS = ("get", "list_", "show_", "partition_name_")
_MAKING = ("get_delegation_token",)
"""Called like a read, and each call makes another one."""
_REPEATED = (MethodKind.READ, MethodKind.SEVERAL, MethodKind.SESSION)


def is_repeatable(method: str, kind: MethodKind | None) -> bool:
    """True for a call that changes nothing, so that it may be made twice."""
    if method in _MAKING:
        return False
    return kind in _REPEATED or (kind in (MethodKind.LOCAL, MethodKind.DEFINITION) and method.startswith(_READS))
