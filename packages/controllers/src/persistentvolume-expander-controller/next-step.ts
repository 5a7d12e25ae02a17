/** What an expansion does next. Contract: docs/behaviour/controllers/persistentvolume-expander-controller.md, Expand, step 1. Pure. */
import type { PersistentVolume, PersistentVolumeClaim, Quantity } from '@gyropilot/api'
import { isMore, requestedSize, volumeSize } from './sizes.ts'

type NextStep =
  | { readonly kind: 'expand'; readonly size: Quantity }
  /** The device is large enough; the file system is the kubelet's. */
  | { readonly kind: 'node-part' }
  | { readonly kind: 'none' }

/** What was begun is finished first: how it ends is not known yet. */
const BEGUN: ReadonlySet<string> = new Set([
  'ControllerResizeInProgress',
  'NodeResizePending',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
])

export function nextStep(claim: PersistentVolumeClaim, volume: PersistentVolume): NextStep {
  const requested = requestedSize(claim)
  const state = claim.status?.allocatedResourceStatuses?.['storage']
  const begun = claim.status?.allocatedResources?.['storage'] ?? requested
  if (isMore(requested, volumeSize(volume))) {
    return { kind: 'expand', size: state !== undefined && BEGUN.has(state) ? begun : requested }
  }
  switch (state) {
    case 'NodeResizeInProgress':
    case 'NodeResizePending':
      return { kind: 'none' }
    case 'NodeResizeInfeasible':
      return { kind: 'node-part' }
    case 'ControllerResizeInProgress':
    case 'ControllerResizeInfeasible':
    case undefined:
      return { kind: 'expand', size: begun }
    default:
      return { kind: 'expand', size: requested }
  }
}
