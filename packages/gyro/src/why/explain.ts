/** Why an object does not go away, from what was read about it. Pure: docs/guides/why.md says what the answers look like. */
import { isTerminating } from '@gyropilot/api'
import type { Pod, UnstructuredObject } from '@gyropilot/api'
import { explainFinalizer } from './explain-finalizer.ts'
import { explainNamespace } from './explain-namespace.ts'
import { explainPresent } from './explain-present.ts'
import type { Explanation, Facts, Reason } from './facts.ts'
import { conditionsOf } from './known-finalizers.ts'
import { isHeld } from './unknown-finalizer.ts'
import { webhookFindings } from './webhooks.ts'
import type { NeededWrite } from './webhooks.ts'
import { sinceText, span } from './words.ts'

export function explain(facts: Facts): Explanation {
  const { object } = facts
  if (!isTerminating(object)) return explainPresent(facts)
  const own = [...gracePeriod(facts), ...finalizers(facts), ...explainNamespace(facts)]
  const webhooks = own.length === 0 ? noFindings : webhookFindings(facts, neededWrites(facts))
  const stopped = own.some(({ remover }) => remover?.includes('kube-controller-manager'))
    ? stoppedManager(facts)
    : []
  const reasons = [...own, ...webhooks.reasons, ...stopped]
  return {
    state: 'deleting',
    since: deletionAskedAt(object),
    reasons: reasons.length > 0 ? reasons : [nothingLeft()],
    notes: [...webhooks.notes, ...facts.warnings.map((text) => `last warning about it: ${text}`)],
  }
}

const noFindings = { reasons: [], notes: [] } as const

const isNamespace = ({ type }: Facts): boolean => type.kind === 'Namespace' && type.group === ''

function finalizers(facts: Facts): readonly Reason[] {
  return (facts.object.metadata?.finalizers ?? []).map((name) => explainFinalizer(facts, name))
}

/** `deletionTimestamp` lies at the end of the grace period. */
function deletionAskedAt(object: UnstructuredObject): string | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata ?? {}
  if (!deletionTimestamp) return undefined
  const atMs = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`
}

function neededWrites(facts: Facts): readonly NeededWrite[] {
  const writes: NeededWrite[] = []
  if ((facts.object.metadata?.finalizers ?? []).length > 0)
    writes.push({ operation: 'UPDATE', subresource: '' })
  if ((facts.object.metadata?.deletionGracePeriodSeconds ?? 0) > 0)
    writes.push({ operation: 'DELETE', subresource: '' })
  if (isNamespace(facts)) {
    writes.push({ operation: 'UPDATE', subresource: 'finalize' })
    writes.push({ operation: 'UPDATE', subresource: 'status' })
  }
  return writes
}

/** A pod stays until its kubelet has stopped it and said so with a deletion of its own, without grace. */
function gracePeriod(facts: Facts): readonly Reason[] {
  const { object, nowMs } = facts
  const { deletionTimestamp, deletionGracePeriodSeconds: grace = 0 } = object.metadata ?? {}
  if (grace === 0 || !deletionTimestamp) return []
  const { spec, status } = object as Pod
  const leftMs = Date.parse(deletionTimestamp) - nowMs
  const running = (status?.containerStatuses ?? [])
    .filter(({ state }) => state?.running)
    .map(({ name }) => name)
  const isOver = leftMs <= 0
  const node = nodeTrouble(facts)
  return [
    {
      code: 'GracePeriod',
      holds: isOver
        ? `its grace period of ${grace}s ended ${span(-leftMs)} ago, and nobody has confirmed that it stopped`
        : `its grace period of ${grace}s, ${span(leftMs)} left`,
      remover: `the kubelet on node ${spec?.nodeName ?? '(none)'}`,
      since: deletionAskedAt(object)!,
      evidence: [
        ...(running.length > 0 ? [`still running: container ${running.join(', ')}`] : []),
        ...node.evidence,
      ],
      release: node.release ?? releaseOfPod(isOver),
      waitsFor: [],
    },
  ]
}

function releaseOfPod(isOver: boolean): string {
  return isOver
    ? 'the kubelet stops the containers and unmounts the volumes; its log on the node says what keeps it'
    : 'the containers end, or the grace period is over and the kubelet kills them'
}

function nodeTrouble({ node, nowMs }: Facts): {
  readonly evidence: readonly string[]
  readonly release?: string
} {
  if (node === 'missing') {
    return {
      evidence: ['its node does not exist any more'],
      release: 'the pod garbage collector of kube-controller-manager deletes pods of missing nodes',
    }
  }
  const ready = node && conditionsOf(node).find(({ type }) => type === 'Ready')
  if (ready === undefined || ready.status === 'True') return { evidence: [] }
  const since = ready.lastTransitionTime ? `, ${sinceText(ready.lastTransitionTime, nowMs)}` : ''
  const message = ready.message ? `: ${ready.message}` : ''
  return {
    evidence: [
      `node ${node!.metadata?.name} is not ready (Ready is ${ready.status})${since}${message}`,
    ],
    release:
      'the node comes back; or, when it is certainly off, its Node object is deleted or gets the taint node.kubernetes.io/out-of-service; a forced deletion of the pod leaves its containers to chance',
  }
}

const MANAGER_LEASE = 'kube-controller-manager'

/** Only what a lease says: without one (or without the right to read it) the manager may well run. */
function stoppedManager({ cluster, nowMs }: Facts): readonly Reason[] {
  const lease = cluster.leases.find(
    ({ metadata }) => metadata?.name === MANAGER_LEASE && metadata.namespace === 'kube-system',
  )
  if (lease === undefined || isHeld(lease, nowMs)) return []
  const { holderIdentity, renewTime } = lease.spec ?? {}
  return [
    {
      code: 'ControllerStopped',
      holds: 'no kube-controller-manager leads, and its controllers would have to act',
      ...(renewTime ? { since: renewTime } : {}),
      evidence: [
        `lease kube-system/${MANAGER_LEASE} of ${holderIdentity || 'nobody'} was ${renewTime ? `renewed ${span(nowMs - Date.parse(renewTime))} ago` : 'never renewed'}`,
      ],
      release: 'a kube-controller-manager runs and gets the lease',
      waitsFor: [],
    },
  ]
}

function nothingLeft(): Reason {
  return {
    code: 'NothingLeft',
    holds: 'nothing on the object: no finalizer and no grace period is left',
    evidence: [],
    release: 'the API server removes it with the write that took the last of them away: ask again',
    waitsFor: [],
  }
}
