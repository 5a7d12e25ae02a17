/** An entry of its own, because a command line is checked before a server is loaded. */

/** As kube-apiserver's --authorization-mode has them; Webhook and ABAC are not built. */
export const AUTHORIZATION_MODES = ['Node', 'RBAC', 'AlwaysAllow', 'AlwaysDeny'] as const
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number]
export const DEFAULT_AUTHORIZATION_MODES: readonly AuthorizationMode[] = ['Node', 'RBAC']
