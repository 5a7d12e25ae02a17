/**
 * Creating pods from a template and deleting them, with the events that users see on the owner.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, Pod creation and deletion,
 * Events.
 */
import { dnsSubdomainProblems, newControllerRef, resources } from '@gyropilot/api'
import type { KubernetesObject, Pod, PodTemplateSpec, ResourceType } from '@gyropilot/api'
import { hasCause, isNotFound } from '@gyropilot/client'
import { create, recordEvent, remove, writeAll } from '@gyropilot/runtime'
import type { Expected, Outcome, Reconcile } from '@gyropilot/runtime'
import { messageOf } from './aggregate-error.ts'

const POD_CREATED = 'SuccessfulCreate'
const POD_CREATE_FAILED = 'FailedCreate'
const POD_DELETED = 'SuccessfulDelete'
const POD_DELETE_FAILED = 'FailedDelete'

/**
 * Labels, annotations, finalizers and spec are the template's; the one owner reference is the
 * controller's.
 */
export function podFromTemplate(
  template: PodTemplateSpec,
  owner: KubernetesObject,
  ownerType: ResourceType,
): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: podNamePrefix(owner.metadata?.name ?? ''),
      namespace: owner.metadata?.namespace,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [newControllerRef(owner, ownerType)],
    },
    ...(template.spec === undefined ? {} : { spec: template.spec }),
  }
}

/** `owner-`, unless no pod name can begin with that. */
export function podNamePrefix(ownerName: string): string {
  // The generated suffix follows the dash, so the dash counts as a letter.
  return dnsSubdomainProblems(`${ownerName}a`).length === 0 ? `${ownerName}-` : ownerName
}

/**
 * A create that the server refused because the namespace is being emptied: nothing to report,
 * nothing to repeat.
 */
export function isNamespaceTerminating(error: unknown): boolean {
  return hasCause(error, 'NamespaceTerminating')
}

/**
 * Creates the pods in slow-start batches under creation expectations of `expectationsKey`, with an
 * event for each. Outcomes are in the order of the pods. Pods without labels are refused before
 * anything is sent.
 */
export function* createPods(
  owner: KubernetesObject,
  pods: readonly Pod[],
  expectationsKey: string,
): Reconcile<readonly Outcome<Pod>[]> {
  if (pods.some((pod) => Object.keys(pod.metadata?.labels ?? {}).length === 0)) {
    const error = new Error('unable to create pods, no labels')
    return pods.map(() => ({ ok: false, error, attempted: false }))
  }
  const repeated = pods.length > 1 && pods.every((pod) => pod === pods[0])
  const writes = pods.map((pod) => create(resources.pods, pod, { metadataOnly: true, repeated }))
  const outcomes = yield* writeAll(writes, 'slow-start', {
    kind: 'creations',
    key: expectationsKey,
    keepOnError: isNamespaceTerminating,
  })
  for (const outcome of outcomes) {
    if (outcome.ok) {
      yield* recordEvent(
        owner,
        'Normal',
        POD_CREATED,
        `Created pod: ${outcome.object.metadata?.name}`,
      )
    } else if (outcome.attempted && !isNamespaceTerminating(outcome.error)) {
      yield* recordEvent(
        owner,
        'Warning',
        POD_CREATE_FAILED,
        `Error creating: ${messageOf(outcome.error)}`,
      )
    }
  }
  return outcomes
}

/**
 * Deletes the pods, all at once, under deletion expectations of `expectationsKey` if there is one,
 * with an event for each. A pod that is gone already answers NotFound, without an event; other
 * errors become `unable to delete pods: ...`.
 */
export function* deletePods(
  owner: KubernetesObject,
  pods: readonly Pod[],
  expectationsKey?: string,
): Reconcile<readonly Outcome[]> {
  const writes = pods.map((pod) => remove(resources.pods, pod))
  const expected: Expected | undefined =
    expectationsKey === undefined
      ? undefined
      : { kind: 'deletions', key: expectationsKey, dependents: pods.map(podKey) }
  const outcomes = yield* writeAll(writes, 'parallel', expected)
  const reported: Outcome[] = []
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.ok) {
      yield* recordEvent(
        owner,
        'Normal',
        POD_DELETED,
        `Deleted pod: ${pods[index]!.metadata?.name}`,
      )
      reported.push(outcome)
    } else if (isNotFound(outcome.error)) {
      reported.push(outcome)
    } else {
      const text = messageOf(outcome.error)
      yield* recordEvent(owner, 'Warning', POD_DELETE_FAILED, `Error deleting: ${text}`)
      reported.push({
        ...outcome,
        error: new Error(`unable to delete pods: ${text}`, { cause: outcome.error }),
      })
    }
  }
  return reported
}

/** The key of a pod in deletion expectations. */
export function podKey(pod: KubernetesObject): string {
  return `${pod.metadata?.namespace}/${pod.metadata?.name}`
}
