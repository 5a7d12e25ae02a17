import { dnsLabel, dnsSubdomain } from '@gyropilot/schema/validation/names'
import type { UserInfo } from '../contracts.ts'

export const GROUP = {
  masters: 'system:masters',
  authenticated: 'system:authenticated',
  unauthenticated: 'system:unauthenticated',
  nodes: 'system:nodes',
  serviceAccounts: 'system:serviceaccounts',
  bootstrappers: 'system:bootstrappers',
} as const

const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:'
const NODE_PREFIX = 'system:node:'
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'
/** In the extra of a service account: the node on which its pod is. */
export const NODE_NAME = 'authentication.kubernetes.io/node-name'

export const ANONYMOUS: UserInfo = {
  name: 'system:anonymous',
  groups: [GROUP.unauthenticated],
  extra: {},
}

/** Who the server's own loops are. */
export const SERVER_IDENTITY: UserInfo = {
  name: 'system:apiserver',
  groups: [GROUP.masters, GROUP.authenticated],
  extra: {},
}

export function serviceAccountUserName(namespace: string, name: string): string {
  return `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`
}

/** `{namespace, name}` of a user name that a service account can have, else undefined. */
export function splitServiceAccountUserName(
  userName: string,
): { namespace: string; name: string } | undefined {
  if (!userName.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined
  const parts = userName.slice(SERVICE_ACCOUNT_PREFIX.length).split(':')
  const [namespace = '', name = ''] = parts
  const isPossible =
    parts.length === 2 && dnsLabel(namespace).length === 0 && dnsSubdomain(name).length === 0
  return isPossible ? { namespace, name } : undefined
}

export function serviceAccountGroups(namespace: string): string[] {
  return [GROUP.serviceAccounts, `${GROUP.serviceAccounts}:${namespace}`]
}

/** Adds system:authenticated unless name or groups already say whether there was a credential. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.name === ANONYMOUS.name) return user
  if (user.groups.includes(GROUP.authenticated) || user.groups.includes(GROUP.unauthenticated))
    return user
  return { ...user, groups: [...user.groups, GROUP.authenticated] }
}

/** The wire form of TokenReview, SelfSubjectReview and AdmissionReview. */
export function userInfoBody(user: UserInfo): Record<string, unknown> {
  return {
    username: user.name,
    ...(user.uid === undefined || user.uid === '' ? {} : { uid: user.uid }),
    ...(user.groups.length === 0 ? {} : { groups: user.groups }),
    ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
  }
}

/** The node of a user name that a node can have, else undefined. */
export function nodeOfUserName(userName: string): string | undefined {
  const node = userName.startsWith(NODE_PREFIX) ? userName.slice(NODE_PREFIX.length) : ''
  return dnsSubdomain(node).length === 0 ? node : undefined
}

/** The node of a kubelet's identity (`system:node:n1` in group system:nodes), else undefined. */
export function nodeNameOf({ name, groups }: UserInfo): string | undefined {
  if (!name.startsWith(NODE_PREFIX) || !groups.includes(GROUP.nodes)) return undefined
  return name.slice(NODE_PREFIX.length)
}
