/**
 * Acting as somebody else by Impersonate-* headers: the whole identity (verb `impersonate`), or for one kind of request only
 * (KEP-5284, verbs `impersonate:<mode>` and `impersonate-on:<mode>:<verb>`).
 */
import { ApiError } from '../contracts.ts'
import type { Authorizer, Credentials, RequestAttributes, UserInfo } from '../contracts.ts'
import { decodeHeaderKey, headerValues } from './authentication.ts'
import { forbiddenRequest } from './forbidden.ts'
import {
  ANONYMOUS,
  GROUP,
  nodeNameOf,
  serviceAccountGroups,
  splitServiceAccountUserName,
  withAuthenticatedGroup,
} from './identity.ts'

const EXTRA_HEADER = 'impersonate-extra-'
const NODE_NAME_EXTRA = 'authentication.kubernetes.io/node-name'

type Headers = Pick<Credentials, 'headers'>

interface Wanted {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/**
 * The user in whose name the request goes on. `request.user` is the caller. Without Impersonate-* headers: the caller.
 * Throws ApiError 400 for headers without a user name and 403 without the right.
 */
export function impersonate(
  headers: Headers,
  request: RequestAttributes,
  authorizer: Authorizer,
): UserInfo {
  const wanted = readHeaders(headers)
  if (wanted === undefined) return request.user
  if (wanted.name === '') {
    throw new ApiError(
      400,
      'BadRequest',
      `requested ${describe(wanted)} without impersonating a user name`,
      { headers: { 'x-content-type-options': 'nosniff' } },
    )
  }
  const mode = modeOf(wanted, request.user)
  const isConstrainedAllowed =
    mode !== undefined &&
    !wanted.groups.includes(GROUP.masters) &&
    authorizer.authorize({ ...request, verb: `impersonate-on:${mode}:${request.verb}` }).allowed &&
    checks(wanted, request.user, `impersonate:${mode}`, mode).every(
      (check) => authorizer.authorize(check).allowed,
    )
  if (isConstrainedAllowed) return identityOf(wanted)
  const refused = checks(wanted, request.user, 'impersonate', undefined).find(
    (check) => !authorizer.authorize(check).allowed,
  )
  if (refused === undefined) return identityOf(wanted)
  if (mode === undefined) throw forbiddenRequest(refused, '')
  throw forbiddenRequest({ ...request, verb: `impersonate-on:${mode}:${request.verb}` }, '')
}

function readHeaders(headers: Headers): Wanted | undefined {
  const name = headerValues(headers, 'impersonate-user')[0] ?? ''
  const uid = headerValues(headers, 'impersonate-uid')[0] ?? ''
  const groups = headerValues(headers, 'impersonate-group')
  const extra: Record<string, readonly string[]> = {}
  for (const header of Object.keys(headers.headers)) {
    if (header.startsWith(EXTRA_HEADER))
      extra[decodeHeaderKey(header.slice(EXTRA_HEADER.length))] = headerValues(headers, header)
  }
  if (name === '' && uid === '' && groups.length === 0 && Object.keys(extra).length === 0)
    return undefined
  return { name, uid, groups, extra }
}

/** Service accounts and nodes have one only as they are: without groups, a uid or anything extra. */
function modeOf(wanted: Wanted, caller: UserInfo): string | undefined {
  const { uid, groups, extra } = wanted
  const isNameOnly = uid === '' && groups.length === 0 && Object.keys(extra).length === 0
  if (splitServiceAccountUserName(wanted.name) !== undefined)
    return isNameOnly ? 'serviceaccount' : undefined
  const node = nodeNameOf({ name: wanted.name, groups: [GROUP.nodes], extra: {} })
  if (node === undefined) return 'user-info'
  if (!isNameOnly) return undefined
  return caller.extra[NODE_NAME_EXTRA]?.[0] === node ? 'associated-node' : 'arbitrary-node'
}

/** One question to the authorizer per part of the wanted identity. */
function checks(
  wanted: Wanted,
  caller: UserInfo,
  verb: string,
  mode: string | undefined,
): RequestAttributes[] {
  const constrained = mode !== undefined
  const base = {
    user: caller,
    verb,
    version: 'v1',
    namespace: '',
    subresource: '',
    path: '',
    isResourceRequest: true,
  }
  const authentication = 'authentication.k8s.io'
  const group = constrained ? authentication : ''
  const account = splitServiceAccountUserName(wanted.name)
  const result: RequestAttributes[] = []
  if (account !== undefined) {
    result.push({
      ...base,
      group,
      resource: 'serviceaccounts',
      namespace: account.namespace,
      name: account.name,
    })
  } else if (mode === 'arbitrary-node' || mode === 'associated-node') {
    const name = mode === 'associated-node' ? '*' : wanted.name.slice('system:node:'.length)
    result.push({ ...base, group, resource: 'nodes', name })
  } else {
    result.push({ ...base, group, resource: 'users', name: wanted.name })
  }
  if (wanted.uid !== '')
    result.push({ ...base, group: authentication, resource: 'uids', name: wanted.uid })
  for (const name of wanted.groups) result.push({ ...base, group, resource: 'groups', name })
  for (const [key, values] of Object.entries(wanted.extra)) {
    for (const name of values)
      result.push({
        ...base,
        group: authentication,
        resource: 'userextras',
        subresource: key,
        name,
      })
  }
  return result
}

function identityOf(wanted: Wanted): UserInfo {
  const account = splitServiceAccountUserName(wanted.name)
  let groups = wanted.groups
  if (groups.length === 0 && account !== undefined) groups = serviceAccountGroups(account.namespace)
  const user = {
    name: wanted.name,
    ...(wanted.uid === '' ? {} : { uid: wanted.uid }),
    groups,
    extra: wanted.extra,
  }
  if (wanted.name !== ANONYMOUS.name) return withAuthenticatedGroup(user)
  return groups.includes(GROUP.unauthenticated)
    ? user
    : { ...user, groups: [...groups, GROUP.unauthenticated] }
}

/** As Go prints the struct, because the message shows it so. */
function describe(wanted: Wanted): string {
  const list = (values: readonly string[]): string =>
    `[]string{${values.map((value) => JSON.stringify(value)).join(', ')}}`
  const groups = wanted.groups.length === 0 ? '[]string(nil)' : list(wanted.groups)
  const extra = Object.entries(wanted.extra).map(
    ([key, values]) => `${JSON.stringify(key)}:${list(values)}`,
  )
  const extras = extra.length === 0 ? '(nil)' : `{${extra.join(', ')}}`
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(wanted.uid)}, Groups:${groups}, Extra:map[string][]string${extras}}`
}
