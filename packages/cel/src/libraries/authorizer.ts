/** Questions to the authorizer, for policies and match conditions: `authorizer.group('apps').resource('deployments')...`. */
import { dnsLabel, dnsSubdomain } from '@gyropilot/schema/validation/names'
import { exactly } from '../costs/cost-range.ts'
import { declare } from '../checking/signature.ts'
import type { Costs, Library } from '../checking/signature.ts'
import { opaqueType } from '../checking/types.ts'
import { EvaluationError, Opaque } from '../values/values.ts'

const PREFIX = 'kubernetes.authorization'
export const AUTHORIZER_TYPE = opaqueType(`${PREFIX}.Authorizer`)
export const RESOURCE_CHECK_TYPE = opaqueType(`${PREFIX}.ResourceCheck`)

/** Who asks: the user of the request, or a service account. */
type Principal = 'requester' | { readonly namespace: string; readonly name: string }

export interface Question {
  readonly principal: Principal
  readonly verb: string
  /** Of other paths than those of resources. */
  readonly path?: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

export type Ask = (question: Question) => { readonly allowed: boolean; readonly reason: string }

export class AuthorizerValue extends Opaque {
  readonly typeName = AUTHORIZER_TYPE.name
  readonly ask: Ask
  readonly principal: Principal

  constructor(ask: Ask, principal: Principal = 'requester') {
    super()
    this.ask = ask
    this.principal = principal
  }

  override equals(other: Opaque): boolean {
    return other === this
  }
}

class PathCheck extends Opaque {
  readonly typeName = `${PREFIX}.PathCheck`
  readonly authorizer: AuthorizerValue
  readonly path: string

  constructor(authorizer: AuthorizerValue, path: string) {
    super()
    this.authorizer = authorizer
    this.path = path
  }

  override equals(other: Opaque): boolean {
    return other === this
  }
}

class GroupCheck extends Opaque {
  readonly typeName = `${PREFIX}.GroupCheck`
  readonly authorizer: AuthorizerValue
  readonly group: string

  constructor(authorizer: AuthorizerValue, group: string) {
    super()
    this.authorizer = authorizer
    this.group = group
  }

  override equals(other: Opaque): boolean {
    return other === this
  }
}

type Resource = Omit<Question, 'principal' | 'verb' | 'path'>

export class ResourceCheck extends Opaque {
  readonly typeName = RESOURCE_CHECK_TYPE.name
  readonly authorizer: AuthorizerValue
  readonly resource: Resource

  constructor(authorizer: AuthorizerValue, resource: Resource) {
    super()
    this.authorizer = authorizer
    this.resource = resource
  }

  with(part: Partial<Resource>): ResourceCheck {
    return new ResourceCheck(this.authorizer, { ...this.resource, ...part })
  }

  override equals(other: Opaque): boolean {
    return other === this
  }
}

class Decision extends Opaque {
  readonly typeName = `${PREFIX}.Decision`
  readonly allowed: boolean
  readonly reason: string

  constructor({ allowed, reason }: ReturnType<Ask>) {
    super()
    this.allowed = allowed
    this.reason = reason
  }

  override equals(other: Opaque): boolean {
    return other === this
  }
}

const NOWHERE = { subresource: '', namespace: '', name: '' }

function pathCheck(authorizer: AuthorizerValue, path: string): PathCheck {
  if (path.trim() === '') throw new EvaluationError('path must not be empty')
  return new PathCheck(authorizer, path)
}

function resourceCheck({ authorizer, group }: GroupCheck, resource: string): ResourceCheck {
  if (resource.trim() === '') throw new EvaluationError('resource must not be empty')
  return new ResourceCheck(authorizer, { ...NOWHERE, group, resource })
}

function asServiceAccount(
  { ask }: AuthorizerValue,
  namespace: string,
  name: string,
): AuthorizerValue {
  if (dnsSubdomain(name).length > 0) throw new EvaluationError('Invalid service account name')
  if (dnsLabel(namespace).length > 0) throw new EvaluationError('Invalid service account namespace')
  return new AuthorizerValue(ask, { namespace, name })
}

function checkPath({ authorizer, path }: PathCheck, verb: string): Decision {
  const { principal } = authorizer
  return new Decision(
    authorizer.ask({ ...NOWHERE, principal, verb, path, group: '', resource: '' }),
  )
}

function checkResource({ authorizer, resource }: ResourceCheck, verb: string): Decision {
  return new Decision(authorizer.ask({ ...resource, principal: authorizer.principal, verb }))
}

/** Two checks are all that one expression may cost. */
const CHECK_COST = 350_000
const CHECK: Costs = {
  cost: () => CHECK_COST,
  estimate: () => ({ cost: exactly(CHECK_COST) }),
}

const of = (type: string): string => `${PREFIX}.${type}`

export const AUTHORIZER: Library = {
  overloads: [
    declare(`${of('Authorizer')}.path(string): ${of('PathCheck')}`, pathCheck),
    declare(
      `${of('Authorizer')}.group(string): ${of('GroupCheck')}`,
      (authorizer: AuthorizerValue, group: string) => new GroupCheck(authorizer, group),
    ),
    declare(
      `${of('Authorizer')}.serviceAccount(string, string): ${of('Authorizer')}`,
      asServiceAccount,
    ),
    declare(`${of('GroupCheck')}.resource(string): ${of('ResourceCheck')}`, resourceCheck),
    ...(['subresource', 'namespace', 'name', 'fieldSelector', 'labelSelector'] as const).map(
      (field) =>
        declare(
          `${of('ResourceCheck')}.${field}(string): ${of('ResourceCheck')}`,
          (check: ResourceCheck, value: string) => check.with({ [field]: value }),
        ),
    ),
    declare(`${of('PathCheck')}.check(string): ${of('Decision')}`, checkPath, CHECK),
    declare(`${of('ResourceCheck')}.check(string): ${of('Decision')}`, checkResource, CHECK),
    declare(`${of('Decision')}.allowed(): bool`, ({ allowed }: Decision) => allowed),
    declare(`${of('Decision')}.reason(): string`, ({ reason }: Decision) => reason),
    // Rules are read from memory: nothing goes wrong while they are asked.
    declare(`${of('Decision')}.errored(): bool`, () => false),
    declare(`${of('Decision')}.error(): string`, () => ''),
  ],
}
