/**
 * The release of Kubernetes that this is: what was recorded of it is kept to. Everything that tells a version (--version, /version,
 * user agents, build information, nodes, candidates of an election) tells this one.
 */
export const KUBERNETES_VERSION = '1.36.2'
