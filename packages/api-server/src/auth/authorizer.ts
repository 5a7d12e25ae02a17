/** Who may do what: system:masters, the node authorizer, RBAC. Contract: docs/behaviour/api-server/subresources-and-admission.md. */
import { aggregateText } from '@gyropilot/foundation'
import type { Authorizer, RequestAttributes, UserInfo } from '../contracts.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { Store } from '../storage/store.ts'
import { DEFAULT_AUTHORIZATION_MODES } from './authorization-modes.ts'
import type { AuthorizationMode } from './authorization-modes.ts'
import { GROUP } from './identity.ts'
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

export interface RbacAuthorizer extends Authorizer {
  authorize(attributes: RequestAttributes): Decision
  /** Everything RBAC gives a user in a namespace (empty: cluster-wide only). */
  rulesFor(user: UserInfo, namespace: string): ResolvedRules
  /** Rules of a role, or undefined when it does not exist. */
  roleRules(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined
  stop(): void
}

interface AuthorizerOptions {
  readonly store: Store
  /** Who is asked; what none allows is refused. Members of system:masters may do everything. */
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

  authorize(attributes: RequestAttributes): Decision {
    const { user } = attributes
    if (user.groups.includes(GROUP.masters)) return { allowed: true, reason: '' }
    if (this.#modes.has('AlwaysAllow')) return { allowed: true, reason: '' }
    const nodeDecision = this.#modes.has('Node')
      ? this.#nodes.authorize(attributes)
      : { allowed: false, reason: '' }
    if (nodeDecision.allowed) return nodeDecision
    return this.#modes.has('RBAC') ? this.#askRoles(attributes, nodeDecision) : nodeDecision
  }

  #askRoles(attributes: RequestAttributes, nodeDecision: Decision): Decision {
    const { user, namespace } = attributes
    const errors: string[] = []
    for (const { binding, subject } of this.#index.grantsFor(user, namespace)) {
      const rules = this.#index.rulesOf(binding)
      if (rules === undefined) errors.push(missingRole(binding))
      else if (rules.some((rule) => ruleAllows(rule, attributes)))
        return { allowed: true, reason: allowedReason(binding, subject) }
    }
    if (errors.length > 0) return { allowed: false, reason: `RBAC: ${aggregateText(errors)}` }
    return nodeDecision
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
