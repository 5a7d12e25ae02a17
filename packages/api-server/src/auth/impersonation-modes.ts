/**
 * The ways in which somebody may act as another, each with its own rights: for one kind of request only (KEP-5284, verbs
 * `impersonate:<mode>` and `impersonate-on:<mode>:<verb>`), or as the whole identity (verb `impersonate`).
 */
import { validateDomainPrefixedPath } from '@gyropilot/schema/validation/domain-path'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { textOfErrors } from '../http/errors.ts'
import type { ApiError, Authorizer, RequestAttributes, UserInfo } from '../contracts.ts'
import { forbiddenRequest } from './forbidden.ts'
import { GROUP, NODE_NAME, nodeOfUserName, splitServiceAccountUserName } from './identity.ts'

const AUTHENTICATION = 'authentication.k8s.io'
const CALLERS_REMEMBERED = 1024

/** The identity that the headers ask for. */
export interface Wanted {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

type Mode = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info' | 'whole'

const MODES: readonly Mode[] = [
  'associated-node',
  'arbitrary-node',
  'serviceaccount',
  'user-info',
  'whole',
]

/** The way that was open to a caller last is tried first, and when none is open its refusal is the one that is told. */
export class ImpersonationModes {
  readonly #authorizer: Authorizer
  readonly #last = new Map<string, Mode>()

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer
  }

  /** The mode that allows `request.user` to make this request as `wanted`. Throws ApiError 403 when none does. */
  choose(wanted: Wanted, request: RequestAttributes): Mode {
    const caller = JSON.stringify(request.user)
    const last = this.#last.get(caller)
    const order = last === undefined ? MODES : [last, ...MODES.filter((mode) => mode !== last)]
    let told: ApiError | undefined
    for (const mode of order) {
      if (!isFor(mode, wanted, request.user)) continue
      const refusal = refusalOf(mode, wanted, request, this.#authorizer)
      if (refusal === undefined) {
        this.#remember(caller, mode)
        return mode
      }
      told ??= refusal
    }
    throw told!
  }

  #remember(caller: string, mode: Mode): void {
    this.#last.delete(caller)
    this.#last.set(caller, mode)
    if (this.#last.size > CALLERS_REMEMBERED) this.#last.delete(this.#last.keys().next().value!)
  }
}

/** Service accounts and nodes have modes of their own only as they are: without groups, a uid or anything extra. */
function isFor(mode: Mode, wanted: Wanted, caller: UserInfo): boolean {
  const { uid, groups, extra } = wanted
  const isNameOnly = uid === '' && groups.length === 0 && Object.keys(extra).length === 0
  const node = nodeOfUserName(wanted.name)
  const isAccount = splitServiceAccountUserName(wanted.name) !== undefined
  switch (mode) {
    case 'associated-node':
      return isNameOnly && node !== undefined && caller.extra[NODE_NAME]?.[0] === node
    case 'arbitrary-node':
      return isNameOnly && node !== undefined
    case 'serviceaccount':
      return isNameOnly && isAccount
    case 'user-info':
      return node === undefined && !isAccount
    case 'whole':
      return true
  }
}

function refusalOf(
  mode: Mode,
  wanted: Wanted,
  request: RequestAttributes,
  authorizer: Authorizer,
): ApiError | undefined {
  const questions = partsOf(mode, wanted, request.user)
  if (mode !== 'whole')
    questions.unshift({ ...request, verb: `impersonate-on:${mode}:${request.verb}` })
  for (const { never, ...question } of questions) {
    if (never !== undefined) return forbiddenRequest(question, never)
    if (!authorizer.authorize(question).allowed) return forbiddenRequest(question, '')
  }
  return undefined
}

interface Question extends RequestAttributes {
  /** Why it is refused without asking the authorizer. */
  readonly never?: string
}

/** One question to the authorizer per part of the wanted identity. */
function partsOf(mode: Mode, wanted: Wanted, caller: UserInfo): Question[] {
  const isConstrained = mode !== 'whole'
  const base = {
    user: caller,
    verb: isConstrained ? `impersonate:${mode}` : 'impersonate',
    version: 'v1',
    namespace: '',
    subresource: '',
    path: '',
    isResourceRequest: true,
    group: isConstrained ? AUTHENTICATION : '',
  }
  const result: Question[] = []
  const account = splitServiceAccountUserName(wanted.name)
  if (account !== undefined) result.push({ ...base, resource: 'serviceaccounts', ...account })
  else if (mode === 'associated-node' || mode === 'arbitrary-node') {
    const name = mode === 'associated-node' ? '*' : nodeOfUserName(wanted.name)!
    result.push({ ...base, resource: 'nodes', name })
  } else result.push({ ...base, resource: 'users', name: wanted.name })
  if (wanted.uid !== '')
    result.push({ ...base, group: AUTHENTICATION, resource: 'uids', name: wanted.uid })
  const groups = wanted.groups.map((name) => ({ ...base, resource: 'groups', name }))
  const extras = { ...base, group: AUTHENTICATION, resource: 'userextras' }
  if (isConstrained) {
    for (const group of groups) {
      const never = impossibleGroup(group.name)
      if (never !== undefined) result.push({ ...group, never })
    }
  }
  result.push(...groups)
  for (const [key, values] of Object.entries(wanted.extra)) {
    const never = isConstrained ? impossibleExtra(key, values) : undefined
    if (never !== undefined) result.push({ ...extras, name: '', never })
    for (const name of values) result.push({ ...extras, subresource: key, name })
  }
  return result
}

function impossibleGroup(name: string): string | undefined {
  if (name === '') return 'impersonating the empty string group is not allowed'
  if (name === GROUP.masters) return 'impersonating the system:masters group is not allowed'
  return undefined
}

function impossibleExtra(key: string, values: readonly string[]): string | undefined {
  if (key === '') return 'impersonating the empty string key in extra is not allowed'
  const errors = new FieldErrors()
  validateDomainPrefixedPath(key, errors, 'extra.key')
  if (errors.list.length > 0)
    return `impersonating an invalid key in extra is not allowed: ${textOfErrors(errors.list)}`
  if (values.includes('')) return 'impersonating the empty string value in extra is not allowed'
  return undefined
}
