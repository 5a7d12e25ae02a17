/** A finalizer that belongs to no part of Kubernetes: who set it, and whether anything that runs looks like its owner. Pure. */
import type { Lease, ManagedFieldsEntry, UnstructuredObject } from '@gyropilot/api'
import type { ClusterFacts, Workload } from './facts.ts'
import { sinceText, span } from './words.ts'

/** Programs of people: that they set it says nothing about who takes it away. */
const HAND_TOOLS =
  /^(?:(?:kubectl|python[\d.]*)\b.*|(?:curl|helm|k9s|node|node-fetch|Mozilla|before-first-apply|unknown))$/i

/** Parts of names that many projects have. */
const COMMON_WORDS = new Set(
  'controller manager operator finalizer finalizers kubernetes apps example cloud cluster resources cleanup delete protection sigs ingress service services'.split(
    ' ',
  ),
)

const SHORTEST_WORD = 4

/** Parts of names of the programs that serve a domain whose own words are not in their names. The first that fits counts. */
const PROGRAMS_OF_DOMAINS: readonly (readonly [domain: string, programs: readonly string[]])[] = [
  ['karpenter.k8s.aws', ['karpenter']],
  // One controller for each service of the cloud: ack-s3-controller.
  ['services.k8s.aws', ['ack-']],
  ...['ingress', 'service', 'elbv2', 'gateway'].map(
    (part) => [`${part}.k8s.aws`, ['aws-load-balancer-controller']] as const,
  ),
  // Providers are called after their clouds: capa-controller-manager.
  [
    'infrastructure.cluster.x-k8s.io',
    ['capa-', 'capd-', 'capg-', 'caph-', 'capk-', 'capm3-', 'capo-', 'capv-', 'capz-'],
  ],
  ['cluster.x-k8s.io', ['capi-']],
  ['fluxcd.io', ['flux-system']],
]

/** The manager of the field, where managedFields say so: the newest when several share it. */
export function setterOf(
  object: UnstructuredObject,
  finalizer: string,
): ManagedFieldsEntry | undefined {
  const key = `v:${JSON.stringify(finalizer)}`
  const entries = object.metadata?.managedFields ?? []
  return entries
    .filter(({ fieldsV1 }) => {
      const fields = fieldsV1 as FieldsOfFinalizers | undefined
      return Object.hasOwn(fields?.['f:metadata']?.['f:finalizers'] ?? {}, key)
    })
    .toSorted((a, b) => ((a.time ?? '') < (b.time ?? '') ? 1 : -1))[0]
}

interface FieldsOfFinalizers {
  readonly 'f:metadata'?: { readonly 'f:finalizers'?: Readonly<Record<string, unknown>> }
}

interface LikelyOwner {
  /** `lease ns/name held by x, renewed 3s ago`. */
  readonly text: string
  readonly runs: boolean
}

export function likelyOwners(
  finalizer: string,
  manager: string | undefined,
  { leases, workloads }: Pick<ClusterFacts, 'leases' | 'workloads'>,
  nowMs: number,
): readonly LikelyOwner[] {
  const words = wordsOf(finalizer, manager)
  const isLike = (...names: readonly (string | undefined)[]): boolean =>
    names.some((name) => words.some((word) => name?.toLowerCase().includes(word) ?? false))
  return [
    ...workloads
      .filter(({ name, namespace }) => isLike(name, namespace))
      .map((workload) => ofWorkload(workload)),
    ...leases
      .filter(({ metadata, spec }) =>
        isLike(metadata?.name, metadata?.namespace, spec?.holderIdentity),
      )
      .map((lease) => ofLease(lease, nowMs)),
  ]
}

/** `finalizers.kyverno.io/x` set by `kyverno-policy`: kyverno, kyverno-policy. */
function wordsOf(finalizer: string, manager: string | undefined): readonly string[] {
  const [domain = '', name] = finalizer.toLowerCase().split('/')
  const labels = domain.split('.')
  // The last label of a domain (io, com) is everybody's; a finalizer without a slash is all name.
  const parts = name === undefined && labels.length === 1 ? labels : labels.slice(0, -1)
  const setter = manager === undefined || HAND_TOOLS.test(manager) ? [] : [manager.toLowerCase()]
  const isTelling = (word: string): boolean =>
    word.length >= SHORTEST_WORD && !COMMON_WORDS.has(word)
  return [...(programsOf(domain) ?? parts.filter(isTelling)), ...setter.filter(isTelling)]
}

function programsOf(domain: string): readonly string[] | undefined {
  const entry = PROGRAMS_OF_DOMAINS.find(([of]) => domain === of || domain.endsWith(`.${of}`))
  return entry?.[1]
}

/** Set by a program of people: no controller has shown itself. */
export function isByHand(setter: ManagedFieldsEntry | undefined): boolean {
  return setter?.manager !== undefined && HAND_TOOLS.test(setter.manager)
}

function ofWorkload({ kind, namespace, name, replicas, ready }: Workload): LikelyOwner {
  return { text: `${kind} ${namespace}/${name}: ${ready} of ${replicas} ready`, runs: ready > 0 }
}

function ofLease(lease: Lease, nowMs: number): LikelyOwner {
  const { metadata, spec } = lease
  const held = spec?.holderIdentity ? `held by ${spec.holderIdentity}` : 'held by nobody'
  const renewed =
    spec?.renewTime === undefined || spec.renewTime === null
      ? 'never renewed'
      : `renewed ${span(nowMs - Date.parse(spec.renewTime))} ago`
  return {
    text: `lease ${metadata?.namespace}/${metadata?.name} ${held}, ${renewed}`,
    runs: isHeld(lease, nowMs),
  }
}

/** Renewed within twice its duration: clocks of two machines differ. */
export function isHeld({ spec }: Lease, nowMs: number): boolean {
  if (!spec?.holderIdentity || !spec.renewTime) return false
  return nowMs - Date.parse(spec.renewTime) <= 2 * (spec.leaseDurationSeconds ?? 15) * 1000
}

/** `set by kubectl-edit (Update) since ...`. */
export function setterText(setter: ManagedFieldsEntry | undefined, nowMs: number): string {
  if (setter === undefined) return 'who set it is not recorded in managedFields'
  const { manager = 'somebody without a name', operation, time } = setter
  const byHand = HAND_TOOLS.test(manager) ? ', a tool used by hand' : ''
  const when = time === undefined || time === null ? '' : `, ${sinceText(time, nowMs)}`
  return `set by ${manager} (${operation ?? 'Update'})${byHand}${when}`
}
