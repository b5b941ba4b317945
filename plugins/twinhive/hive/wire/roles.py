"""What a text of the metastore's API names, decided from Hive's own names of structs and fields.

The only rules. `decided` answers for each text of each struct of the server's classes; one that no rule knows is
undecided, and the table is not written (`twinhive.hive.wire.method_table_generator`).
"""

from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """What a text names; texts in lists and values of maps have the role of their field."""

    CATALOG = "catalog"
    DATABASE = "database"
    """May come with its catalog: `@hive#sales`."""
    DATABASE_PATTERN = "database pattern"
    TABLE = "table"
    TABLE_PATTERN = "table pattern"
    FULL_NAME = "full name"
    """`sales.orders`, or with its catalog before it."""
    FUNCTION = "function"
    FUNCTION_PATTERN = "function pattern"
    LOCATION = "location"
    VIEW_TEXT = "view text"
    SNAPSHOT = "snapshot"
    """Write ids of tables: `sales.orders:7:…`, several joined by `$`, the first perhaps of transactions only."""


UNDECIDED: Final = "undecided"

_BY_FIELD: dict[Role, str] = {
    Role.CATALOG: "catName cat_name catalog catalogName",
    Role.DATABASE: """database databaseName db db_name dbname dbName dest_db fktable_db foreign_db_name oldDbName
        parent_db_name pktable_db source_db table_db""",
    Role.DATABASE_PATTERN: "db_patterns",
    Role.TABLE: """dest_table_name fktable_name foreign_tbl_name objectName parent_tbl_name pktable_name
        source_table_name table table_name tableName tableNames tablename tblName tblNames tbName tbl_name tblname""",
    Role.TABLE_PATTERN: "tableNamePattern tablesPattern tbl_patterns",
    Role.FULL_NAME: "fullTableName fullTableNames tablesUsed",
    Role.FUNCTION: "funcName functionName function_names",
    Role.LOCATION: """dataPath filesAdded location locationUri managedLocationUri rootPath skewedColValueLocationMaps
        uri""",
    Role.VIEW_TEXT: "viewExpandedText viewOriginalText",
    Role.SNAPSHOT: "validTxnList validWriteIdList validWriteIdlist",
}

_BY_STRUCT: dict[Role, str] = {
    Role.CATALOG: """AlterCatalogRequest.name Catalog.name DropCatalogRequest.name GetCatalogRequest.name
        GetCatalogsResponse.names""",
    Role.DATABASE: """Database.name DropDatabaseRequest.name GetDatabaseRequest.name drop_database_args.name
        get_database_args.name get_all_databases_result.success get_databases_result.success""",
    Role.DATABASE_PATTERN: "get_databases_args.pattern GetDatabaseObjectsRequest.pattern",
    Role.TABLE: """drop_table_args.name drop_table_with_environment_context_args.name get_all_tables_result.success
        get_materialized_views_for_rewriting_result.success get_table_names_by_filter_result.success
        get_tables_result.success get_tables_by_type_result.success""",
    Role.TABLE_PATTERN: "get_tables_args.pattern get_tables_by_type_args.pattern",
    Role.FUNCTION: "get_functions_result.success",
    Role.FUNCTION_PATTERN: "get_functions_args.pattern GetFunctionsRequest.pattern",
}
"""Fields whose name alone does not say it."""

_NONE_BY_STRUCT = """
    AppendPartitionsRequest.name DataConnector.name FieldSchema.name GetPartitionNamesPsResponse.names
    GetPartitionsByNamesRequest.names ISchema.name RequestPartsSpec.names SchemaVersion.name SerDeInfo.name
    StoredProcedure.name Type.name WMNullableResourcePlan.name WMResourcePlan.name get_config_value_args.name
    get_partitions_by_names_args.names get_type_all_args.name get_type_args.name
    fetch_partition_names_req_result.success find_columns_with_stats_result.success getMetaConf_result.success
    get_all_packages_result.success get_all_stored_procedures_result.success
    get_all_token_identifiers_result.success get_config_value_result.success get_dataconnectors_result.success
    get_delegation_token_result.success get_master_keys_result.success get_metastore_db_uuid_result.success
    get_partition_names_ps_result.success get_partition_names_req_result.success get_partition_names_result.success
    get_role_names_result.success get_token_result.success get_type_all_result.success
    partition_name_to_spec_result.success partition_name_to_vals_result.success getCounters_result.success
    getCpuProfile_result.success getName_result.success getOption_result.success getOptions_result.success
    getStatusDetails_result.success getVersion_result.success set_ugi_result.success
"""
"""Partitions, columns, serdes, connectors, plans, procedures, keys have names too: none that data is asked by."""

_NONE_BY_FIELD = """
    actionExpression agentInfo authorizer body bucketCols check_expression className clusterNamespace col colName
    colNames colNamespace colType col_name col_names column_name columnName comment comments connectorName
    connector_name constraintname copyFrom dataConnectorName dc_name defaultPartitionName defaultPoolPath
    defaultValue default_value delegation_token description deserializerClass engine entityName entityType
    errorMessage errormessage errors eventType eventTypeList eventTypeSkipList excludeParamKeyPattern
    executorQueryId expectedParameterKey expectedParameterValue fieldList files filesAddedChecksum filter filters
    fingerprint fk_name fkcolumn_name grantor grantorName groupNames groupPrivileges group_names hadoopJobId header
    hostName hostname includeParamKeyPattern initiatorId initiatorVersion inputFormat jobId key mapPredicate
    mapPrefix mapSelection message messageFormat metaInfo metadata nameSpace nn_name ns order orderByClause
    outputFormat owner ownerName packageName parameters partName partNames partStats partValues partVals part_name
    part_names part_vals partition partitionList partitionName partitionObj partitionSpecs partitionVal
    partitionVals partitionname partitionnames partname pk_name pkcolumn_name policy pool poolName poolPath poolname
    principalName principal_name privilege procName processorCapabilities processorIdentifier progress properties
    propertyMap query relativePath remote_dbname renewer_kerberos_principal_name replPolicy requiredReadCapabilities
    requiredWriteCapabilities resourcePlanName roleName rolePrivileges role_name row runAs runas schedule
    scheduleName schedulingPolicy schemaGroup schemaName schemaText serdeName serializationLib serializerClass
    skewedColNames skewedColValues source state status subDirectoryList tableObj tableType tblParams tbl_types
    token_identifier token_owner token_str_form trigger triggerExpression triggerName type type1 type2 uk_name url
    user userName userPrivileges user_name value values warnings workerId workerVersion workerid writeIds
"""
"""Not even when the text equals a name: comments, values, parameters, columns, what only a local metastore is asked."""


def _rules() -> dict[str, Role | None]:
    rules: dict[str, Role | None] = {}
    for known in (_BY_FIELD, _BY_STRUCT):
        rules |= {name: role for role, names in known.items() for name in names.split()}
    return rules | dict.fromkeys(f"{_NONE_BY_FIELD} {_NONE_BY_STRUCT}".split())


_RULES: Final = _rules()


def decided(struct: str, field: str) -> Role | str | None:
    """Return what a text names, None for no name, UNDECIDED when no rule knows it; a struct's own rule goes first."""
    return _RULES.get(f"{struct}.{field}", _RULES.get(field, UNDECIDED))
