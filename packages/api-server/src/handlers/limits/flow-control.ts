/**
 * Which flow schema a request counts under: shown in headers only, since one process serves in turn and nobody waits in
 * queues. Contract: docs/behaviour/api-server/requests.md, "Flow schemas"; KEP-1040.
 */
import { compareStrings } from '@gyropilot/foundation'
import type { RequestAttributes, UserInfo } from '../../contracts.ts'
import type { Store } from '../../storage/store.ts'
import { hasOrAll, urlMatches } from '../../auth/rbac-rules.ts'

interface FlowControlUids {
  readonly flowSchema: string
  readonly priorityLevel: string
}

const SCHEMAS = 'flowschemas.flowcontrol.apiserver.k8s.io'
export const PRIORITY_LEVELS = 'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io'
const ALL = '*'
const USUAL_PRECEDENCE = 1000

interface Subject {
  readonly kind: string
  readonly user?: { readonly name: string }
  readonly group?: { readonly name: string }
  readonly serviceAccount?: { readonly namespace: string; readonly name: string }
}

interface ResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly clusterScope?: boolean
  readonly namespaces?: readonly string[]
}

interface NonResourceRule {
  readonly verbs: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

interface FlowRule {
  readonly subjects?: readonly Subject[]
  readonly resourceRules?: readonly ResourceRule[]
  readonly nonResourceRules?: readonly NonResourceRule[]
}

interface FlowSchema {
  readonly metadata: { readonly name: string; readonly uid: string }
  readonly spec: {
    readonly matchingPrecedence?: number
    readonly priorityLevelConfiguration?: { readonly name: string }
    readonly rules?: readonly FlowRule[]
  }
}

/** The flow schemas of a server in the order in which they are asked. */
export class FlowSchemas {
  readonly #store: Store
  #ordered: readonly FlowSchema[] | undefined

  constructor(store: Store) {
    this.#store = store
    store.onCommit(({ collection }) => {
      if (collection === SCHEMAS) this.#ordered = undefined
    })
  }

  /** Undefined while the objects are missing. */
  uidsOf(request: RequestAttributes): FlowControlUids | undefined {
    this.#ordered ??= this.#inOrder()
    const schema = this.#ordered.find(({ spec }) =>
      (spec.rules ?? []).some((rule) => ruleMatches(rule, request)),
    )
    if (schema === undefined) return undefined
    const key = schema.spec.priorityLevelConfiguration?.name ?? ''
    const level = this.#store.get({ collection: PRIORITY_LEVELS, key })?.object
    if (level === undefined) return undefined
    return { flowSchema: schema.metadata.uid, priorityLevel: level['metadata'].uid }
  }

  #inOrder(): readonly FlowSchema[] {
    const found = this.#store.list(SCHEMAS, '')
    if (found === 'expired') return []
    return found.entries
      .map(({ object }) => object as unknown as FlowSchema)
      .sort(
        (a, b) =>
          precedenceOf(a) - precedenceOf(b) || compareStrings(a.metadata.name, b.metadata.name),
      )
  }
}

function precedenceOf({ spec }: FlowSchema): number {
  return spec.matchingPrecedence ?? USUAL_PRECEDENCE
}

function ruleMatches(rule: FlowRule, request: RequestAttributes): boolean {
  if (!(rule.subjects ?? []).some((subject) => isSubject(subject, request.user))) return false
  return request.isResourceRequest
    ? (rule.resourceRules ?? []).some((each) => resourceMatches(each, request))
    : (rule.nonResourceRules ?? []).some(
        ({ verbs, nonResourceURLs }) =>
          hasOrAll(verbs, request.verb) &&
          nonResourceURLs.some((pattern) => urlMatches(pattern, request.path)),
      )
}

function isSubject({ user, group, serviceAccount }: Subject, caller: UserInfo): boolean {
  if (user !== undefined) return user.name === ALL || user.name === caller.name
  if (group !== undefined) return group.name === ALL || caller.groups.includes(group.name)
  if (serviceAccount === undefined) return false
  const prefix = `system:serviceaccount:${serviceAccount.namespace}:`
  return serviceAccount.name === ALL
    ? caller.name.startsWith(prefix)
    : caller.name === prefix + serviceAccount.name
}

function resourceMatches(rule: ResourceRule, request: RequestAttributes): boolean {
  const { verb, group, resource, subresource, namespace } = request
  const inScope =
    namespace === '' ? rule.clusterScope === true : hasOrAll(rule.namespaces ?? [], namespace)
  return (
    inScope &&
    hasOrAll(rule.verbs, verb) &&
    hasOrAll(rule.apiGroups, group) &&
    hasOrAll(rule.resources, subresource === '' ? resource : `${resource}/${subresource}`)
  )
}
