/**
 * Fixed values of the aggregation of cluster roles.
 * Contract: docs/behaviour/controllers/clusterrole-aggregation-controller.md, Flags and configuration.
 */
export const WORKERS = 5
export const QUEUE_NAME = 'ClusterRoleAggregator'
export const SERVICE_ACCOUNT = 'clusterrole-aggregation-controller'
/** Owner of `rules` in managedFields. */
export const FIELD_MANAGER = 'clusterrole-aggregation-controller'
