/** Acting as somebody else by Impersonate-* headers. */
import { ApiError } from '../contracts.ts'
import type { Authorizer, Credentials, RequestAttributes, UserInfo } from '../contracts.ts'
import { decodeHeaderKey, headerValues } from './authentication.ts'
import {
  ANONYMOUS,
  GROUP,
  serviceAccountGroups,
  splitServiceAccountUserName,
  withAuthenticatedGroup,
} from './identity.ts'
import { ImpersonationModes } from './impersonation-modes.ts'
import type { Wanted } from './impersonation-modes.ts'

const EXTRA_HEADER = 'impersonate-extra-'

type Headers = Pick<Credentials, 'headers'>

export class Impersonation {
  readonly #modes: ImpersonationModes

  constructor(authorizer: Authorizer) {
    this.#modes = new ImpersonationModes(authorizer)
  }

  /**
   * The request in the name of the user that Impersonate-* headers tell; as it is without them. `request.user` is the caller.
   * Throws ApiError 400 for headers without a user name and 403 without the right.
   */
  requestAs(headers: Headers, request: RequestAttributes): RequestAttributes {
    const wanted = readHeaders(headers)
    if (wanted === undefined) return request
    if (wanted.name === '') {
      throw new ApiError(
        400,
        'BadRequest',
        `requested ${describe(wanted)} without impersonating a user name`,
        { headers: { 'x-content-type-options': 'nosniff' } },
      )
    }
    const mode = this.#modes.choose(wanted, request)
    const isNode = mode === 'arbitrary-node' || mode === 'associated-node'
    const user = identityOf(isNode ? { ...wanted, groups: [GROUP.nodes] } : wanted)
    return { ...request, user }
  }
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
