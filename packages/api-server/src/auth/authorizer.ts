/** Who may do what: system:masters, and the modes that were asked for. Contract: docs/behaviour/api-server/subresources-and-admission.md. */
import { aggregateText } from '@gyropilot/foundation'
import type { Authorizer, RequestAttributes, UserInfo } from '../contracts.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { Store } from '../storage/store.ts'
import { DEFAULT_AUTHORIZATION_MODES } from './authorization-modes.ts'
import type { AuthorizationMode } from './authorization-modes.ts'
import { GROUP, nodeNameOf } from './identity.ts'
import { NodeAuthorizer } from './node-authorizer.ts'
import { RbacIndex } from './rbac-index.ts'
import { ruleAllows } from './rbac-rules.ts'
import type { PolicyRule } from './rbac-rules.ts'

interface Decision {
  readonly allowed: boolean
  /** Which binding allowed; for a refusal what went wrong on the way (`RBAC: role... not found`), often empty. */
  readonly reason: string
}

interface ResolvedRules {
  readonly rules: readonly PolicyRule[]
  /** Roles that bindings name and that do not exist. */
  readonly errors: readonly string[]
}

interface ListedRules extends ResolvedRules {
  /** More may be allowed. */
  readonly isIncomplete: boolean
}

const ALLOWED: Decision = { allowed: true, reason: '' }
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

export interface RbacAuthorizer extends Authorizer {
  authorize(attributes: RequestAttributes): Decision
  /** What can be listed of all that a user may do in a namespace, whichever mode allows it. */
  listedRules(user: UserInfo, namespace: string): ListedRules
  /** Everything RBAC gives a user in a namespace (empty: cluster-wide only). */
  rulesFor(user: UserInfo, namespace: string): ResolvedRules
  /** Rules of a role, or undefined when it does not exist. */
  roleRules(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined
  stop(): void
}

interface AuthorizerOptions {
  readonly store: Store
  /** Who is asked, in this order; what none allows is refused. Members of system:masters may do everything. */
  readonly modes?: readonly AuthorizationMode[]
}

export function createAuthorizer({
  store,
  modes = DEFAULT_AUTHORIZATION_MODES,
}: AuthorizerOptions): RbacAuthorizer {
  return new ChainAuthorizer(store, new Set(modes))
}

class ChainAuthorizer implements RbacAuthorizer {
  readonly #index: RbacIndex
  readonly #nodes: NodeAuthorizer
  readonly #modes: ReadonlySet<AuthorizationMode>

  constructor(store: Store, modes: ReadonlySet<AuthorizationMode>) {
    this.#modes = modes
    this.#index = new RbacIndex(store)
    this.#nodes = new NodeAuthorizer(store)
  }

  /** Each mode in its turn, until one allows. What the others say of a refusal stands line by line. */
  authorize(attributes: RequestAttributes): Decision {
    if (attributes.user.groups.includes(GROUP.masters)) return ALLOWED
    const reasons: string[] = []
    for (const mode of this.#modes) {
      const decision = this.#ask(mode, attributes)
      if (decision.allowed) return decision
      if (decision.reason !== '') reasons.push(decision.reason)
    }
    return { allowed: false, reason: reasons.join('\n') }
  }

  #ask(mode: AuthorizationMode, attributes: RequestAttributes): Decision {
    switch (mode) {
      case 'AlwaysAllow':
        return ALLOWED
      case 'AlwaysDeny':
        return { allowed: false, reason: 'Everything is forbidden.' }
      case 'Node':
        return this.#nodes.authorize(attributes)
      case 'RBAC':
        return this.#askRoles(attributes)
    }
  }

  #askRoles(attributes: RequestAttributes): Decision {
    const { user, namespace } = attributes
    const errors: string[] = []
    for (const { binding, subject } of this.#index.grantsFor(user, namespace)) {
      const rules = this.#index.rulesOf(binding)
      if (rules === undefined) errors.push(missingRole(binding))
      else if (rules.some((rule) => ruleAllows(rule, attributes)))
        return { allowed: true, reason: allowedReason(binding, subject) }
    }
    return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${aggregateText(errors)}` }
  }

  listedRules(user: UserInfo, namespace: string): ListedRules {
    const rules: PolicyRule[] = []
    const errors: string[] = []
    // What the node authorizer allows a node depends on the pods there: it has no list. A role that
    // is bound and not there is told, and allows nothing: the list is whole.
    const isIncomplete = this.#modes.has('Node') && nodeNameOf(user) !== undefined
    for (const mode of this.#modes) {
      if (mode === 'AlwaysAllow') rules.push(...EVERYTHING)
      if (mode === 'Node' && isIncomplete)
        errors.push('node authorizer does not support user rule resolution')
      if (mode !== 'RBAC') continue
      const found = this.rulesFor(user, namespace)
      rules.push(...found.rules)
      errors.push(...found.errors)
    }
    return { rules, errors, isIncomplete }
  }

  rulesFor(user: UserInfo, namespace: string): ResolvedRules {
    const rules: PolicyRule[] = []
    const errors: string[] = []
    for (const { binding } of this.#index.grantsFor(user, namespace)) {
      const found = this.#index.rulesOf(binding)
      if (found === undefined) errors.push(missingRole(binding))
      else rules.push(...found)
    }
    return { rules, errors: [...new Set(errors)] }
  }

  roleRules(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined {
    return this.#index.roleRules(kind, namespace, name)
  }

  stop(): void {
    this.#index.stop()
  }
}

function missingRole(binding: Stored): string {
  const { kind, name } = binding['roleRef']
  return `${String(kind).toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`
}

function allowedReason(binding: Stored, subject: Stored): string {
  const { namespace, name } = binding['metadata']
  const { kind, name: role } = binding['roleRef']
  const bindingText = namespace
    ? `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`
    : `ClusterRoleBinding ${JSON.stringify(name)}`
  const subjectName =
    subject['kind'] === 'ServiceAccount'
      ? `${subject['name']}/${subject['namespace'] ?? namespace}`
      : subject['name']
  return `RBAC: allowed by ${bindingText} of ${kind} ${JSON.stringify(role)} to ${subject['kind']} ${JSON.stringify(subjectName)}`
}
