/**
 * The patches of a claim's status. Each names the version it was read at, so that a change in between is a conflict.
 * Contract: docs/behaviour/controllers/persistentvolume-expander-controller.md, Expand, Status and conditions. Pure.
 */
import { findCondition } from '@gyropilot/api'
import type { PersistentVolumeClaim, Quantity } from '@gyropilot/api'
import type { Patch } from '@gyropilot/client'
import { RESIZER } from './config.ts'

/** Conditions that are this controller's as a group. */
const RESIZE_CONDITIONS = [
  'Resizing',
  'FileSystemResizePending',
  'ControllerResizeError',
  'NodeResizeError',
]
const NODE_PART =
  'Waiting for user to (re-)start a pod to finish file system resize of volume on node.'

type ClaimStatus = NonNullable<PersistentVolumeClaim['status']>

/** An entry of a list that is merged by type. */
type ConditionPatch = Readonly<Record<string, string>>

export function resizerPatch(claim: PersistentVolumeClaim, resizer: string): Patch {
  return strategic(claim, { annotations: { [RESIZER]: resizer } })
}

export function begunPatch(
  claim: PersistentVolumeClaim,
  resizer: string,
  size: Quantity,
  now: string,
): Patch {
  return strategic(
    claim,
    { annotations: { [RESIZER]: resizer } },
    {
      ...order(claim, 'Resizing', (type) => !RESIZE_CONDITIONS.includes(type)),
      conditions: [condition(claim, 'Resizing', now), ...withoutOthers(claim, 'Resizing')],
      allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
      allocatedResources: { storage: size },
    },
  )
}

/** Resizing stays as it is: the kubelet takes both away. */
export function nodePartPatch(claim: PersistentVolumeClaim, now: string): Patch {
  return strategic(
    claim,
    {},
    {
      ...order(claim, 'FileSystemResizePending', () => true),
      conditions: [condition(claim, 'FileSystemResizePending', now, NODE_PART)],
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
    },
  )
}

export function finishedPatch(claim: PersistentVolumeClaim, size: Quantity): Patch {
  return strategic(
    claim,
    {},
    {
      conditions: withoutOthers(claim),
      capacity: { storage: size },
      allocatedResourceStatuses: remainingStatuses(claim.status),
    },
  )
}

function strategic(claim: PersistentVolumeClaim, metadata: object, status?: object): Patch {
  const { resourceVersion } = claim.metadata ?? {}
  const value = { metadata: { resourceVersion, ...metadata }, ...(status && { status }) }
  return { type: 'strategic', value }
}

function condition(
  { status }: PersistentVolumeClaim,
  type: string,
  now: string,
  message?: string,
): ConditionPatch {
  const known = findCondition(status?.conditions, type)
  const since = known?.status === 'True' ? known.lastTransitionTime : undefined
  return {
    type,
    status: 'True',
    lastTransitionTime: since ?? now,
    ...(message !== undefined && { message }),
  }
}

/** What is there keeps its place, what is new goes to the end: without it a merge puts the new before the old. */
function order(
  { status }: PersistentVolumeClaim,
  added: string,
  stays: (type: string) => boolean,
): Readonly<Record<string, readonly { readonly type: string }[]>> {
  const types = (status?.conditions ?? [])
    .map(({ type }) => type)
    .filter((type) => type === added || stays(type))
  const all = types.includes(added) ? types : [...types, added]
  return { '$setElementOrder/conditions': all.map((type) => ({ type })) }
}

function withoutOthers({ status }: PersistentVolumeClaim, kept?: string): ConditionPatch[] {
  return (status?.conditions ?? [])
    .filter(({ type }) => RESIZE_CONDITIONS.includes(type) && type !== kept)
    .map(({ type }) => ({ $patch: 'delete', type }))
}

/** The field goes with its last entry. */
function remainingStatuses({ allocatedResourceStatuses }: ClaimStatus = {}): object | null {
  const others = Object.keys(allocatedResourceStatuses ?? {}).filter((name) => name !== 'storage')
  return others.length === 0 ? null : { storage: null }
}
