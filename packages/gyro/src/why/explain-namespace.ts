/** A namespace that is being emptied: docs/behaviour/controllers/namespace-controller.md. Pure. */
import { isTerminating } from '@gyropilot/api'
import type { Namespace, UnstructuredObject } from '@gyropilot/api'
import type { Facts, Found, Reason } from './facts.ts'
import { conditionsOf } from './known-finalizers.ts'
import { counted, unreadable } from './words.ts'

const CONTROLLER = 'the namespace controller of kube-controller-manager'

/** Nothing for other kinds. */
export function explainNamespace(facts: Facts): readonly Reason[] {
  if (facts.type.kind !== 'Namespace' || facts.type.group !== '') return []
  const { spec } = facts.object as Namespace
  return (spec?.finalizers ?? []).flatMap((name) =>
    name === 'kubernetes' ? [content(facts), ...unreadableKinds(facts)] : [foreign(name)],
  )
}

/** The controller waits so long, for API servers that have not heard of the deletion yet. */
const FIRST_LOOK_MS = 5_000

function content({ contents, object, nowMs }: Facts): Reason {
  const waitsFor = contents.found.toSorted((a, b) => urgency(a) - urgency(b))
  const pods = contents.found.filter(isPod)
  const evidence = [
    contents.found.length === 0
      ? `nothing ${contents.failed.length > 0 ? 'that can be listed ' : ''}is left in it`
      : `left: ${counted(waitsFor)}`,
  ]
  if (pods.length > 0 && pods.length < contents.found.length)
    evidence.push('pods go first: everything else waits for the last of them')
  if (nowMs - Date.parse(object.metadata?.deletionTimestamp ?? '') < FIRST_LOOK_MS)
    evidence.push('the controller begins five seconds after the deletion')
  const troubles = conditionsOf(object).filter(({ status }) => status === 'True')
  evidence.push(...troubles.map(({ type, message }) => `condition ${type}: ${message ?? ''}`))
  const since = troubles.map(({ lastTransitionTime }) => lastTransitionTime ?? '').toSorted()[0]
  return {
    code: 'NamespaceContent',
    holds: 'finalizer kubernetes (spec.finalizers)',
    remover: CONTROLLER,
    ...(since ? { since } : {}),
    evidence: [...evidence, ...unreadable(contents.failed.filter(({ forbidden }) => forbidden))],
    release:
      contents.found.length === 0
        ? 'the controller looks again, after some seconds, and finds every kind readable and empty'
        : 'everything in it is gone; the controller deletes it itself and waits for what finalizers and grace periods hold',
    waitsFor,
  }
}

const isPod = ({ type }: Found): boolean => type.resource === 'pods' && type.group === ''

/** Pods first, as the controller does; then what finalizers hold; then what is being deleted. */
function urgency(found: Found): number {
  if (isPod(found)) return 0
  if (holdsItself(found.object)) return 1
  return isTerminating(found.object) ? 2 : 3
}

function holdsItself(object: UnstructuredObject): boolean {
  return isTerminating(object) && (object.metadata?.finalizers?.length ?? 0) > 0
}

/** One kind that cannot be listed, or one group that discovery cannot read, keeps every namespace. */
function unreadableKinds({ contents, cluster }: Facts): readonly Reason[] {
  const kinds = contents.failed
    .filter(({ forbidden }) => !forbidden)
    .map(({ resource, reason }): Reason => ({
      code: 'KindUnreadable',
      holds: `${resource} cannot be listed`,
      evidence: [reason],
      release:
        'the kind can be listed again (its conversion webhook or its API server answers), or its definition is deleted',
      waitsFor: [],
    }))
  const groups = [...cluster.failedGroups].map(([groupVersion, reason]): Reason => {
    const [group, version] = groupVersion.split('/')
    return {
      code: 'KindUnreadable',
      holds: `API group ${groupVersion} cannot be read`,
      evidence: [reason],
      release: `the server behind it answers again, or apiservice/${version}.${group} is deleted`,
      waitsFor: [],
    }
  })
  return [...kinds, ...groups]
}

function foreign(name: string): Reason {
  return {
    code: 'NamespaceFinalizer',
    holds: `finalizer ${name} (spec.finalizers)`,
    remover: 'whoever put it there: Kubernetes removes only its own',
    evidence: [],
    release: 'its owner takes it out with a PUT to the finalize subresource of the namespace',
    waitsFor: [],
  }
}
